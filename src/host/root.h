/* SPDX-License-Identifier: Apache-2.0 */
/* The directory below which all paths are resolved. */
#pragma once

#include "host/door.h"

/* Hold `root` (NULL or "/": the machine's own) in host->root_fd and host->root. */
int root_open(struct host *host, const char *root, struct error *err);
