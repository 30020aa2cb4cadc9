/* SPDX-License-Identifier: Apache-2.0 */
/* The script that puts rendered files of one node in their places, and takes them back. */
#pragma once

#include "render/render.h"

struct installer_file {
	char *source;	/* name beside the script */
	char *target;	/* absolute path on the node */
	unsigned mode;
};

struct installer {
	const struct site_node *node;
	const char *subject;	/* "host network", for people */
	const char *key;	/* "network", of the folder where what was there is kept */
	struct installer_file *files;
	size_t n, capacity;
};

/* Name a file that was rendered beside the script. The texts are formatted; `mode` is that of the
 * installed file. */
void installer_add(struct installer *installer, unsigned mode, const char *source,
		   const char *target, ...) RH_PRINTF(4, 5);

/*
 * Render DIR/install.sh. `reload`: command after files were installed or taken back (a NULL:
 * none); `next`: lines that say what the script does not do, for people. Clears the list.
 */
void installer_render(struct render *r, struct installer *installer, const char *folder,
		      const char *reload, const char *next);
