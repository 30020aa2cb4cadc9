/* SPDX-License-Identifier: Apache-2.0 */
/* The parsers of node.c, apart from the machine. */
#pragma once

#include "base/json.h"

/* Assignments of an os-release file, os-release(5): shell quoting is undone, other lines are passed
 * over. New reference to an object with lower-case keys; the last assignment of a key counts. */
json_t *os_release_parse(const char *text);

/*
 * Options out of a kernel configuration (or of the lines picked from it): "CONFIG_X=y",
 * "# CONFIG_X is not set". For each of `options` (NULL-terminated, with prefix) the value, and "n"
 * for one without a line: kconfig writes no line for an option whose dependencies are not met.
 * New reference; NULL when no line is a line of a kernel configuration.
 */
json_t *kernel_config_parse(const char *text, const char *const *options);
