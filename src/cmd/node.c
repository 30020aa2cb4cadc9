/* SPDX-License-Identifier: Apache-2.0 */
/* Which node of the site a snapshot is of. */
#include <errno.h>
#include <string.h>

#include "cmd/snapshots.h"

#include "base/alloc.h"
#include "base/strbuf.h"

/* Add every node name of the site to a message, a few at most. */
static void name_nodes(struct strbuf *b, const struct site *site)
{
	for (size_t i = 0; i < site->n_nodes; i++) {
		if (i == 8) {
			strbuf_printf(b, ", … (%zu in all)", site->n_nodes);
			break;
		}
		strbuf_printf(b, "%s%s", i ? ", " : "", site->nodes[i].name);
	}
}

/* Host names may be qualified on one side and short on the other. */
static struct site_node *node_of(const struct site *site, const char *hostname)
{
	struct site_node *node = site_node_find(site, hostname);

	if (node)
		return node;
	_cleanup_free_ char *shortened = xstrndup(hostname, strcspn(hostname, "."));

	node = site_node_find(site, shortened);
	for (size_t i = 0; !node && i < site->n_nodes; i++) {
		const char *name = site->nodes[i].name;

		if (strcspn(name, ".") == strlen(shortened) &&
		    !strncmp(name, shortened, strlen(shortened)))
			node = &site->nodes[i];
	}
	return node;
}

int snapshot_node(const struct site_node **node, const struct site *site,
		  const struct cmd_args *args, json_t *snapshot, const char *name, struct error *err)
{
	const char *hostname =
		args->node ? args->node :
			     json_get_string(json_at(snapshot, "/node"), "hostname", NULL);
	_cleanup_strbuf_ struct strbuf names = {0};

	if (!hostname)
		return error_set(err, -EINVAL, "%s: the snapshot has no host name; say which node "
				 "it is with --node", name);
	*node = node_of(site, hostname);
	if (*node)
		return 0;
	name_nodes(&names, site);
	return error_set(err, -EINVAL, "%s: '%s' is no node of %s; its nodes are %s%s", name,
			 hostname, site->path ? site->path : "the site", strbuf_str(&names),
			 args->node ? "" : "; say which one this is with --node");
}
