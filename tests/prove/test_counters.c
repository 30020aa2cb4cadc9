/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of an end: read from a tree of files, their growth, and what it proves. */
#include <stdio.h>
#include <string.h>

#include "../judge/scene.h"
#include "prove/counters.h"
#include "records.h"
#include "tree.h"

/* --- read ------------------------------------------------------------------------------------- */

#define PORT "/sys/class/infiniband/rocep27s0f0/ports/1"

static json_t *read_below(const char *root)
{
	struct path path = { .link = TEXT("ens1f0"), .device = TEXT("rocep27s0f0"), .port = 1,
			     .mtu_bytes = 4096 };
	struct host_options options = { .root = root };
	_cleanup_(host) struct host *host = NULL;
	_cleanup_error_ struct error err = {0};

	if (host_open(&host, &options, &err) < 0)
		fail_msg("%s", error_text(&err));
	return counters_read(host, &path);
}

static void read_twice(void **state)
{
	char *root = records_folder_new();
	static const char *const absent[] = { "/rdma/lifespan", "/rdma/broken", "/rdma/reset",
					      "/tcp/RtoMin" };

	(void)state;
	tree_put(root, PORT "/hw_counters/ip4OutOctets", "1000\n");
	tree_put(root, PORT "/hw_counters/lifespan", "10\n");
	tree_put(root, PORT "/hw_counters/broken", "N/A\n");
	tree_put(root, PORT "/hw_counters/reset", "7\n");
	tree_put(root, PORT "/counters/port_xmit_data", "18446744073709551000\n");
	tree_put(root, "/sys/class/net/ens1f0/statistics/rx_bytes", "5\n");
	tree_put(root, "/sys/class/net/ens1f0/mtu", "9000\n");
	tree_put(root, "/proc/net/netstat", "TcpExt: A\nTcpExt: 1\nIpExt: InNoRoutes InOctets OutOctets\n"
				       "IpExt: 0 1000 2000\n");
	tree_put(root, "/proc/net/snmp6", "Ip6InReceives  3\nIp6InOctets  \t500\nIp6OutOctets  \t600\n");
	tree_put(root, "/proc/net/snmp", "Ip: A\nIp: 1\nTcp: RtoMin InSegs OutSegs\nTcp: 200 10 20\n");
	_cleanup_json_ json_t *before = read_below(root);
	tree_put(root, PORT "/hw_counters/ip4OutOctets", "4500\n");
	tree_put(root, PORT "/hw_counters/reset", "2\n");
	tree_put(root, PORT "/hw_counters/newer", "2\n");
	tree_put(root, PORT "/counters/port_xmit_data", "18446744073709551600\n");
	tree_put(root, "/sys/class/net/ens1f0/statistics/rx_bytes", "25\n");
	tree_put(root, "/proc/net/snmp", "Tcp: RtoMin InSegs OutSegs\nTcp: 200 13 28\n");
	tree_put(root, "/proc/net/netstat", "IpExt: InNoRoutes InOctets OutOctets\nIpExt: 5 1070 2080\n");
	tree_put(root, "/proc/net/snmp6", "Ip6InOctets 505\nIp6OutOctets 606\nIp6OutOctets\n");
	_cleanup_json_ json_t *after = read_below(root);
	_cleanup_json_ json_t *grown = counters_difference(before, after);

	assert_int_equal(json_integer_value(json_at(grown, "/ip/InOctets")), 70);
	assert_int_equal(json_integer_value(json_at(grown, "/ip/OutOctets")), 80);
	assert_int_equal(json_integer_value(json_at(grown, "/ip/Ip6InOctets")), 5);
	assert_int_equal(json_integer_value(json_at(grown, "/ip/Ip6OutOctets")), 6);
	assert_int_equal(json_integer_value(json_at(grown, "/rdma/ip4OutOctets")), 3500);
	assert_int_equal(json_integer_value(json_at(grown, "/rdma/port_xmit_data")), 600);
	assert_int_equal(json_integer_value(json_at(grown, "/link/rx_bytes")), 20);
	assert_int_equal(json_integer_value(json_at(grown, "/tcp/InSegs")), 3);
	assert_int_equal(json_integer_value(json_at(grown, "/tcp/OutSegs")), 8);
	assert_int_equal(json_integer_value(json_at(grown, "/sizes/link_mtu")), 9000);
	assert_int_equal(json_integer_value(json_at(grown, "/sizes/roce_mtu")), 4096);
	assert_null(json_at(grown, "/rdma/newer"));
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
		assert_null(json_pointer_get(grown, absent[i]));
	records_folder_remove(root);
	free(root);
}

