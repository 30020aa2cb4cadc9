/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/proof_growth.h"

#include <string.h>

#include "base/text.h"

#define PFC PROOF_MEANINGS	/* by priority */

/*
 * Names of counters: of the drivers' own statistics (group "pause", by physical link), and of the
 * RDMA device (group "rdma"). With `suffix` a digit stands between both: a priority.
 */
static const struct counter_name {
	const char *prefix, *suffix;
	int meaning;
} names[] = {
	/* ice, drivers/net/ethernet/intel/ice/ice_ethtool.c; XON frames end a pause */
	{ "tx_priority_", "_xoff.nic", PFC },
	{ "tx_priority_", "_xon.nic", PFC },
	{ "rx_priority_", "_xoff.nic", PFC },
	{ "rx_priority_", "_xon.nic", PFC },
	{ "link_xoff_tx.nic", NULL, PROOF_LINK_PAUSE },
	{ "link_xoff_rx.nic", NULL, PROOF_LINK_PAUSE },
	{ "rx_dropped.nic", NULL, PROOF_DISCARD },
	/* out-of-tree ice that was built with UNIFIED_STATS; that of tx by analogy */
	{ "port-tx-xoff_prio-", "_events", PFC },
	{ "port-rx-xoff_prio-", "_events", PFC },
	{ "port-rx-dropped_pkts", NULL, PROOF_DISCARD },
	/* mlx5, drivers/net/ethernet/mellanox/mlx5/core/en_stats.c */
	{ "tx_prio", "_pause", PFC },
	{ "rx_prio", "_pause", PFC },
	{ "tx_global_pause", NULL, PROOF_LINK_PAUSE },
	{ "rx_global_pause", NULL, PROOF_LINK_PAUSE },
	{ "tx_discards_phy", NULL, PROOF_DISCARD },
	{ "rx_discards_phy", NULL, PROOF_DISCARD },
	{ "rx_prio", "_discards", PROOF_DISCARD },
	{ "rx_prio", "_buf_discard", PROOF_DISCARD },
	{ "rx_prio", "_cong_discard", PROOF_DISCARD },
	/* bnxt, drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c */
	{ "tx_pfc_ena_frames_pri", "", PFC },
	{ "rx_pfc_ena_frames_pri", "", PFC },
	{ "tx_pause_frames", NULL, PROOF_LINK_PAUSE },
	{ "rx_pause_frames", NULL, PROOF_LINK_PAUSE },
	/* counters of an InfiniBand port */
	{ "port_xmit_discards", NULL, PROOF_DISCARD },
	/* irdma, both generations of names. That its counter of retransmits, which has a TCP name,
	 * counts those of RoCE is unverified: growth tells, standstill does not. */
	{ "ip4InDiscards", NULL, PROOF_DISCARD },
	{ "ip6InDiscards", NULL, PROOF_DISCARD },
	{ "tcpRetransSegs", NULL, PROOF_RETRANSMIT },
	{ "RetransSegs", NULL, PROOF_RETRANSMIT },
	{ "RxECNMrkd", NULL, PROOF_CE_MARKED },
	{ "cnpSent", NULL, PROOF_CNP_SENT },
	{ "cnpHandled", NULL, PROOF_CNP_HANDLED },
	{ "cnpIgnored", NULL, PROOF_CNP_IGNORED },
	/* mlx5_ib, drivers/infiniband/hw/mlx5/counters.c */
	{ "out_of_sequence", NULL, PROOF_RETRANSMIT },
	{ "packet_seq_err", NULL, PROOF_RETRANSMIT },
	{ "implied_nak_seq_err", NULL, PROOF_RETRANSMIT },
	{ "local_ack_timeout_err", NULL, PROOF_RETRANSMIT },
	{ "np_ecn_marked_roce_packets", NULL, PROOF_CE_MARKED },
	{ "np_cnp_sent", NULL, PROOF_CNP_SENT },
	{ "rp_cnp_handled", NULL, PROOF_CNP_HANDLED },
	{ "rp_cnp_ignored", NULL, PROOF_CNP_IGNORED },
	/* bnxt_re, drivers/infiniband/hw/bnxt_re/hw_counters.c: it counts what came, not what it
	 * did about it */
	{ "to_retransmits", NULL, PROOF_RETRANSMIT },
	{ "seq_err_naks_rcvd", NULL, PROOF_RETRANSMIT },
	{ "rx_ecn_marked_pkts", NULL, PROOF_CE_MARKED },
	{ "tx_cnp_pkts", NULL, PROOF_CNP_SENT },
	{ "rx_cnp_pkts", NULL, PROOF_CNP_HANDLED },
	/* rxe, drivers/infiniband/sw/rxe/rxe_hw_counters.c */
	{ "out_of_seq_request", NULL, PROOF_RETRANSMIT },
	{ "duplicate_request", NULL, PROOF_RETRANSMIT },
	{ "rcvd_seq_err", NULL, PROOF_RETRANSMIT },
};

