/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of texts: NULL-terminated arrays of owned strings. NULL is the empty list. */
#pragma once

#include <stdbool.h>

#include "base/alloc.h"

/* Add to the end; takes `text` over. */
void strings_add(char ***strings, char *text);
/* Add a copy, unless the list has that text already. */
void strings_add_once(char ***strings, const char *text);
bool strings_have(char *const *strings, const char *text);
void strings_free(char **strings);

DEFINE_CLEANUP(strings, char **, strings_free)
#define _cleanup_strings_ _cleanup_(strings)
