/* SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"

#include <string.h>

#include "judge/registry.h"

void bench_set(struct bench *b, const char *pointer, const char *value)
{
	scene_set(b->s->snapshots[0], pointer, value);
}

static void set_all(struct bench *b, const struct bench_change *changes, size_t n)
{
	for (size_t i = 0; i < n && changes[i].pointer; i++)
		bench_set(b, changes[i].pointer, changes[i].value);
}

/* --- bases --- */

#define LACP_PORT(n)                                                                               \
	"{'state': 'active', 'mii': 'up', 'failures': 0, 'aggregator_id': 1, 'actor_state': 63, "  \
	"'partner_state': 61, 'actor_churn': 'none', 'partner_churn': 'none', 'speed_mbps': "      \
	"100000, "                                                                                 \
	"'duplex': 'full', 'partner_mac': '00:00:5e:00:01:01', 'partner_key': 66, 'actor_key': " n \
	"}"

static const struct bench_change in_bond[] = {
	{ "/links/bond1",
	  "{'index': 9, 'mtu': 9000, 'kind': 'bond', 'up': true, 'carrier': true, 'operstate': "
	  "'up', 'addresses': [{'family': 'ipv4', 'address': '198.51.100.11', 'prefix': 24, "
	  "'scope': 'global', 'flags': ['permanent']}], 'bond': {'mode': '802.3ad', 'miimon_ms': "
	  "100, 'lacp_rate': 'fast', 'lacp_active': true, 'xmit_hash_policy': 'layer3+4', "
	  "'ad_select': 'stable', 'min_links': 0, 'aggregator': {'id': 1, 'ports': 2, 'actor_key': "
	  "29, 'partner_key': 66, 'partner_mac': '00:00:5e:00:01:01'}}}" },
	{ "/links/ens1f0/master", "'bond1'" },
	{ "/links/ens1f1/master", "'bond1'" },
	{ "/links/ens1f0/addresses", "[]" },
	{ "/links/ens1f1/addresses", "[]" },
	{ "/links/ens1f0/bond_port", LACP_PORT("29") },
	{ "/links/ens1f1/bond_port", LACP_PORT("29") },
	{ "/routes",
	  "[{'family': 'ipv4', 'destination': 'default', 'gateway': '192.0.2.1', 'link': 'bond0', "
	  "'metric': 300, 'table': 'main'}, {'family': 'ipv4', 'destination': '198.51.100.0/24', "
	  "'link': 'bond1', 'table': 'main'}, {'family': 'ipv4', 'destination': '192.0.2.0/24', "
	  "'link': 'bond0', 'table': 'main'}]" },
};

static const struct bench_change out_of_tree[] = {
	{ "/os/modules/ice/in_tree", "false" },
	{ "/os/modules/ice/version", "'2.6.6'" },
	{ "/os/modules/irdma/in_tree", "false" },
	{ "/os/modules/irdma/version", "'2.0.10'" },
	{ "/devlink/pci/0000:1b:00.0/versions/running/fw.app.name", "'ICE LAG Package'" },
	{ "/devlink/pci/0000:1b:00.1/versions/running/fw.app.name", "'ICE LAG Package'" },
	{ "/rdma/devices/rocep27s0f1", NULL },
	{ "/pci/auxiliary/ice.roce.1", NULL },
	{ "/rdma/devices/rocep27s0f0/ports/1/gids",
	  "[{'index': 1, 'gid': '::ffff:198.51.100.11', 'type': 'RoCE v2', 'link': 'bond1'}]" },
};

static const struct bench_change software[] = {
	{ "/rdma/devices",
	  "{'rxe0': {'index': 0, 'protocol': 'roce', 'parent_device': null, 'driver': 'rdma_rxe', "
	  "'uverbs': 'uverbs0', 'ports': {'1': {'state': 'ACTIVE', 'physical_state': 'LINK_UP', "
	  "'link': 'bond1', 'active_mtu': 4096, 'gids': [{'index': 0, 'gid': "
	  "'fe80:0000:0000:0000:5054:00ff:fe00:0001', 'type': 'RoCE v2', 'link': 'bond1'}, "
	  "{'index': 1, 'gid': '0000:0000:0000:0000:0000:ffff:c633:640b', 'type': 'RoCE v2', "
	  "'link': 'bond1'}], 'hw_counters': {'duplicate_request': 0, 'sent_pkts': 5}}}, 'cm': "
	  "{'1': {'default_roce_tos': 96}}}}" },
	{ "/os/modules/rdma_rxe",
	  "{'loaded': true, 'file': {'path': '/lib/modules/x/kernel/rdma_rxe.ko'}}" },
	{ "/devlink", "{}" },
	{ "/pci/auxiliary", "{}" },
	{ "/userspace/opened", "['rxe0']" },
	{ "/links/ens1f0/ethtool",
	  "{'driver': 'virtio_net', 'speed_mbps': 10000, 'duplex': 'full'}" },
	{ "/links/ens1f1/ethtool",
	  "{'driver': 'virtio_net', 'speed_mbps': 10000, 'duplex': 'full'}" },
	{ "/links/ens1f0/parent_bus", "'virtio'" },
	{ "/links/ens1f0/parent_device", "'virtio0'" },
	{ "/links/ens1f1/parent_bus", "'virtio'" },
	{ "/links/ens1f1/parent_device", "'virtio1'" },
};

