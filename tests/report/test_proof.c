/* SPDX-License-Identifier: Apache-2.0 */
/* Proof records as text: what was proven, what was wrong, and nothing that a terminal obeys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/report.h"

#define END(node, role)                                                                        \
	"{'node': '" node "', 'role': '" role "', 'double': false, 'path': {'link': 'bond1',"  \
	" 'address': '192.0.2.1', 'device': 'rxe0', 'port': 1, 'gid_index': 1,"                \
	" 'mtu_bytes': 4096, 'reasons': ['link bond1: declared']}, 'memory': {'kind': 'host'},"\
	" 'counters': {'why': ['RDMA moved'], 'difference': {'rdma': {'sent': 7}}}}"

/* Of records as JSON in which ' stands for ". */
static char *text_of_json(char *json, const struct report_options *options)
{
	_cleanup_error_ struct error err = {0};
	char *text = NULL;
	size_t len;

	for (char *quote = json; (quote = strchr(quote, '\''));)
		*quote = '"';
	_cleanup_json_ json_t *records = json_loads(json, 0, NULL);
	assert_non_null(records);
	FILE *out = open_memstream(&text, &len);
	assert_non_null(out);
	assert_int_equal(report_proofs(out, records, options, &err), 0);
	fclose(out);
	return text;
}

/* One record of the given kind, verdict and runs. */
static char *text_of(const char *kind, const char *status, const char *runs,
		     const struct report_options *options)
{
	_cleanup_free_ char *json = xasprintf(
		"[{'schema': 'railhead.proof/1', 'kind': '%s', 'run': '0123456789abcdef',"
		" 'local': " END("gpu-1", "initiator") ", 'peer': " END("store-1", "listener")
		", 'runs': [%s], 'verdict': {'status': '%s', 'why': []}}]", kind, runs, status);

	return text_of_json(json, options);
}

static const struct report_options wide = { .width = 0 };

static void says(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("'%s' is not in:\n%s", what, text);
}

static void proven(void **state)
{
	_cleanup_free_ char *text = text_of("host", "pass",
		"{'run': 'integrity', 'operation': 'read', 'reverse': false, 'result': {'verified': true,"
		" 'messages': 4, 'bytes': 1536, 'sizes_bytes': [1, 2, 1048576]}},"
		"{'run': 'bandwidth', 'operation': 'write', 'reverse': true, 'result': {'verified': true,"
		" 'gbit_per_s': 12.5, 'size_bytes': 65536, 'derivation': 'how', 'steady': false,"
		" 'steady_why': 'drift', 'cpu': {'initiator': {'process_ms_per_gb': 12.34,"
		" 'host_ms_per_gb': 20}, 'listener': {'process_ms_per_gb': 0.5}}}},"
		"{'run': 'latency', 'operation': 'send', 'reverse': false, 'result': {'verified': true,"
		" 'median_ns': 2500, 'min_ns': 1000, 'p99_ns': 3000, 'p99_9_ns': 4000, 'max_ns': 5000,"
		" 'samples': 9, 'size_bytes': 8, 'derivation': 'half'}}", &wide);

	(void)state;
	says(text, "gpu-1: bond1 192.0.2.1, device rxe0 port 1, GID index 1, MTU 4096; host memory");
	says(text, "link bond1: declared");
	/* what is read comes from the other end */
	says(text, "read, store-1 → gpu-1: 1.5 KiB in 4 messages of 1 B to 1 MiB: every byte right");
	says(text, "write, store-1 → gpu-1: 12.5 Gbit/s with messages of 64 KiB (how); not steady: drift; "
		   "CPU 12.3 ms/GB at the initiator (its machine 20), 0.5 ms/GB at the listener; then");
	says(text, "2.5 us median with messages of 8 B (min 1.0, 99 % 3.0, 99.9 % 4.0, max 5.0 us of 9; half)");
	says(text, "store-1: RDMA moved");
	says(text, "PROVEN proof.host: gpu-1 and store-1");
	assert_null(strstr(text, "sent"));
}

/* Only what was looked at is called right. */
static void unverified(void **state)
{
	_cleanup_free_ char *text = text_of("host", "unknown",
		"{'run': 'integrity', 'operation': 'write', 'reverse': false, 'result': {'verified': null,"
		" 'messages': 4, 'bytes': 1536}},"
		"{'run': 'bandwidth', 'operation': 'write', 'reverse': false, 'result': {"
		" 'gbit_per_s': 12.5, 'size_bytes': 65536, 'steady': true}}", &wide);

	(void)state;
	says(text, "1.5 KiB in 4 messages; no byte was looked at");
	says(text, "(no derivation); no byte was looked at");
	assert_null(strstr(text, "every byte right"));
}

