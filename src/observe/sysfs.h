/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders of one-value files (sysfs, /proc/sys) as facts. A file that is not there is an absent
 * fact; any other failure is noted as a gap at the fact's own pointer.
 */
#pragma once

#include "observe/observe.h"

struct sysfs_object {
	struct observation *o;
	json_t *facts;		/* borrowed: the object that the facts go to */
	const char *pointer;	/* JSON pointer of `facts`, escaped */
	const char *path;	/* the folder */
};

/* Text of `file`, for the fact `key`; NULL when there is none (see above). The caller frees. */
char *sysfs_text(const struct sysfs_object *s, const char *key, const char *file);
/* facts[key] = the text of `file`, left out when it is empty. */
void sysfs_put_text(const struct sysfs_object *s, const char *key, const char *file);
/* facts[key] = the number in `file` ("0x10", "-1"); other text is a gap. */
void sysfs_put_int(const struct sysfs_object *s, const char *key, const char *file);
/* facts[key] = last component of the link `file` ("driver" -> "ice"), null without such a link. */
void sysfs_put_link(const struct sysfs_object *s, const char *key, const char *file);