/* Another vendor's NIC in the place of the E810. */
static void other_vendor(struct bench *b, const char *nic_driver, const char *rdma_driver,
			 const char *aux)
{
	static const char *const bdfs[] = { "0000:1b:00.0", "0000:1b:00.1" };

	bench_set(b, "/pci/auxiliary", "{}");
	for (int i = 0; i < 2; i++) {
		_cleanup_free_ char *driver = xasprintf("'%s'", nic_driver);
		_cleanup_free_ char *rdma = xasprintf("'%s'", rdma_driver);
		_cleanup_free_ char *p1 = xasprintf("/links/ens1f%d/ethtool/driver", i);
		_cleanup_free_ char *p2 = xasprintf("/pci/devices/%s/driver", bdfs[i]);
		_cleanup_free_ char *p3 = xasprintf("/rdma/devices/rocep27s0f%d/driver", i);
		_cleanup_free_ char *p4 = xasprintf("/pci/auxiliary/%s%d", aux, i);
		_cleanup_free_ char *v4 =
			xasprintf("{'parent': '%s', 'driver': '%s'}", bdfs[i], rdma_driver);
		_cleanup_free_ char *p5 = xasprintf("/devlink/pci/%s", bdfs[i]);
		_cleanup_free_ char *p6 = xasprintf("/links/ens1f%d/ethtool/private_flags", i);

		bench_set(b, p1, driver);
		bench_set(b, p2, driver);
		bench_set(b, p3, rdma);
		bench_set(b, p4, v4);
		bench_set(b, p5,
			  "{'versions': {'running': {'fw.version': '28.42.1000'}}, 'parameters': "
			  "{}}");
		bench_set(b, p6, "{}");
	}
	for (int i = 0; i < 2; i++) {
		_cleanup_free_ char *p = xasprintf("/os/modules/%s", i ? rdma_driver : nic_driver);

		bench_set(b, p,
			  "{'loaded': true, 'in_tree': true, 'blacklisted': false, 'file': "
			  "{'path': '/m.ko', 'parameters': []}}");
	}
	b->links[0].driver = b->links[1].driver = TEXT(nic_driver);
}

void bench_open(struct bench *b, enum bench_base base)
{
	void *state = NULL;

	scene_open(&state);
	b->s = state;
	struct site_qos *qos = &b->s->site.qos;

	for (int i = 0; i < 2; i++) {
		b->addresses[i][0] = TEXT(i ? "203.0.113.11/24" : "198.51.100.11/24");
		b->links[i] = (struct site_link){
			.name = TEXT(i ? "ens1f1" : "ens1f0"),
			.pci = TEXT(i ? "0000:1b:00.1" : "0000:1b:00.0"),
			.driver = TEXT("ice"),
			.speed_mbps = { true, 100000 },
			.mtu = { true, 9000 },
			.addresses = b->addresses[i],
		};
		b->s->ports[i].address = TEXT(i ? "203.0.113.11" : "198.51.100.11");
		b->s->ports[i].roce_mtu = (struct site_number){ true, 4096 };
	}
	b->s->nodes[0].links = b->links;
	b->s->nodes[0].n_links = 2;
	*qos = (struct site_qos){ .declared = true,
				   .dscp = { true, 24 },
				   .priority = { true, 3 },
				   .traffic_class = { true, 3 },
				   .bandwidth_percent = { true, 50 },
				   .pfc = { true, true } };
	for (int i = 0; i < 8; i++)
		qos->prio_tc[i] = qos->tc_bandwidth[i] = b->vlan.egress[i] = -1;
	if (base == BASE_MLX5)
		other_vendor(b, "mlx5_core", "mlx5_ib", "mlx5_core.rdma.");
	if (base == BASE_BNXT)
		other_vendor(b, "bnxt_en", "bnxt_re", "bnxt_en.rdma.");
	if (base != BASE_BOND && base != BASE_RXE)
		return;

	set_all(b, in_bond, ARRAY_SIZE(in_bond));
	if (base == BASE_BOND)
		set_all(b, out_of_tree, ARRAY_SIZE(out_of_tree));
	else
		set_all(b, software, ARRAY_SIZE(software));
	b->bond_ports[0] = TEXT("ens1f0");
	b->bond_ports[1] = TEXT("ens1f1");
	b->bond = (struct site_bond){ .name = TEXT("bond1"),
				       .mode = TEXT("802.3ad"),
				       .ports = b->bond_ports,
				       .lacp_rate = TEXT("fast"),
				       .xmit_hash_policy = TEXT("layer3+4"),
				       .mtu = { true, 9000 },
				       .addresses = b->addresses[0] };
	b->s->nodes[0].bonds = &b->bond;
	b->s->nodes[0].n_bonds = 1;
	b->links[0].addresses = b->links[1].addresses = NULL;
	b->s->ports[0].link = TEXT("bond1");
	b->s->nodes[0].n_rdma = 1;
	if (base == BASE_RXE) {
		b->links[0].driver = b->links[1].driver = TEXT("virtio_net");
		b->links[0].speed_mbps.set = b->links[1].speed_mbps.set = false;
	}
}

