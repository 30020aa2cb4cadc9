/* SPDX-License-Identifier: Apache-2.0 */
/* Whole sessions between two nodes: what runs, what both keep of it, and what is refused. */
#include "records.h"

#include <errno.h>
#include <string.h>

#include "nodes.h"
#include "prove/suite.h"

static void ran(const struct nodes *nodes)
{
	if (nodes->initiator.rc || nodes->listener.rc)
		fail_msg("%s / %s", error_text(&nodes->initiator.err),
			 error_text(&nodes->listener.err));
}

static const char *text_at(json_t *record, const char *pointer)
{
	return json_string_value(json_pointer_get(record, pointer));
}

/* What both ends keep is the same, each from its own side. */
static void agree(const struct nodes *nodes, const char *kind)
{
	json_t *a = node_record(&nodes->initiator, kind), *b = node_record(&nodes->listener, kind);

	assert_string_equal(text_at(a, "/local/node"), "node-0");
	assert_string_equal(text_at(b, "/local/node"), "node-1");
	assert_string_equal(text_at(a, "/local/role"), "initiator");
	assert_true(json_equal(json_pointer_get(a, "/local"), json_pointer_get(b, "/peer")));
	assert_true(json_equal(json_pointer_get(a, "/peer"), json_pointer_get(b, "/local")));
	assert_true(json_equal(json_pointer_get(a, "/runs"), json_pointer_get(b, "/runs")));
	assert_string_equal(text_at(a, "/run"), text_at(b, "/run"));
	assert_string_equal(text_at(a, "/verdict/status"), text_at(b, "/verdict/status"));
}

static void passes(json_t *record)
{
	if (strcmp(text_at(record, "/verdict/status"), "pass")) {
		_cleanup_free_ char *all = json_to_text(record, false);

		fail_msg("%s", all);
	}
}

/* The runs in the record, in order, are the steps of the suite. */
static void all_steps(json_t *record, const struct session_parameters *p)
{
	_cleanup_suite_ struct suite suite = {0};
	json_t *runs = json_object_get(record, "runs"), *run;
	size_t at = 0;

	suite_make(&suite, p);
	json_array_foreach(runs, at, run) {
		assert_true(at < suite.n);
		assert_string_equal(json_get_string(run, "run", ""),
				    suite_run_name(suite.step[at].run));
		assert_int_equal(json_get_bool(run, "reverse", false), suite.step[at].reverse);
		assert_true(json_is_object(json_object_get(run, "result")));
		assert_null(json_object_get(run, "error"));
	}
	assert_int_equal(json_array_size(runs), suite.n);
}

static double number(json_t *run, const char *pointer)
{
	json_t *value = json_pointer_get(run, pointer);

	if (!json_is_number(value))
		fail_msg("no number at %s", pointer);
	return json_number_value(value);
}

/* Both ends' CPU time stands beside each speed, and by size where there is one. */
static void tells_load(json_t *record)
{
	json_t *runs = json_object_get(record, "runs"), *run;
	size_t i;

	json_array_foreach(runs, i, run) {
		bool latency = !strcmp(json_get_string(run, "run", ""), "latency");

		if (!json_pointer_get(run, "/result/gbit_per_s") && !latency) {
			assert_null(json_pointer_get(run, "/result/cpu"));
			continue;
		}
		assert_true(number(run, "/result/cpu/initiator/process_ms") >= 0);
		assert_true(number(run, "/result/cpu/listener/process_ms") >= 0);
		assert_true(number(run, "/result/cpu/listener/host_ms") >= 0);
		if (latency) {
			assert_null(json_pointer_get(run, "/result/cpu/listener/host_ms_per_gb"));
			continue;
		}
		double expected = number(run, "/result/cpu/listener/process_ms") * 1e9 /
				  number(run, "/result/bytes");
		double told = number(run, "/result/cpu/listener/process_ms_per_gb");
		assert_true(told > expected * 0.999 - 1e-9 && told < expected * 1.001 + 1e-9);
	}
}

/* All operations, speeds and marking: everything that there is, and it passes. */
static void end_to_end(void **state)
{
	struct session_parameters p = nodes_parameters();
	struct nodes *nodes = *state;

	p.operations = SESSION_WRITE | SESSION_READ | SESSION_SEND;
	p.size_min = 3;
	p.size_max = 100000;
	p.qps = 2;
	p.seconds = 0.06;
	nodes_run(nodes, &p, NULL, NULL);
	ran(nodes);
	agree(nodes, "host");
	passes(node_record(&nodes->initiator, "host"));
	passes(node_record(&nodes->listener, "host"));
	all_steps(node_record(&nodes->initiator, "host"), &p);
	tells_load(node_record(&nodes->initiator, "host"));
	assert_int_equal(json_array_size(nodes->initiator.records), 1);
}

