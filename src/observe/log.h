/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* True when the line is about the path. The kernel log's door filters by substring, which for
 * "ice " lets "device " through: names of drivers count at the start of a word only. */
bool log_line_relevant(const char *text);
