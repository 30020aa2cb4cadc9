/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `railhead prove`, read and checked. */
#pragma once

#include "cmd/cmd.h"
#include "prove/session.h"

struct prove_options {
	const char *bind, *token;	/* borrowed, NULL: not given */
	const char *link, *device;
	const char *gpu;	/* BDF, NULL: choose */
	bool dmabuf_double;
	bool compare;		/* perftest may be run here */
	uint16_t port;
	int gid_index;		/* -1: choose */
	int wait_ms;		/* of a listener for its peer */
	int timeout_ms;		/* for each answer */
	bool once;
	unsigned senders;	/* of a listener, at the same time; 0: one */
	const char *store;	/* folder, NULL: keep no record */
	struct session_parameters parameters;	/* of the end that connects; no seed yet */
};

/* -EINVAL: which option is wrong and why. `site` (NULL: none) gives the DSCP when none is named. */
int prove_options_read(struct prove_options *o, const struct cmd_args *args,
		       const struct site *site, struct error *err);

/*
 * Memory of a suite gdr for which none was named: of a GPU at each end that is a node with the role
 * gpu, `node` (NULL: not known) here and the one that `host` names at the other end. Where the site
 * (NULL: none) tells of no such end, of the connecting one.
 */
void prove_suite_memory(struct session_parameters *p, const struct site *site,
			const struct site_node *node, const char *host);
