/* SPDX-License-Identifier: Apache-2.0 */
/* What perftest prints and what it is asked, by its versions. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "prove/perftest.h"
#include "prove/perftest_output.h"

#define RULE "---------------------------------------------------------------------------------------\n"

/* --- tables ----------------------------------------------------------------------------------- */

/* Of the formats in src/perftest_parameters.h of linux-rdma/perftest; figures are made up, but those
 * of rxe, which are what 6.06 printed in the lab. */
static const char headings_bw[] =
	" #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n";
static const char headings_lat[] =
	" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
	"t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n";

static const struct {
	const char *version, *row;
	double gbit_per_s, messages_per_s;
} rows_bw[] = {
	{ "4.4, 4.5, 6.06",
	  " 65536      5000             96.45              96.10  \t\t   0.183296\n", 96.10, 183296 },
	{ "24.10 and later",
	  " 65536      5000             0.00               96.10  \t\t     0.183296\n", 96.10,
	  183296 },
	{ "6.06 over rxe: below 0.1 Gb/s",
	  " 65536      58           0.000000            0.029162            0.000056\n", 0.029162, 56 },
};

static void bandwidth(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows_bw); i++) {
		_cleanup_free_ char *text = xasprintf(
			"\n************************************\n"
			"* Waiting for client to connect... *\n"
			"************************************\n" RULE
			"                    RDMA_Write BW Test\n"
			" Dual-port       : OFF\t\tDevice         : rxe0\n"
			" Max inline data : 0[B]\n rdma_cm QPs\t : OFF\n" RULE
			" local address: LID 0000 QPN 0x0036 PSN 0xd42e50 RKey 0x0020f5 VAddr "
			"0x007f12dc936000\n" RULE "%s%s" RULE,
			headings_bw, rows_bw[i].row);
		_cleanup_error_ struct error err = {0};
		struct perftest_measured m;

		if (perftest_output_read(&m, false, text, &err))
			fail_msg("%s: %s", rows_bw[i].version, error_text(&err));
		assert_int_equal(m.size_bytes, 65536);
		assert_true(m.gbit_per_s == rows_bw[i].gbit_per_s);
		assert_true(m.messages_per_s - rows_bw[i].messages_per_s < 1e-6 &&
			    rows_bw[i].messages_per_s - m.messages_per_s < 1e-6);
	}
}

static void latency(void **state)
{
	_cleanup_free_ char *text = xasprintf(
		RULE "%s 8       1000          1.05           8.70         1.12     \t       "
		"1.14        \t0.12   \t\t1.30    \t\t4.02   \n" RULE, headings_lat);
	struct perftest_measured m;

	(void)state;
	assert_int_equal(perftest_output_read(&m, true, text, NULL), 0);
	assert_int_equal(m.size_bytes, 8);
	assert_int_equal(m.iterations, 1000);
	assert_true(m.min_ns == 1.05 * 1e3 && m.max_ns == 8.70 * 1e3);
	assert_true(m.median_ns == 1.12 * 1e3);
	assert_true(m.p99_ns == 1.30 * 1e3 && m.p99_9_ns == 4.02 * 1e3);
}

/* No column stands where it always stood. */
static void columns_are_found(void **state)
{
	struct perftest_measured m;

	(void)state;
	assert_int_equal(perftest_output_read(
		&m, false, " MsgRate[Mpps] #iterations BW average[Gb/sec] #bytes\n 0.5 7 32.00 8\n",
		NULL), 0);
	assert_int_equal(m.size_bytes, 8);
	assert_int_equal(m.iterations, 7);
	assert_true(m.gbit_per_s == 32 && m.messages_per_s == 0.5e6);
}

static void is_no_table(const char *text, bool latency, const char *why)
{
	_cleanup_error_ struct error err = {0};
	struct perftest_measured m;

	if (perftest_output_read(&m, latency, text, &err) != -EPROTO)
		fail_msg("taken: %s", text);
	if (!strstr(error_text(&err), why))
		fail_msg("no \"%s\" in \"%s\"", why, error_text(&err));
}

