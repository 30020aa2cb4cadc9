/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "observe/observe.h"

/* Where a module file comes from, by its path: 1 = below /lib/modules/RELEASE/kernel (the kernel's
 * own tree), 0 = updates, extra, weak-updates and the like, -1 = not a path of a module tree. */
int module_path_in_tree(const char *path);

/* /os/packages/NAME, by one run of the package manager whose database this node has. */
void observe_packages(struct observation *o);

/* Lines "installed NAME VERSION" of the package query, into name -> [versions]. Lines of another
 * status or form are passed over. */
void packages_parse(json_t *packages, const char *text);
