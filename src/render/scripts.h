/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shell scripts of a rendering. A script is the same for every site (render/scripts/NAME.sh, built
 * in); what a site puts in stands in a file beside it that the script sources or reads, quoted.
 */
#pragma once

#include "render/render.h"

/* Add the script NAME as an executable file. */
void scripts_add(struct render *r, const char *name, const char *what, const char *path);
/* "NAME=value" for a file that a script sources; the value is quoted. */
void scripts_setting(struct render_file *file, const char *name, const char *value);
/* Text of a script that goes into a manifest. Borrowed; `name` is one of ours. */
const char *scripts_text(const char *name);