/* Pause by priority and what was thrown away, by the names of each driver; queues are left out. */
static void statistics_by_driver(void **state)
{
	static const char *const kept[] = {
		/* ice, and its build out of tree */
		"tx_priority_3_xoff.nic", "rx_priority_0_xon.nic", "link_xoff_rx.nic", "rx_dropped.nic",
		"rx_crc_errors.nic", "port-rx-xoff_prio-3_events", "port-rx-dropped_pkts",
		/* mlx5 */
		"rx_prio3_pause", "tx_prio3_pause_duration", "rx_prio3_discards", "rx_discards_phy",
		"rx_out_of_buffer", "tx_pause_storm_warning_events", "rx_ecn_mark",
		/* bnxt */
		"rx_pfc_ena_frames_pri3", "pfc_pri3_rx_transitions", "rx_bytes_pri3", "tx_pause_frames",
		"rx_total_discard_pkts",
	}, *const left[] = { "rx_bytes.nic", "tx_queue_0_packets", "rx_vport_unicast_bytes",
			     "rx_unicast" };
	_cleanup_json_ json_t *stats = json_object_new(), *recording = NULL;
	struct path path = { .link = TEXT("ens1f0"), .device = TEXT("rocep27s0f0"), .port = 1 };
	char *folder = records_folder_new();
	_cleanup_free_ char *file = xasprintf("%s/recording", folder);
	struct host_options options = { .replay = file };
	_cleanup_(host) struct host *host = NULL;
	_cleanup_error_ struct error err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		json_put_int(stats, kept[i], (int64_t)i);
	for (size_t i = 0; i < ARRAY_SIZE(left); i++)
		json_put_int(stats, left[i], 7);
	recording = json_pack("{s:s, s:s, s:b, s:{s:{s:[{s:[]}]}, s:{s:[{s:O}]}}}", "schema",
			      RECORDING_SCHEMA, "railhead", "test", "anonymized", 0, "doors", "list",
			      "/sys/class/net/ens1f0", "names", "ethtool-stats", "ens1f0", "stats",
			      stats);
	assert_int_equal(json_dump_file(recording, file, 0), 0);
	if (host_open(&host, &options, &err) < 0)
		fail_msg("%s", error_text(&err));
	_cleanup_json_ json_t *read = counters_read(host, &path);
	json_t *pause = json_at(read, "/pause/ens1f0");
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		if (json_get_int(pause, kept[i], -1) != (int64_t)i)
			fail_msg("%s is left out", kept[i]);
	}
	assert_int_equal(json_object_size(pause), ARRAY_SIZE(kept));
	records_folder_remove(folder);
	free(folder);
}

/* A machine that has nothing of it gives empty objects, and no verdict. */
static void nothing_there(void **state)
{
	char *root = records_folder_new();
	_cleanup_json_ json_t *before = read_below(root), *after = read_below(root);
	_cleanup_json_ json_t *grown = counters_difference(before, after);
	const struct counters_payload payload = { 1 << 30, 1 << 30 };
	struct counters_verdict verdict;

	(void)state;
	assert_int_equal(json_object_size(json_object_get(grown, "rdma")), 0);
	counters_judge(&verdict, grown, &payload);
	assert_int_equal(verdict.rdma_moved, -1);
	assert_int_equal(verdict.tcp_moved, -1);
	counters_verdict_clear(&verdict);
	records_folder_remove(root);
	free(root);
}

/* --- judged ----------------------------------------------------------------------------------- */

#define MB 1048576ull

/*
 * Numbers of rxe are those of a link of 1024-byte packets: 60 MiB in messages of 1 MiB are 61440
 * packets of 1024 + 58 bytes and 60 RETHs of 16, on the link; 14 fewer in each packet, for IP.
 */