/* The suites run the same steps; marking stands in the suite's record and in one of its own. */
static void suites(void **state)
{
	static const struct {
		enum session_suite suite;
		int dscp;
		bool ecn;
	} rows[] = { { SESSION_BASELINE, -1, false }, { SESSION_PFC, 24, false },
		     { SESSION_ECN, 24, true } };
	struct nodes *nodes = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct session_parameters p = nodes_parameters();
		const char *name = session_suite_names[rows[i].suite];

		p.suite = rows[i].suite;
		p.dscp = rows[i].dscp;
		p.ecn = rows[i].ecn;
		p.size_max = 70000;
		p.seconds = 0.05;
		nodes_run(nodes, &p, NULL, NULL);
		ran(nodes);
		agree(nodes, name);
		all_steps(node_record(&nodes->listener, name), &p);
		tells_load(node_record(&nodes->listener, name));
		passes(node_record(&nodes->listener, name));
		assert_int_equal(json_array_size(nodes->listener.records), p.dscp < 0 ? 1 : 2);
		if (p.dscp < 0)
			continue;
		json_t *marks = node_record(&nodes->listener, "marking");
		assert_int_equal(json_array_size(json_object_get(marks, "runs")), 2);
		assert_int_equal((int)number(marks, "/runs/0/result/sent/dscp"), 24);
		assert_int_equal((int)number(marks, "/runs/0/result/sent/ecn"), p.ecn ? 2 : 0);
	}
}

/* --- refusals --------------------------------------------------------------------------------- */

struct change {
	const char *type, *key, *value;	/* JSON; NULL: it is taken out */
};

static enum middle_does change_one(void *arg, unsigned number RH_UNUSED,
				   bool of_initiator RH_UNUSED, json_t *message)
{
	const struct change *c = arg;

	if (strcmp(json_get_string(message, "type", ""), c->type))
		return MIDDLE_HANDS_ON;
	if (c->value)
		json_put(message, c->key, json_loads(c->value, JSON_DECODE_ANY, NULL));
	else
		json_object_del(message, c->key);
	return MIDDLE_HANDS_ON;
}

static void says(const struct node *node, const char *words)
{
	if (node->rc >= 0 || !strstr(error_text(&node->err), words))
		fail_msg("%d: no \"%s\" in \"%s\"", node->rc, words, error_text(&node->err));
}

static void refused(const struct node *node, const char *words)
{
	says(node, words);
	assert_null(node->records);
}

/* What is proposed and cannot be: the one who is asked says why, the other hears it. */
static void refusals(void **state)
{
	static const struct {
		struct change change;
		const char *words;
	} rows[] = {
		{ { "parameters", "suite", "\"gold\"" }, "an unknown suite" },
		{ { "parameters", "suite", "\"gdr\"" }, "suite gdr is of cuda memory" },
		{ { "parameters", "operations", "[\"atomic\"]" }, "an unknown operation" },
		{ { "parameters", "size_max", "1099511627776" }, "size_max is no number up to" },
		{ { "parameters", "qps", "65" }, "qps is no number up to 64" },
		{ { "parameters", "depth", "4000000000" }, "depth is no number up to" },
		{ { "parameters", "seconds", "86400" }, "a speed run takes" },
		{ { "parameters", "peer_memory", "\"nvram\"" }, "nvram" },
		{ { "parameters", "type", "\"payment\"" }, "where \"parameters\" was expected" },
	};
	const struct session_parameters p = nodes_parameters();
	struct nodes *nodes = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct change change = rows[i].change;

		nodes_run(nodes, &p, change_one, &change);
		says(&nodes->listener, rows[i].words);
		says(&nodes->initiator, rows[i].words);
	}
}

/* Both say who they are first; one that does not is asked nothing more. */
static void strangers(void **state)
{
	struct change change = { "hello", "end", NULL };
	const struct session_parameters p = nodes_parameters();
	struct nodes *nodes = *state;

	nodes_run(nodes, &p, change_one, &change);
	refused(&nodes->listener, "does not say which address");
	refused(&nodes->initiator, "does not say which address");
	/* an address to which there is no way */
	change.value = "{\"node\": \"n\", \"role\": \"listener\", \"double\": false,"
		       " \"fingerprint\": {}, \"path\":"
		       " {\"link\": \"l\", \"device\": \"d\", \"address\": \"203.0.113.9\"}}";
	nodes_run(nodes, &p, change_one, &change);
	refused(&nodes->listener, "203.0.113.9");
	refused(&nodes->initiator, "203.0.113.9");
	/* what could not stand in a record is refused before anything is run, and told */
	change.value = "{\"node\": \"n\", \"role\": \"listener\", \"double\": false, \"path\":"
		       " {\"link\": \"l\", \"device\": \"d\", \"address\": \"192.0.2.1\"}}";
	nodes_run(nodes, &p, change_one, &change);
	refused(&nodes->listener, "says of itself: an end without a fingerprint");
	refused(&nodes->initiator, "says of itself: an end without a fingerprint");
	/* another version of railhead, or one that says more, is none */
	change = (struct change){ "hello", "railhead", "\"99.0\"" };
	nodes_run(nodes, &p, change_one, &change);
	ran(nodes);
}

/* A double at one end is one in the records of both. */
static void doubles(void **state)
{
	struct change change = { "hello", "double", "true" };
	const struct session_parameters p = nodes_parameters();
	struct nodes *nodes = *state;

	nodes_run(nodes, &p, change_one, &change);
	ran(nodes);
	agree(nodes, "host");
	assert_true(json_get_bool(node_record(&nodes->listener, "host"), "double", false));
	assert_string_equal(text_at(node_record(&nodes->initiator, "host"), "/verdict/status"),
			    "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(end_to_end),
		cmocka_unit_test(suites),
		cmocka_unit_test(refusals),
		cmocka_unit_test(strangers),
		cmocka_unit_test(doubles),
	};

	return cmocka_run_group_tests_name("session", tests, nodes_open, nodes_close);
}
