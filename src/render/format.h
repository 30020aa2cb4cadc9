/* SPDX-License-Identifier: Apache-2.0 */
/* Writers of the formats that railhead renders: each quotes what it is given. */
#pragma once

#include <stdbool.h>

#include "base/json.h"
#include "base/strbuf.h"

/* --- YAML (format_yaml.c, libyaml) --- */

/* One YAML document of a JSON value, block style, keys in insertion order, without "---" (the
 * caller writes it between several). Text is quoted whenever any YAML 1.1 or 1.2 reader could take
 * it for something else (true, no, 1.33, 1:30, ~); several lines of ASCII become a literal
 * block. */
void format_yaml(struct strbuf *b, const json_t *value);
/* "# " before each line of the text; control characters in it become '?'. */
void format_comment(struct strbuf *b, const char *text);

/* --- shell --- */

/* One word, in single quotes unless it is plain. */
void format_shell(struct strbuf *b, const char *text);

/* --- keyfile (GLib: NetworkManager, systemd is similar but not the same) --- */

/* "key=value\n" with GLib's escapes. */
void format_keyfile(struct strbuf *b, const char *key, const char *value);

/* --- HTML --- */
void format_html(struct strbuf *b, const char *text);

/* --- what cannot be quoted --- */

/* Letters, digits and "._/:-" only, not empty, not beginning with '-': fit for a switch
 * configuration or a unit file. */
bool format_is_word(const char *text);
