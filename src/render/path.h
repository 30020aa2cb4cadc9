/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* A path that stays below its folder and that a shell, a manifest and SHA256SUMS can name as it is:
 * components other than "", "." and "..", without white space, control characters and '\'. */
bool render_path_is_plain(const char *path);