static void tables_that_are_none(void **state)
{
	static const char *const rows[] = {
		"", " 65536", " 65536 5000 96.45 96.10", " 65536 5000 96.45 96.10 0.18 1",
		" 65536 5000 nan nan nan", " 65536 5000 inf 96.10 0.18", " 65536 5000 -1 96.10 0.18",
		" -1 5000 96.45 96.10 0.18", " 0x10 5000 96.45 0x1p4 0.18",
		" 99999999999999999999999 5000 96.45 96.10 0.18", " 65536 5000 96.45 1e3 0.18",
		" 65536 5000 96.45 96.1.0 0.18", " 65536 5000 96.45 . 0.18",
		" 65536 5000 96.45 9999999999999999999 0.18",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text = xasprintf("%s%s\n", headings_bw, rows[i]);
		is_no_table(text, false, "no table");
	}
	/* in MiB/s: --report_gbits was not heard */
	is_no_table(" #bytes #iterations BW peak[MB/sec] BW average[MB/sec] MsgRate[Mpps]\n"
		    " 65536 5000 11000.00 11000.00 0.18\n", false, "no table");
	/* a latency run by duration has no percentiles */
	is_no_table(" #bytes        #iterations       t_avg[usec]    tps average\n"
		    " 8       1000            1.20        400000.00\n", true, "no table");
	is_no_table(" #bytes #bytes #iterations BW average[Gb/sec] MsgRate[Mpps]\n 1 1 1 1 1\n",
		    false, "no table");
	is_no_table("Couldn't connect to 10.10.1.21:18515\n", false, "no table");
}

static void numbers_that_cannot_be(void **state)
{
	static const char *const latencies[] = {
		" 8 1000 2.00 8.70 1.12 1.14 0.12 1.30 4.02", /* the least is above the middle */
		" 8 1000 1.05 3.00 1.12 1.14 0.12 1.30 4.02", /* the most is below 99.9 % */
		" 8 0 1.05 8.70 1.12 1.14 0.12 1.30 4.02",
		" 8 1000 0.00 0.00 0.00 0.00 0.00 0.00 0.00",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(latencies); i++) {
		_cleanup_free_ char *text = xasprintf("%s%s\n", headings_lat, latencies[i]);
		is_no_table(text, true, "cannot be");
	}
	_cleanup_free_ char *none = xasprintf("%s 65536 5000 0.00 0.00 0.000000\n", headings_bw);
	is_no_table(none, false, "cannot be");
}

/* --- reasons ---------------------------------------------------------------------------------- */