void bench_close(struct bench *b)
{
	void *state = b->s;

	scene_close(&state);
}

const struct ladder *bench_judge(struct bench *b)
{
	size_t n = 0;
	_cleanup_free_ struct gate *all =
		xcalloc(n_gates_net + n_gates_nic + n_gates_rdma + n_gates_qos, sizeof(*all));

	for (size_t i = 0; i < n_gates_net; i++)
		all[n++] = gates_net[i];
	for (size_t i = 0; i < n_gates_nic; i++)
		all[n++] = gates_nic[i];
	for (size_t i = 0; i < n_gates_rdma; i++)
		all[n++] = gates_rdma[i];
	for (size_t i = 0; i < n_gates_qos; i++)
		all[n++] = gates_qos[i];
	/* the ladder refers to gates: to those of the files, not to the copies */
	const struct ladder *l = scene_judge(b->s, all, n);

	for (size_t i = 0; i < l->n_verdicts; i++)
		b->s->ladder->verdicts[i].gate = gate_find(l->verdicts[i].gate->id);
	return l;
}

/* --- rows --- */

static void run_row(void **state)
{
	struct bench *b = *state;
	const struct bench_row *row = b->row;
	enum verdict_status was = row->was == VERDICT_NA ? VERDICT_PASS : row->was;
	const struct verdict *v;

	if (!row->was_any)
		scene_status(scene_verdict(bench_judge(b), row->gate, row->subject), was);
	if (row->site)
		row->site(b);
	set_all(b, row->changes, ARRAY_SIZE(row->changes));
	v = scene_verdict(bench_judge(b), row->gate, row->subject);
	scene_status(v, row->status);
	if (row->cause)
		scene_cause(v, row->cause, row->text);
	else if (row->text)
		scene_summary(v, row->text);
	if (row->candidate)
		scene_candidate(v, row->candidate);
	if (row->not_cause)
		scene_no_cause(v, row->not_cause);
	if (row->explained_by)
		assert_string_equal(v->explained_by ? v->explained_by : "nothing",
				    row->explained_by);
	else if (row->cause)
		assert_null(v->explained_by);
}

static int open_row(void **state)
{
	struct bench *b = xcalloc(1, sizeof(*b));

	b->row = *state;
	bench_open(b, b->row ? b->row->base : BASE_RAILS);
	*state = b;
	return 0;
}

static int close_row(void **state)
{
	bench_close(*state);
	free(*state);
	return 0;
}

int bench_run_with(const char *group, const struct bench_row *rows, size_t n,
		   const struct CMUnitTest *more, size_t n_more)
{
	_cleanup_free_ struct CMUnitTest *tests = xcalloc(n + n_more, sizeof(*tests));

	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, run_row, open_row, close_row,
						 (void *)(uintptr_t)&rows[i] };
	for (size_t i = 0; i < n_more; i++)
		tests[n + i] = (struct CMUnitTest){ more[i].name, more[i].test_func, open_row,
						     close_row, NULL };
	return _cmocka_run_group_tests(group, tests, n + n_more, NULL, NULL);
}

int bench_run(const char *group, const struct bench_row *rows, size_t n)
{
	return bench_run_with(group, rows, n, NULL, 0);
}
