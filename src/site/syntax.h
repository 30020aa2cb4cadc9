/* SPDX-License-Identifier: Apache-2.0 */
/* Places in the bytes of a file, and libyaml's complaints about them in readable form. */
#pragma once

#include <yaml.h>

#include "site/complaint.h"

struct site_where syntax_where(yaml_mark_t mark);
/* Place of a byte; columns count characters as libyaml does. */
struct site_where syntax_where_of_byte(const char *text, size_t at);

/* First byte that is no part of valid UTF-8; `len` when there is none. */
size_t syntax_utf8_until(const char *text, size_t len);

/* Tell why libyaml stopped. */
void syntax_complain(const yaml_parser_t *p, const char *text, size_t len, struct complaints *c);
