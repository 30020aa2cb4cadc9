/* SPDX-License-Identifier: Apache-2.0 */
/* Perftest at both ends of a channel, with doubles of its programs (doubles/perftest_double.py). */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "host/tree.h"
#include "prove/pair.h"
#include "prove/perftest_run.h"

#define PATIENCE_MS 30000	/* for what must work */
#define BRIEF_MS 300		/* for what does not */

static const char *const programs[] = { "ib_write_bw", "ib_write_lat", "ib_read_bw" };

static const struct perftest_run writes = {
	.operation = "write",
	.request = {
		.address = "127.0.0.1",
		.own_address = "127.0.0.1",
		.device = "double0",
		.port = 1,
		.gid_index = 3,
		.mtu_bytes = 4096,
		.traffic_class = 106,
		.memory = "host",
		.size_bytes = 65536,
		.qps = 2,
		.depth = 64,
		.seconds = 0.5,
		.iterations = 1000,
	},
};

struct side {
	struct perftest_end end;
	const struct perftest_run *run;
	json_t *outcome;
	struct error err;
	int rc;
};

struct sides {
	struct side active, passive;
	const char *folder;	/* of the doubles */
	char *log;		/* their command lines */
};

static void side_open(struct side *side, const char *node, const char *const *folders)
{
	assert_int_equal(host_open(&side->end.host, NULL, NULL), 0);
	side->end.node = node;
	side->end.folders = folders;
	side->end.allowed = true;
	side->end.timeout_ms = PATIENCE_MS;
	side->end.around_ms = PATIENCE_MS;
}

/* `failing`: "ROLE FAILING" of the double, NULL: nothing goes wrong. */
static void sides_open(struct sides *s, struct tree *t, const char *const *folders,
		       const char *failing)
{
	memset(s, 0, sizeof(*s));
	s->folder = t->path;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		_cleanup_free_ char *path = xasprintf("%s/%s", t->path, programs[i]);
		assert_int_equal(symlink(RAILHEAD_SOURCE "/tests/doubles/perftest_double.py", path),
				 0);
	}
	s->log = xasprintf("%s/log", t->path);
	setenv("PERFTEST_DOUBLE_LOG", s->log, 1);
	setenv("PERFTEST_DOUBLE", failing ? failing : "", 1);
	side_open(&s->active, "gpu-node-01", folders);
	side_open(&s->passive, "aistor-01", folders);
	s->active.end.active = true;
	wire_pair(&s->active.end.wire, &s->passive.end.wire);
}

static void side_close(struct side *side)
{
	host_close(side->end.host);
	wire_close(side->end.wire);
	json_decref(side->outcome);
	error_clear(&side->err);
}

static void sides_close(struct sides *s)
{
	side_close(&s->active);
	side_close(&s->passive);
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		_cleanup_free_ char *path = xasprintf("%s/%s", s->folder, programs[i]);
		unlink(path);
	}
	free(s->log);
}

static void *side_run(void *arg)
{
	struct side *side = arg;
	_cleanup_json_ json_t *own = json_object_new();

	json_put(own, "gbit_per_s", json_real(55));
	json_put_int(own, "median_ns", 1800);
	side->rc = perftest_run(&side->outcome, &side->end, side->run, own, &side->err);
	return NULL;
}

static void sides_run(struct sides *s, const struct perftest_run *active,
		      const struct perftest_run *passive)
{
	pthread_t thread;

	s->active.run = active;
	s->passive.run = passive;
	assert_int_equal(pthread_create(&thread, NULL, side_run, &s->passive), 0);
	side_run(&s->active);
	pthread_join(thread, NULL);
}

/* Both ends say the same. */
static json_t *outcome_of(const struct sides *s)
{
	if (s->active.rc || s->passive.rc)
		fail_msg("%s / %s", error_text(&s->active.err), error_text(&s->passive.err));
	if (!json_equal(s->active.outcome, s->passive.outcome)) {
		_cleanup_free_ char *a = json_to_text(s->active.outcome, false);
		_cleanup_free_ char *b = json_to_text(s->passive.outcome, false);
		fail_msg("%s is not %s", a, b);
	}
	return s->active.outcome;
}

static json_t *result_of(const struct sides *s)
{
	json_t *result = json_object_get(outcome_of(s), "result");

	if (!result)
		fail_msg("%s", json_get_string(outcome_of(s), "error", "neither result nor error"));
	return result;
}

static void is_real(json_t *result, const char *key, double value)
{
	assert_true(json_number_value(json_object_get(result, key)) == value);
}

