/* SPDX-License-Identifier: Apache-2.0 */
#include "suites.h"

#include <string.h>

#include "base/strbuf.h"

#define INTEGRITY(operation, reverse)                                                          \
	"{'run': 'integrity', 'operation': '" operation "', 'reverse': " reverse ", 'result': " \
	"{'verified': true, 'bytes': 1048576}}, "
#define MARKING(reverse, ce)                                                                   \
	"{'run': 'marking', 'operation': 'send', 'reverse': " reverse ", 'result': {'verified': " \
	"true, 'messages': 32, 'sent': {'dscp': 24, 'ecn': 2}, 'arrived': [{'dscp': 24, 'ecn': 2, 'messages': "  \
	"32}], 'ce_marked': " ce "}}"

int suites_open(void **state)
{
	int rc = proofs_open(state);
	struct proofs_test *t = *state;
	struct site_qos *qos = &t->s->site.qos;

	qos->declared = true;
	qos->dscp = (struct site_number){ true, 24 };
	qos->priority = (struct site_number){ true, 3 };
	qos->pfc = qos->ecn = (struct site_bool){ true, true };
	proofs_add(t, (struct records_form){0});
	proofs_add(t, (struct records_form){ .kind = "marking",
					     .runs = "[" MARKING("false", "0") ", " MARKING(
						     "true", "0") "]" });
	return rc;
}

void suites_again(void **state)
{
	proofs_close(state);
	suites_open(state);
}

static char *bandwidth(const struct suites_form *f, const char *operation, bool reverse)
{
	double gbit = f->gbit > 0 ? f->gbit : 96.0;

	if (reverse && f->back_gbit > 0)
		gbit = f->back_gbit;
	return xasprintf("{'run': 'bandwidth', 'operation': '%s', 'reverse': %s, 'result': "
			 "{'verified': true, 'size_bytes': 1048576, 'gbit_per_s': %.4f, 'steady': "
			 "%s, 'variation': %.4f%s}}, ",
			 operation, reverse ? "true" : "false", gbit,
			 f->unsteady ? "false" : "true", f->variation > 0 ? f->variation : 0.01,
			 f->no_cpu ? "" : ", 'cpu': {'initiator': {'process_ms_per_gb': 12.25}, "
					  "'listener': {'process_ms_per_gb': 3.5}}");
}

static char *runs_of(const struct suites_form *f)
{
	static const char *const operations[] = { "write", "read" };
	double median = f->median_ns > 0 ? f->median_ns : 2000;
	struct strbuf runs = {0};

	strbuf_puts(&runs, "[" INTEGRITY("write", "false") INTEGRITY("write", "true") INTEGRITY(
				   "read", "false") INTEGRITY("read", "true"));
	for (size_t i = 0; i < 4; i++) {
		_cleanup_free_ char *one = bandwidth(f, operations[i / 2], i % 2);

		strbuf_puts(&runs, one);
	}
	if (f->ce_marked >= 0)
		strbuf_printf(&runs, MARKING("false", "%d") ", ", f->ce_marked);
	strbuf_printf(&runs, "{'run': '%s', 'operation': 'write', 'reverse': false, 'result': "
			     "{'verified': true, 'size_bytes': 8, 'median_ns': %.0f, 'min_ns': "
			     "%.0f}}]",
		      f->no_latency ? "other" : "latency", median, median * 0.95);
	return strbuf_steal(&runs);
}

/* Names that the ice and irdma of Linux 6.12 have. */
static char *counters_of(const char *rdma, const char *pause)
{
	return xasprintf("{'difference': {'rdma': {'RxECNMrkd': 0, 'cnpSent': 0, 'cnpHandled': 0, "
			 "'cnpIgnored': 0, 'ip4InDiscards': 0, 'tcpRetransSegs': 0%s}, 'pause': "
			 "{'ens1f0': {'tx_priority_0_xoff.nic': 0, 'rx_priority_0_xoff.nic': 0, "
			 "'tx_priority_3_xoff.nic': 0, 'rx_priority_3_xoff.nic': 0, "
			 "'link_xoff_rx.nic': 0, 'rx_dropped.nic': 0%s}}}, 'payload_bytes': "
			 "2000000000, 'rdma_moved': true, 'tcp_moved': false, 'why': []}",
			 rdma ? rdma : "", pause ? pause : "");
}

json_t *suites_add(struct proofs_test *t, struct suites_form form)
{
	_cleanup_free_ char *runs = runs_of(&form);
	_cleanup_free_ char *local = counters_of(form.rdma, form.pause);
	_cleanup_free_ char *peer = counters_of(NULL, NULL);
	json_t *record = proofs_add(t, (struct records_form){ .kind = form.kind, .runs = runs,
							      .local_counters = local,
							      .peer_counters = peer });

	if (form.senders)
		json_put_int(json_obj(record, "parameters"), "senders", form.senders);
	json_put_bool(json_obj(record, "parameters"), "ecn", !strcmp(form.kind, "ecn"));
	if (!strcmp(form.kind, "baseline")) {
		/* before QoS, that is */
		scene_set(record, "/local/fingerprint/nics/ens1f0/dcb/pfc", "[]");
		scene_set(record, "/peer/fingerprint/nics/ens1f0/dcb/pfc", "[]");
		scene_set(record, "/local/fingerprint/roce_tos/1", "0");
	}
	if (form.begun_by_peer) {
		scene_set(record, "/local/role", "'listener'");
		scene_set(record, "/peer/role", "'initiator'");
	}
	if (form.turned)
		proofs_turn(record);
	return record;
}
