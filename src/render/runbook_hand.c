/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is given by hand as long as railhead has no verb for it: `railhead qos apply` and
 * `railhead prove`. When a verb comes, its function here gives the verb instead.
 *
 * Syntax: dcb(8), dcb-app(8), dcb-ets(8) and dcb-pfc(8) of iproute2; ib_write_bw --help of
 * perftest.
 */
#include "render/runbook.h"

#include "base/text.h"

/* "0:30 1:10" for the declared ones of eight numbers. */
static void put_map(struct strbuf *b, const int map[8])
{
	for (int i = 0; i < 8; i++) {
		if (map[i] >= 0)
			strbuf_printf(b, " %d:%d", i, map[i]);
	}
}

static bool is_declared(const int map[8])
{
	for (int i = 0; i < 8; i++) {
		if (map[i] >= 0)
			return true;
	}
	return false;
}

void runbook_hand_qos(struct runbook *b, const struct site_node *node)
{
	const struct site_qos *qos = &b->r->site->qos;
	_cleanup_free_ char *ports = runbook_nics(node);
	_cleanup_strbuf_ struct strbuf s = {0};

	strbuf_printf(&s, "for port in %s; do\n", ports);
	if (b->has.ice)
		strbuf_puts(&s, "\tethtool --set-priv-flags \"$port\" fw-lldp-agent off\n");
	strbuf_puts(&s, "\tethtool --pause \"$port\" autoneg off rx off tx off\n");
	strbuf_printf(&s, "\tdcb app add dev \"$port\" dscp-prio %lld:%lld\n",
		      (long long)qos->dscp.value, (long long)qos->priority.value);
	/* the shares come after DSCP mode, which resets them; ice fixes priority n to class n */
	if (is_declared(qos->tc_bandwidth)) {
		strbuf_puts(&s, "\tdcb ets set dev \"$port\"");
		if (!b->has.ice && is_declared(qos->prio_tc)) {
			strbuf_puts(&s, " prio-tc");
			put_map(&s, qos->prio_tc);
		}
		strbuf_puts(&s, " tc-tsa all:ets tc-bw");
		put_map(&s, qos->tc_bandwidth);
		strbuf_putc(&s, '\n');
	}
	if (b->has.pfc)
		strbuf_printf(&s, "\tdcb pfc set dev \"$port\" prio-pfc all:off %lld:on\n",
			      (long long)qos->priority.value);
	strbuf_puts(&s, "done");
	book_command(b, "%s", s.s);
}

void runbook_hand_qos_undo(struct runbook *b, const struct site_node *node)
{
	_cleanup_free_ char *ports = runbook_nics(node);

	book_command(b,
		     "for port in %s; do\n"
		     "\tdcb pfc set dev \"$port\" prio-pfc all:off\n"
		     "\tdcb app flush dev \"$port\" dscp-prio\n"
		     "done",
		     ports);
}

/* "# gpu-node-01" and a command for each program. */
static void put_side(struct strbuf *s, const struct site_node *node, const char *programs,
		     const char *options, const char *gpu_options, const char *peer)
{
	_cleanup_free_ char *names = xstrdup(programs);
	char *cursor = names, *name;

	strbuf_printf(s, "%s# %s", s->len ? "\n\n" : "", node->name);
	while ((name = text_next_word(&cursor))) {
		/* latency has no rate to be reported */
		bool rate = text_ends_with(name, "_bw");

		strbuf_printf(s, "\n%s -d DEVICE -x GID_INDEX -F%s%s%s%s%s", name,
			      rate ? " --report_gbits" : "", options,
			      node->n_gpus ? gpu_options : "", peer ? " " : "", peer ? peer : "");
	}
}

void runbook_hand_pair(struct runbook *b, enum phrase phrase, const char *programs,
		       const char *options, const char *gpu_options)
{
	const struct site *site = b->r->site;
	const struct site_node *server = NULL, *client = NULL;
	_cleanup_strbuf_ struct strbuf s = {0};

	for (size_t i = 0; i < site->n_nodes; i++) {
		const struct site_node *node = &site->nodes[i];

		if (node->n_rdma && (!server || (!server->n_gpus && node->n_gpus)))
			server = node;
	}
	for (size_t i = 0; i < site->n_nodes && !client; i++) {
		if (site->nodes[i].n_rdma && &site->nodes[i] != server)
			client = &site->nodes[i];
	}
	if (!client)
		return;
	const char *address = server->rdma[0].address;

	put_side(&s, server, programs, options, gpu_options, NULL);
	put_side(&s, client, programs, options, gpu_options, address ? address : server->name);
	book_step(b, phrase, server->name, client->name, NULL);
	book_command(b, "%s", s.s);
}
