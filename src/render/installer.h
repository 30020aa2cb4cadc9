/* SPDX-License-Identifier: Apache-2.0 */
/* The script that puts rendered files of one node in their places, and takes them back, so that a
 * folder can be copied to a machine and used there without railhead. */
#pragma once

#include "render/render.h"

struct installer {
	const struct site_node *node;
	const char *key;	/* "network": where on the node is kept what was there */
	const char *reload;	/* command after files were installed or taken back */
	const char *next;	/* what the script does not do, for people */
	struct strbuf files;
};

/* Name a file that was rendered beside the script, and where it goes; `mode` is that of the
 * installed file. `source` and the formatted `target` are without white space. */
void installer_add(struct installer *installer, unsigned mode, const char *source,
		   const char *target, ...) RH_PRINTF(4, 5);

/* Render FOLDER/install.sh and FOLDER/install.conf, and clear the list. */
void installer_render(struct render *r, struct installer *installer, const char *folder);