static void reasons(void **state)
{
	static const struct {
		const char *errors, *text, *reason;
	} cases[] = {
		{ " Couldn't connect to 10.10.1.21:18515\n Unable to open\n\n", "out\n",
		  "Couldn't connect to 10.10.1.21:18515; Unable to open" },
		{ "one\ntwo\nthree\nfour\n", "", "one; two; three" },
		{ "", "first\nlast\n" RULE "\n", "last" },
		{ "", RULE, "" },
		{ "", "", "" },
		{ "\033[31mred\n", "", "\\x1b[31mred" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *reason =
			perftest_output_reason(cases[i].errors, cases[i].text);
		assert_string_equal(reason, cases[i].reason);
	}
}

static void reasons_are_short(void **state)
{
	_cleanup_free_ char *flood = xmalloc(1 << 16);

	(void)state;
	memset(flood, 'x', (1 << 16) - 1);
	flood[(1 << 16) - 1] = '\0';
	_cleanup_free_ char *errors = perftest_output_reason(flood, "");
	_cleanup_free_ char *text = perftest_output_reason("", flood);
	assert_true(*errors && strlen(errors) <= 400);
	assert_true(*text && strlen(text) <= 400);
}

/* --- command lines ---------------------------------------------------------------------------- */

/* As --help of 6.06 tells them, without its texts. */
static char help_6_06[] =
	"  -d, --ib-dev=<dev>  Use\n  -D, --duration  Run\n  -f, --margin  measure\n"
	"  -F, --CPU-freq  Do\n  -i, --ib-port=<port>  Use\n  -m, --mtu=<mtu>  MTU\n"
	"  -n, --iters=<iters>  Number\n  -p, --port=<port>  Listen\n  -q, --qp=<num of qp's>  Num\n"
	"  -s, --size=<size>  Size\n  -t, --tx-depth=<dep>  Size\n  -x, --gid-index=<index>  Test\n"
	"      --ipv6  Use\n      --source_ip  Source\n      --report_gbits Report\n"
	"      --tclass=<value>  Set\n      --use_hugepages  Use\n";

static char path_6_06[] = "/usr/bin/ib_write_bw", version_6_06[] = "6.06";

static const struct perftest_tool tool_6_06 = {
	.name = "ib_write_bw", .path = path_6_06, .version = version_6_06, .help = help_6_06,
};

static struct perftest_request request(void)
{
	return (struct perftest_request){
		.address = "10.10.1.21",
		.own_address = "10.10.1.11",
		.tcp_port = 40000,
		.device = "rxe0",
		.port = 1,
		.gid_index = 1,
		.mtu_bytes = 4096,
		.traffic_class = -1,
		.memory = "host",
		.size_bytes = 8,
		.qps = 1,
		.depth = 64,
		.seconds = 2,
		.iterations = 5000,
	};
}

static void command_is(const struct perftest_request *r, bool latency, const char *wanted)
{
	_cleanup_strings_ char **words = NULL;
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *text = xstrdup("");

	if (perftest_command(&words, &tool_6_06, latency, r, &err))
		fail_msg("%s", error_text(&err));
	for (char **word = words; *word; word++) {
		char *longer = xasprintf("%s%s%s", text, *text ? " " : "", *word);
		free(text);
		text = longer;
	}
	assert_string_equal(text, wanted);
}

static void commands(void **state)
{
	struct perftest_request r = request();

	(void)state;
#define COMMON "/usr/bin/ib_write_bw --ib-dev=rxe0 --ib-port=1 --gid-index=1 --mtu=4096 "
	command_is(&r, true, COMMON "--port=40000 --size=8 --iters=5000 "
			     "--CPU-freq 10.10.1.21");
	/* it has a --source_ip, which is another one */
	r.server = true;
	r.traffic_class = 96;
	r.memory = "huge";
	r.seconds = 1.5;
	command_is(&r, false, COMMON "--tclass=96 --port=40000 --size=8 "
			      "--qp=1 --tx-depth=64 --duration=4 --margin=1 --report_gbits "
			      "--use_hugepages --CPU-freq");
}

static void cannot(const struct perftest_request *r, const char *why)
{
	_cleanup_error_ struct error err = {0};
	char **words = NULL;

	assert_int_equal(perftest_command(&words, &tool_6_06, false, r, &err), -EOPNOTSUPP);
	assert_null(words);
	assert_string_equal(error_text(&err), why);
}

static void commands_that_cannot_be(void **state)
{
	struct perftest_request r = request();

	(void)state;
	r.memory = "cuda";
	r.gpu = "0000:17:00.0";
	cannot(&r, "ib_write_bw 6.06 has no option --use_cuda_bus_id");
	r.gpu = NULL;
	cannot(&r, "the PCI address of the GPU is unknown");
	r.memory = "udmabuf";
	cannot(&r, "perftest has no udmabuf memory");
	r.memory = "host";
	r.address = r.own_address = "fd00::21";
	cannot(&r, "ib_write_bw 6.06 has no option --ipv6-addr");
}

static void addresses_that_are_none(void **state)
{
	static const char *const addresses[] = { "", "--out_json_file=/etc/passwd", "-R", "aistor-01",
						 "10.10.1.21 ", "10.10.1", "fe80::1%bond1", ":" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		struct perftest_request r = request();
		char **words = NULL;

		r.address = addresses[i];
		assert_int_equal(perftest_command(&words, &tool_6_06, false, &r, NULL), -EINVAL);
		assert_null(words);
	}
}

static void options_by_their_whole_name(void **state)
{
	(void)state;
	assert_true(perftest_knows(&tool_6_06, "ipv6"));
	assert_false(perftest_knows(&tool_6_06, "ipv6-addr"));
	assert_false(perftest_knows(&tool_6_06, "use_huge"));
	assert_false(perftest_knows(&tool_6_06, "tx"));
	assert_true(perftest_knows(&tool_6_06, "use_hugepages"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bandwidth),
		cmocka_unit_test(latency),
		cmocka_unit_test(columns_are_found),
		cmocka_unit_test(tables_that_are_none),
		cmocka_unit_test(numbers_that_cannot_be),
		cmocka_unit_test(reasons),
		cmocka_unit_test(reasons_are_short),
		cmocka_unit_test(commands),
		cmocka_unit_test(commands_that_cannot_be),
		cmocka_unit_test(addresses_that_are_none),
		cmocka_unit_test(options_by_their_whole_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