static void bandwidth(void **state)
{
	struct tree *t = *state;
	const char *const folders[] = { "/nowhere", t->path, NULL };
	_cleanup_free_ char *log = NULL;
	struct sides s;

	sides_open(&s, t, folders, NULL);
	sides_run(&s, &writes, &writes);
	json_t *result = result_of(&s);
	assert_string_equal(json_get_string(result, "tool", ""), "ib_write_bw");
	assert_string_equal(json_get_string(result, "version", ""), "26.01");
	assert_int_equal(json_get_int(result, "size_bytes", 0), 65536);
	assert_int_equal(json_get_int(result, "qps", 0), 2);
	assert_int_equal(json_get_int(result, "depth", 0), 64);
	assert_int_equal(json_get_int(result, "messages", 0), 4000);
	is_real(result, "gbit_per_s", 50);
	is_real(result, "messages_per_s", 0.095367 * 1e6);
	is_real(result, "ratio", 55.0 / 50);
	/* the server has the same options */
	static const char words[] = "ib_write_bw --ib-dev=double0 --ib-port=1 --gid-index=3 "
				    "--mtu=4096 --tclass=106 --port=";
	const char *command = json_get_string(result, "command", "");
	assert_memory_equal(command, words, strlen(words));
	assert_non_null(strstr(command, " --bind_source_ip=127.0.0.1 --size=65536 --qp=2 "
					"--tx-depth=64 --duration=3 --margin=1 --report_gbits "
					"--CPU-freq 127.0.0.1"));
	assert_int_equal(host_read(s.active.end.host, &log, NULL, NULL, "%s", s.log), 0);
	_cleanup_free_ char *server = xstrndup(command, strlen(command) - strlen(" 127.0.0.1"));
	_cleanup_free_ char *line = xasprintf("\n%s\n", server);
	assert_non_null(strstr(log, line));
	sides_close(&s);
}

static void latency(void **state)
{
	struct tree *t = *state;
	const char *const folders[] = { t->path, NULL };
	struct perftest_run run = writes;
	struct sides s;

	run.latency = true;
	sides_open(&s, t, folders, NULL);
	sides_run(&s, &run, &run);
	json_t *result = result_of(&s);
	assert_string_equal(json_get_string(result, "tool", ""), "ib_write_lat");
	assert_int_equal(json_get_int(result, "messages", 0), 1000);
	assert_int_equal(json_get_int(result, "min_ns", 0), 2000);
	assert_int_equal(json_get_int(result, "median_ns", 0), 2250);
	assert_int_equal(json_get_int(result, "p99_ns", 0), 3500);
	assert_int_equal(json_get_int(result, "p99_9_ns", 0), 8000);
	assert_int_equal(json_get_int(result, "max_ns", 0), 9500);
	is_real(result, "ratio", 1800.0 / 2250);
	assert_null(json_object_get(result, "qps"));
	sides_close(&s);
}

/* The error of the outcome, at both ends; each word is in it. The channel goes on. */
static void fails(struct tree *t, const struct perftest_run *run, const char *failing,
		  int around_ms, const char *const *words)
{
	const char *const folders[] = { t->path, NULL };
	struct sides s;

	sides_open(&s, t, folders, failing);
	(strncmp(failing, "client", 6) ? &s.passive : &s.active)->end.around_ms = around_ms;
	sides_run(&s, run, run);
	const char *error = json_get_string(outcome_of(&s), "error", NULL);
	if (!error)
		fail_msg("%s: no error", failing);
	for (; *words; words++) {
		if (!strstr(error, *words))
			fail_msg("%s: no \"%s\" in \"%s\"", failing, *words, error);
	}
	sides_close(&s);
}
#define FAILS(t, run, failing, around_ms, ...)                                                 \
	fails(t, run, failing, around_ms, (const char *const[]){ __VA_ARGS__, NULL })

static void server_fails(void **state)
{
	FAILS(*state, &writes, "server hangs", BRIEF_MS,
	      "aistor-01: ib_write_bw does not listen on port ", " ms");
	FAILS(*state, &writes, "server crashes", PATIENCE_MS, "aistor-01: ib_write_bw: SIGSEGV");
	FAILS(*state, &writes, "server floods", PATIENCE_MS, "aistor-01: ", "writes more than");
	FAILS(*state, &writes, "server refuses", PATIENCE_MS,
	      "aistor-01: ib_write_bw: Unable to init the socket connection; Failed to modify QP "
	      "to RTR, exit status 1");
}

static void client_fails(void **state)
{
	struct perftest_run brief = writes;

	brief.request.seconds = 0;
	FAILS(*state, &brief, "client hangs", BRIEF_MS, "gpu-node-01: ", "not finished");
	FAILS(*state, &writes, "client crashes", PATIENCE_MS,
	      "gpu-node-01: ib_write_bw: SIGSEGV");
	FAILS(*state, &writes, "client floods", PATIENCE_MS, "gpu-node-01: ", "writes more than");
	FAILS(*state, &writes, "client refuses", PATIENCE_MS, "gpu-node-01: ", "Failed to modify");
	FAILS(*state, &writes, "client prints-garbage", PATIENCE_MS,
	      "gpu-node-01: ib_write_bw 26.01: perftest printed no table");
}