#define RXE_SIZES "'sizes': {'link_mtu': 1500, 'roce_mtu': 1024}"

static const struct {
	const char *name, *difference;
	struct counters_payload payload;
	int rdma, tcp;
	const char *why;
} rows[] = {
	{ "irdma, IPv4",
	  "{'rdma': {'ip4OutOctets': 109051904, 'ip4InOctets': 80000}, 'link': {'rx_bytes': 900, "
	  "'tx_bytes': 900}, 'tcp': {'InSegs': 20, 'OutSegs': 20}, 'sizes': {'link_mtu': 9000}}",
	  { 100 * MB, 0 }, 1, 0, "RDMA counters moved by at most 109051904 bytes out" },
	{ "irdma, both versions add up",
	  "{'rdma': {'ip4InOctets': 54525952, 'ip6InOctets': 54525952}, 'link': {'rx_bytes': 9}}",
	  { 0, 100 * MB }, 1, 0, "TCP carried at most 9 bytes in, by the bytes of the link" },
	{ "segments alone", "{'rdma': {'ip4OutOctets': 109051904}, 'tcp': {'InSegs': 1, 'OutSegs': 1}, "
	  "'sizes': {'link_mtu': 9000}}",
	  { 100 * MB, 0 }, 1, 0, "at most 9000 bytes out, by the TCP segments of this host" },
	{ "IP alone, of a busy host", "{'rdma': {'ip4OutOctets': 109051904}, 'tcp': {'InSegs': 60000, "
	  "'OutSegs': 60000}, 'ip': {'OutOctets': 300000, 'Ip6OutOctets': 1000}, 'sizes': {'link_mtu': 9000}}",
	  { 100 * MB, 0 }, 1, 0, "at most 301000 bytes out, by the IP bytes of this host" },
	{ "words of 32 bits", "{'rdma': {'port_xmit_data': 27262976, 'port_rcv_data': 0}}",
	  { 100 * MB, 0 }, 1, -1, "no counter tells of TCP out" },
	{ "as many words as bytes were wanted", "{'rdma': {'port_xmit_data': 6553600}}",
	  { 100 * MB, 0 }, 0, -1, "moved by at most 26214400 bytes out, payload 104857600" },
	{ "two counters of the same do not add up",
	  "{'rdma': {'port_xmit_data': 15728640, 'tx_bytes': 62914560}}",
	  { 100 * MB, 0 }, 0, -1, "at most 62914560 bytes out" },
	{ "one way only", "{'rdma': {'ip4OutOctets': 109051904, 'ip4InOctets': 100000}}",
	  { 100 * MB, 100 * MB }, 0, -1, "at most 100000 bytes in" },
	{ "a way that is not counted", "{'rdma': {'ip4OutOctets': 109051904}}",
	  { 100 * MB, 100 * MB }, -1, -1, NULL },
	{ "nothing moved by RDMA, all by TCP",
	  "{'rdma': {'ip4OutOctets': 0, 'ip4InOctets': 0}, 'link': {'rx_bytes': 0, 'tx_bytes': "
	  "110000000}, 'tcp': {'InSegs': 6000, 'OutSegs': 12000}, 'sizes': {'link_mtu': 9000}}",
	  { 100 * MB, 0 }, 0, 1, "at least 108000000 bytes that are not RDMA went out" },
	{ "and at its other end, where GRO makes few segments of many",
	  "{'rdma': {'ip4OutOctets': 0, 'ip4InOctets': 0}, 'link': {'rx_bytes': 110000000, 'tx_bytes': "
	  "90000}, 'ip': {'InOctets': 105000000, 'OutOctets': 80000}, 'tcp': {'InSegs': 1700, 'OutSegs': 900},"
	  " 'sizes': {'link_mtu': 9000}}",
	  { 0, 100 * MB }, 0, 1, "at least 105000000 bytes that are not RDMA went in" },
	{ "TCP of other links",
	  "{'rdma': {'ip4OutOctets': 109051904}, 'link': {'rx_bytes': 900, 'tx_bytes': 900}, "
	  "'ip': {'OutOctets': 900000000}, 'tcp': {'InSegs': 600000, 'OutSegs': 120000}, 'sizes': "
	  "{'link_mtu': 9000}}",
	  { 100 * MB, 0 }, 1, 0, "at most 900 bytes out, by the bytes of the link" },
	{ "rxe: IP and the link count its packets too",
	  "{'rdma': {'sent_pkts': 61440, 'rcvd_pkts': 960}, 'link': {'tx_bytes': 66479040, 'rx_bytes': "
	  "59520}, 'ip': {'OutOctets': 65718880, 'InOctets': 146080}, 'tcp': {'InSegs': 90000, 'OutSegs': "
	  "90000}, " RXE_SIZES "}",
	  { 60 * MB, 0 }, 1, 0, "at most 960 bytes out, by the bytes of the link without RDMA" },
	{ "rxe, both ways",
	  "{'rdma': {'sent_pkts': 62400, 'rcvd_pkts': 62400}, 'link': {'tx_bytes': 66538560, 'rx_bytes': "
	  "66538560}, 'tcp': {'InSegs': 90000, 'OutSegs': 90000}, " RXE_SIZES "}",
	  { 60 * MB, 60 * MB }, 1, 0, "at most 4800 bytes in, by the bytes of the link without RDMA" },
	{ "rxe, one of twenty sent twice",
	  "{'rdma': {'sent_pkts': 64512, 'rcvd_pkts': 960}, 'link': {'tx_bytes': 69801984, 'rx_bytes': "
	  "59520}, 'tcp': {'InSegs': 90000, 'OutSegs': 90000}, " RXE_SIZES "}",
	  { 60 * MB, 0 }, 1, 0, "at most 3145728 bytes out" },
	{ "rxe, one of five sent twice",
	  "{'rdma': {'sent_pkts': 73728, 'rcvd_pkts': 960}, 'link': {'tx_bytes': 79773696, 'rx_bytes': "
	  "59520}, 'tcp': {'InSegs': 90000, 'OutSegs': 90000}, " RXE_SIZES "}",
	  { 60 * MB, 0 }, 1, -1, "do not tell whether TCP carried a part of the payload out" },
	{ "rxe, small messages: headers are no payload of TCP",
	  "{'rdma': {'sent_pkts': 500000, 'rcvd_pkts': 9000}, 'link': {'tx_bytes': 41000000, 'rx_bytes': "
	  "558000}, 'tcp': {'InSegs': 90000, 'OutSegs': 90000}, " RXE_SIZES "}",
	  { 4000000, 0 }, 1, -1, NULL },
	{ "rxe, and as much by TCP",
	  "{'rdma': {'sent_pkts': 61440, 'rcvd_pkts': 960}, 'link': {'tx_bytes': 133000000, 'rx_bytes': "
	  "90000}, 'tcp': {'InSegs': 20000, 'OutSegs': 44000}, " RXE_SIZES "}",
	  { 60 * MB, 0 }, 1, 1, "that are not RDMA went out" },
	{ "rxe, and all by TCP",
	  "{'rdma': {'sent_pkts': 12, 'rcvd_pkts': 12}, 'link': {'tx_bytes': 66000000, 'rx_bytes': "
	  "90000}, 'tcp': {'InSegs': 20000, 'OutSegs': 44000}, " RXE_SIZES "}",
	  { 60 * MB, 0 }, 0, 1, NULL },
	/* a record of two emulated nodes that were slow enough for every third packet to be sent twice */
	{ "rxe, slow, one end",
	  "{'rdma': {'sent_pkts': 9622, 'rcvd_pkts': 8662}, 'link': {'tx_bytes': 25567202, 'rx_bytes': "
	  "32260417}, 'ip': {'OutOctets': 25432254, 'InOctets': 32139283}, 'tcp': {'InSegs': 105, 'OutSegs':"
	  " 101}, 'sizes': {'link_mtu': 9000, 'roce_mtu': 4096}}",
	  { 11665408, 9568256 }, 1, 0, "in is told by the counters of the other end" },
	{ "rxe, slow, the other end",
	  "{'rdma': {'sent_pkts': 8726, 'rcvd_pkts': 9622}, 'link': {'tx_bytes': 32265273, 'rx_bytes': "
	  "25568078}, 'ip': {'OutOctets': 32139438, 'InOctets': 25432410}, 'tcp': {'InSegs': 106, 'OutSegs':"
	  " 100}, 'sizes': {'link_mtu': 9000, 'roce_mtu': 4096}}",
	  { 9568256, 11665408 }, 1, 0, "at most 900000 bytes out, by the TCP segments" },
	{ "TCP in, and none out",
	  "{'rdma': {'ip4OutOctets': 109051904, 'ip4InOctets': 0}, 'link': {'rx_bytes': 110000000, "
	  "'tx_bytes': 90000}, 'tcp': {'InSegs': 1700, 'OutSegs': 900}, 'sizes': {'link_mtu': 9000}}",
	  { 100 * MB, 100 * MB }, 0, 1, "that are not RDMA went in" },
	{ "packets without an MTU", "{'rdma': {'sent_pkts': 102400}}", { 100 * MB, 0 }, -1, -1,
	  "no counter of RDMA bytes or packets" },
	{ "a little payload", "{'rdma': {'ip4OutOctets': 9000}, 'tcp': {'InSegs': 1, 'OutSegs': 1},"
	  " 'sizes': {'link_mtu': 9000}}", { 8192, 0 }, 1, -1, "too small to be told from other TCP" },
	{ "a little payload one way, which other TCP does not spoil",
	  "{'rdma': {'ip4OutOctets': 109051904, 'ip4InOctets': 9000}, 'link': {'tx_bytes': 90000, "
	  "'rx_bytes': 5000000}}", { 100 * MB, 8192 }, 1, 0, NULL },
	{ "something between",
	  "{'rdma': {'ip4OutOctets': 109051904}, 'link': {'rx_bytes': 0, 'tx_bytes': 50000000}, "
	  "'tcp': {'InSegs': 6000, 'OutSegs': 6000}, 'sizes': {'link_mtu': 9000}}",
	  { 100 * MB, 0 }, 1, -1, "do not tell whether TCP carried a part" },
	{ "as much of something that is not known to be TCP",
	  "{'rdma': {'ip4OutOctets': 109051904}, 'link': {'tx_bytes': 110000000}}",
	  { 100 * MB, 0 }, 1, -1, "do not tell whether TCP carried a part" },
	{ "counters above 2^63",
	  "{'rdma': {'port_xmit_data': '18446744073709551615', 'port_rcv_data': "
	  "'18446744073709551615'}, 'tcp': {'InSegs': '18446744073709551615', 'OutSegs': "
	  "'18446744073709551615'}, 'sizes': {'link_mtu': 9000}}",
	  { UINT64_MAX, UINT64_MAX }, 1, -1, NULL },
	{ "no numbers", "{'rdma': {'port_xmit_data': -4, 'ip4OutOctets': 'x', 'sent_pkts': []}, "
	  "'link': 3, 'tcp': null, 'ip': {'OutOctets': -1}, 'sizes': []}", { MB, MB }, -1, -1, NULL },
};

static void judged(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_json_ json_t *difference = scene_json(rows[i].difference);
		_cleanup_json_ json_t *facts = counters_facts(difference, &rows[i].payload);
		_cleanup_free_ char *why = json_to_text(json_object_get(facts, "why"), false);
		struct counters_verdict v;
		json_t *rdma = json_object_get(facts, "rdma_moved");

		counters_judge(&v, difference, &rows[i].payload);
		if (v.rdma_moved != rows[i].rdma || v.tcp_moved != rows[i].tcp)
			fail_msg("%s: rdma %d, tcp %d: %s", rows[i].name, v.rdma_moved,
				 v.tcp_moved, why);
		if (rows[i].why && !strstr(why, rows[i].why))
			fail_msg("%s: \"%s\" is not in %s", rows[i].name, rows[i].why, why);
		assert_true(v.rdma_moved < 0 ? json_is_null(rdma) :
					       json_is_true(rdma) == v.rdma_moved);
		counters_verdict_clear(&v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_twice),
		cmocka_unit_test(statistics_by_driver),
		cmocka_unit_test(nothing_there),
		cmocka_unit_test(judged),
	};

	return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
