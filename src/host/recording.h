/* SPDX-License-Identifier: Apache-2.0 */
/* The recording file: gzip-compressed JSON, schema "railhead.recording/1" (docs/recording.md). */
#pragma once

#include "host/door.h"

/* Longest uncompressed text that is read: a bound for what a small hostile file can unfold to. A node
 * with 800 links has 1.4 MiB. */
#define RECORDING_TEXT_MAX (64u << 20)

/* Read `path` (compressed or plain) into a new memory. */
int recording_load(struct door_memory **memory, const char *path, struct error *err);

/* The parser alone: `text` is uncompressed JSON, `name` goes into messages. */
int recording_parse(struct door_memory **memory, const char *text, size_t len, const char *name,
		    struct error *err);