/* What a counter means; NULL: nothing here. `*priority` is set for those that have one. */
static const struct counter_name *name_find(const char *counter, int *priority)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct counter_name *n = &names[i];
		size_t len = strlen(n->prefix);

		if (!n->suffix ? strcmp(counter, n->prefix) : !text_starts_with(counter, n->prefix))
			continue;
		if (!n->suffix)
			return n;
		if (counter[len] < '0' || counter[len] >= '0' + PROOF_PRIORITIES ||
		    strcmp(counter + len + 1, n->suffix) != 0)
			continue;
		*priority = counter[len] - '0';
		return n;
	}
	return NULL;
}

/* Whose counters are looked at. */
struct looking {
	struct judging *g;
	const struct proof_record *p;
	struct proof_growth *growth;
	int end;
	const char *name;	/* "local", "peer" */
	const char *node;
};

/* `link` is NULL for counters of the RDMA device. */
static void look_at(const struct looking *l, const char *link, const char *counter, json_t *told)
{
	int priority = 0;
	const struct counter_name *n = name_find(counter, &priority);
	uint64_t value;

	if (!n || !json_u64(told, &value))
		return;
	struct proof_class *class = n->meaning == PFC ? &l->growth->pfc[priority] :
							&l->growth->of[n->meaning];
	class->known[l->end] = true;
	if (!value)
		return;
	if (__builtin_add_overflow(class->sum, value, &class->sum))
		class->sum = UINT64_MAX;
	strbuf_printf(&class->text, "%s%s %s%s%s +%llu", class->text.len ? ", " : "", l->node,
		      link ? link : "", link ? " " : "", counter, (unsigned long long)value);
	if (link)
		proof_record_counter_fact(l->g, l->p, l->name, "pause", link, counter);
	else
		proof_record_counter_fact(l->g, l->p, l->name, "rdma", counter, NULL);
}

static void look_at_end(const struct looking *l)
{
	json_t *end = json_object_get(l->p->record, l->name);
	json_t *difference = json_object_get(json_object_get(end, "counters"), "difference");
	json_t *counters, *value;
	const char *link, *counter;

	json_object_foreach(json_object_get(difference, "rdma"), counter, value)
		look_at(l, NULL, counter, value);
	json_object_foreach(json_object_get(difference, "pause"), link, counters) {
		json_object_foreach(counters, counter, value)
			look_at(l, link, counter, value);
	}
}

void proof_growth_read(struct judging *g, const struct proof_record *p, struct proof_growth *out)
{
	static const char *const ends[] = { "local", "peer" };

	*out = (struct proof_growth){0};
	for (int end = 0; end < 2; end++) {
		look_at_end(&(struct looking){
			.g = g, .p = p, .growth = out, .end = end, .name = ends[end],
			.node = json_get_string(json_object_get(p->record, ends[end]), "node", "?"),
		});
	}
}

void proof_growth_clear(struct proof_growth *growth)
{
	for (size_t i = 0; i < ARRAY_SIZE(growth->pfc); i++)
		strbuf_clear(&growth->pfc[i].text);
	for (size_t i = 0; i < ARRAY_SIZE(growth->of); i++)
		strbuf_clear(&growth->of[i].text);
}

uint64_t proof_growth_pfc(const struct proof_growth *growth)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(growth->pfc); i++) {
		if (__builtin_add_overflow(sum, growth->pfc[i].sum, &sum))
			sum = UINT64_MAX;
	}
	return sum;
}

bool proof_growth_pfc_known(const struct proof_growth *growth, int end)
{
	for (size_t i = 0; i < ARRAY_SIZE(growth->pfc); i++) {
		if (growth->pfc[i].known[end])
			return true;
	}
	return false;
}

bool proof_growth_loss_known(const struct proof_growth *growth, int end)
{
	return growth->of[PROOF_DISCARD].known[end] || growth->of[PROOF_RETRANSMIT].known[end];
}
