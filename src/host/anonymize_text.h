/* SPDX-License-Identifier: Apache-2.0 */
/* Names inside text, and inside bytes of unknown form. */
#pragma once

#include "host/pseudonym.h"

/*
 * Copy of `text` with MACs (aa:bb:…, aa-bb-…, aabb…), GUIDs, UUIDs, IPv4 and IPv6 addresses, serial
 * numbers behind the word "serial", and known host names replaced; the caller frees. While
 * collecting the copy is unchanged. `versions`: the text is a version, so "1.3.36.0" is no address.
 */
char *anonymize_text(struct pseudonyms *p, const char *text, bool versions);

/* Known MACs (as bytes and as 12 hex digits, also inside an EUI-64) and known host names, in
 * place. */
void anonymize_known(struct pseudonyms *p, void *bytes, size_t len);
/* The same in text: hex digits only, since six bytes of text may be a MAC by chance. Host names
 * were replaced by anonymize_text(). */
void anonymize_known_text(struct pseudonyms *p, char *text);