static void cannot_be_asked(void **state)
{
	struct perftest_run run = writes;

	FAILS(*state, &writes, "ask prints-garbage", PATIENCE_MS, "gpu-node-01: ", "no version",
	      "; aistor-01: ");
	run.request.memory = "udmabuf";
	FAILS(*state, &run, "", PATIENCE_MS, "aistor-01: perftest has no udmabuf memory");
	run.request.memory = "cuda";
	FAILS(*state, &run, "", PATIENCE_MS, "aistor-01: the PCI address of the GPU is unknown");
	run.request.memory = "host";
	run.operation = "send";
	FAILS(*state, &run, "", PATIENCE_MS,
	      "gpu-node-01: ib_send_bw is not installed (package perftest); aistor-01: ");
}

static void is_refused(void **state)
{
	struct tree *t = *state;
	const char *const folders[] = { t->path, NULL };
	struct sides s;

	sides_open(&s, t, folders, NULL);
	s.passive.end.allowed = false;
	sides_run(&s, &writes, &writes);
	assert_string_equal(json_get_string(outcome_of(&s), "error", ""),
			    "aistor-01: perftest is not run where --compare perftest "
			    "was not given");
	sides_close(&s);
}

/* The channel breaks in the middle of a run: that is an error of the proof, at once, and both
 * programs are gone. */
static void *breaks(void *arg)
{
	struct sides *s = arg;
	_cleanup_free_ char *log = NULL;

	while (!log || !strstr(log, "--CPU-freq 127.0.0.1")) {
		free(log);
		log = NULL;
		usleep(10000);
		host_read(s->active.end.host, &log, NULL, NULL, "%s", s->log);
	}
	shutdown(wire_fd(s->active.end.wire), SHUT_RDWR);
	return NULL;
}

static void channel_breaks(void **state)
{
	struct tree *t = *state;
	const char *const folders[] = { t->path, NULL };
	struct sides s;
	pthread_t thread;

	sides_open(&s, t, folders, "client hangs");
	assert_int_equal(pthread_create(&thread, NULL, breaks, &s), 0);
	sides_run(&s, &writes, &writes);
	pthread_join(thread, NULL);
	assert_int_equal(s.active.rc, -ECONNRESET);
	assert_int_equal(s.passive.rc, -ECONNRESET);
	assert_null(s.active.outcome);
	sides_close(&s);
}

/* The other end's figures are numbers that can be, or they are no figures. */
static void figures_are_checked(void **state)
{
	static const char *const lies[] = {
		"{\"type\": \"measured\"}",
		"{\"type\": \"measured\", \"version\": \"1\", \"command\": \"x\", \"messages\": -1, "
		"\"size_bytes\": 65536, \"gbit_per_s\": 1.0, \"messages_per_s\": 1.0}",
		"{\"type\": \"measured\", \"version\": \"1\", \"command\": \"x\", \"messages\": 1, "
		"\"size_bytes\": 65537, \"gbit_per_s\": 1.0, \"messages_per_s\": 1.0}",
		"{\"type\": \"measured\", \"version\": \"1\", \"command\": \"x\", \"messages\": 1, "
		"\"size_bytes\": 65536, \"gbit_per_s\": \"1\", \"messages_per_s\": 1.0}",
		"{\"type\": \"measured\", \"version\": \"1\", \"command\": [], \"messages\": 1, "
		"\"size_bytes\": 65536, \"gbit_per_s\": 1.0, \"messages_per_s\": 1.0}",
		"{\"type\": \"measured\", \"version\": \"1\", \"command\": \"x\", \"messages\": 1, "
		"\"size_bytes\": 65536, \"gbit_per_s\": 1.0, \"messages_per_s\": 1e300}",
	};
	struct tree *t = *state;
	const char *const folders[] = { t->path, NULL };

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		_cleanup_json_ json_t *lie = json_loads(lies[i], 0, NULL);
		_cleanup_json_ json_t *able = json_loads("{\"type\": \"perftest\"}", 0, NULL);
		json_t *heard[2] = {0};
		pthread_t thread;
		struct sides s;

		sides_open(&s, t, folders, NULL);
		s.passive.run = &writes;
		assert_int_equal(pthread_create(&thread, NULL, side_run, &s.passive), 0);
		assert_int_equal(wire_send(s.active.end.wire, able, PATIENCE_MS, NULL), 0);
		assert_int_equal(wire_receive(s.active.end.wire, "perftest", &heard[0],
					      PATIENCE_MS, NULL), 0);
		assert_int_equal(wire_receive(s.active.end.wire, "serving", &heard[1],
					      PATIENCE_MS, NULL), 0);
		assert_int_equal(wire_send(s.active.end.wire, lie, PATIENCE_MS, NULL), 0);
		pthread_join(thread, NULL);
		assert_int_equal(s.passive.rc, -EPROTO);
		json_decref(heard[0]);
		json_decref(heard[1]);
		sides_close(&s);
	}
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, tree_setup, tree_teardown)
	const struct CMUnitTest tests[] = {
		TEST(bandwidth),      TEST(latency),	     TEST(server_fails),
		TEST(client_fails),   TEST(cannot_be_asked), TEST(is_refused),
		TEST(channel_breaks), TEST(figures_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