static void beside_perftest(void **state)
{
	_cleanup_free_ char *text = text_of("host", "pass",
		"{'run': 'perftest', 'operation': 'write', 'reverse': false, 'result': {"
		" 'tool': 'ib_write_bw', 'version': '6.06', 'gbit_per_s': 96.1, 'ratio': 1.0125,"
		" 'size_bytes': 65536}},"
		"{'run': 'perftest', 'operation': 'read', 'reverse': false, 'result': {"
		" 'tool': 'ib_read_lat', 'version': '26.01', 'median_ns': 2240, 'size_bytes': 8}},"
		"{'run': 'perftest', 'operation': 'send', 'reverse': false, 'error':"
		" 'store-1: ib_send_bw is not installed (package perftest)'}", &wide);

	(void)state;
	says(text, "perftest    write, gpu-1 → store-1: 96.1 Gbit/s with messages of 64 KiB by "
		   "ib_write_bw 6.06; railhead ÷ perftest 1.01\n");
	says(text, "read, store-1 → gpu-1: 2.2 us median with messages of 8 B by ib_read_lat 26.01\n");
	says(text, "send, gpu-1 → store-1: store-1: ib_send_bw is not installed");
	says(text, "PROVEN");
}

static void wrong(void **state)
{
	_cleanup_free_ char *text = text_of("marking", "fail",
		"{'run': 'marking', 'operation': 'send', 'reverse': false, 'result': {'verified': false,"
		" 'fault': {'text': 'DSCP 24 was sent, 0 arrived\\u001b[2J'}}},"
		"{'run': 'marking', 'operation': 'send', 'reverse': true, 'error': 'gone'}", &wide);

	(void)state;
	says(text, "marking     gpu-1 → store-1: DSCP 24 was sent, 0 arrived");
	says(text, "store-1 → gpu-1: gone");
	says(text, "FAILED proof.marking: gpu-1 and store-1");
	assert_null(strchr(text, '\033'));
	assert_null(strstr(text, "every byte"));
}

static void marked(void **state)
{
	_cleanup_free_ char *text = text_of("marking", "unknown",
		"{'run': 'marking', 'operation': 'send', 'reverse': false, 'result': {'verified': null,"
		" 'messages': 32, 'messages_arrived': 30, 'sent': {'dscp': 24, 'ecn': 2}, 'why': 'no GRH',"
		" 'arrived': [{'dscp': 24, 'ecn': 2, 'messages': 29}, {'dscp': 24, 'ecn': 3, 'messages': 1}]}}",
		&wide);

	(void)state;
	says(text, "30 of 32 messages sent with DSCP 24, ECN 2 arrived: 29 with DSCP 24, ECN 2, 1 with DSCP 24, ECN 3; not to be read: no GRH");
	says(text, "NOT PROVEN proof.marking");
}

/* Bytes may be right at a price: packets that were lost, or came out of their sequence. */
static void errors_that_grew(void **state)
{
	static const char rxe[] =
		"{'node': '%s', 'path': {'link': 'bond1'}, 'fingerprint': {'rdma': {'driver': 'rdma_rxe'}},"
		" 'counters': {'difference': {'rdma': {'sent_pkts': 900, 'out_of_seq_request': %d,"
		" 'duplicate_request': 0}, 'link': {'rx_bytes': 7, 'tx_dropped': %d},"
		" 'pause': {'roce0': {'rx_xoff': 5, 'rx_drops': '18446744073709551615'}}}}}";
	_cleanup_free_ char *bad = xasprintf(rxe, "gpu-1", 40, 2);
	_cleanup_free_ char *good = xasprintf(rxe, "store-1", 0, 0);
	char *drops = strstr(good, "'18446744073709551615'");

	(void)state;
	memset(drops, ' ', strlen("'18446744073709551615'"));
	*drops = '0';
	_cleanup_free_ char *json = xasprintf("[{'run': '1', 'local': %s, 'peer': %s}, {'run': '2'}]",
					      bad, good);
	_cleanup_free_ char *text = text_of_json(json, &wide);
	says(text, "errors      gpu-1: out_of_seq_request +40, bond1 tx_dropped +2, roce0 rx_drops +18446744073709551615\n");
	says(text, "errors      store-1: none of 4 counters of errors and drops grew\n");
	assert_null(strstr(text, "errors      ?"));
	_cleanup_free_ char *unknown = text_of("host", "pass", "", &wide);
	says(unknown, "errors      gpu-1: no counter of errors or drops is known\n");
}

static void quiet_and_verbose(void **state)
{
	struct report_options options = { .quiet = true };
	_cleanup_free_ char *one = text_of("host", "pass", "", &options);

	(void)state;
	assert_string_equal(one, "PROVEN proof.host: gpu-1 and store-1\n");
	options = (struct report_options){ .verbose = 1 };
	_cleanup_free_ char *all = text_of("host", "pass", "", &options);
	says(all, "{\"rdma\": {\"sent\": 7}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(proven),
		cmocka_unit_test(unverified),
		cmocka_unit_test(beside_perftest),
		cmocka_unit_test(wrong),
		cmocka_unit_test(marked),
		cmocka_unit_test(errors_that_grew),
		cmocka_unit_test(quiet_and_verbose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
