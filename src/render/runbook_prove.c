/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that prove: `railhead prove` at both ends, and what its records say to the gates. */
#include "render/runbook.h"

#include "judge/pairs.h"

static size_t count_rdma(const struct site *site)
{
	size_t n = 0;

	for (size_t i = 0; i < site->n_nodes; i++)
		n += site->nodes[i].n_rdma > 0;
	return n;
}

/* The node that listens: the first with GPUs among those with RDMA, else the first. */
static const struct site_node *listener_of(const struct site *site)
{
	const struct site_node *listener = NULL;

	for (size_t i = 0; i < site->n_nodes; i++) {
		const struct site_node *node = &site->nodes[i];

		if (node->n_rdma && (!listener || (!listener->n_gpus && node->n_gpus)))
			listener = node;
	}
	return listener;
}

/* The sender with this number: those first with which the gates want the listener proven; where
 * there are fewer nodes, the last one sends again. */
static const struct site_node *sender_of(const struct site *site, const struct site_node *listener,
					 unsigned number)
{
	const struct site_node *sender = NULL;

	for (int others = 0; others < 2; others++) {
		for (size_t i = 0; i < site->n_nodes; i++) {
			const struct site_node *node = &site->nodes[i];

			if (!node->n_rdma || node == listener ||
			    judge_pair_talks(site, listener, node) == others)
				continue;
			sender = node;
			if (!number--)
				return sender;
		}
	}
	return sender;
}

static void put_sender(struct strbuf *s, const struct site_node *sender, const char *address,
		       const char *options, unsigned number)
{
	strbuf_printf(s, "\n\n# %s\nrailhead prove --site site.yaml", sender->name);
	if (number)	/* one of several: each has a token and a port of its own */
		strbuf_printf(s, " --token TOKEN%u --port PORT%u", number, number);
	else
		strbuf_puts(s, " --token TOKEN");
	strbuf_printf(s, "%s%s %s", *options ? " " : "", options, address);
}

void runbook_prove(struct runbook *b, enum phrase phrase, const char *options, unsigned senders)
{
	const struct site *site = b->r->site;
	const struct site_node *listener = listener_of(site);
	_cleanup_strbuf_ struct strbuf s = {0};

	if (count_rdma(site) < 2)
		return;
	const char *address = listener->rdma[0].address ? listener->rdma[0].address :
							  listener->name;

	book_step(b, phrase, listener->name, sender_of(site, listener, 0)->name, NULL);
	strbuf_printf(&s, "# %s\nrailhead prove --site site.yaml --listen --once", listener->name);
	if (senders > 1)
		strbuf_printf(&s, " --senders %u", senders);
	for (unsigned i = 0; i < senders; i++)
		put_sender(&s, sender_of(site, listener, i), address, options,
			   senders > 1 ? i + 1 : 0);
	book_command(b, "%s", s.s);
	if (listener->n_rdma > 1)
		book_say(b, PHRASE_PROVE_PORTS, address, NULL);
	if (senders >= count_rdma(site))
		book_say(b, PHRASE_PROVE_FEW, NULL);
}

void runbook_prove_judge(struct runbook *b)
{
	const struct site *site = b->r->site;

	if (count_rdma(site) < 2)
		return;
	book_step(b, PHRASE_PROVE_JUDGE, listener_of(site)->name, NULL);
	book_command(b, "./snapshots.sh\n"
			"railhead check --site site.yaml --proofs proofs snapshots/*.json");
}
