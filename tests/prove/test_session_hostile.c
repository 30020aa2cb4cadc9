/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions in which the other end is gone after each message, says nothing, or lies: whoever is left
 * returns within its limits, with words, and keeps a record only of what was begun.
 */
#include "records.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "nodes.h"

/* Of each answer, for ends that wait in vain: long for a machine that does much else, short for
 * a hundred of them. */
#define SHORT_MS 400

/* All kinds of run, in as little as can be. */
static struct session_parameters everything(void)
{
	struct session_parameters p = nodes_parameters();

	p.seconds = 0.01;
	p.dscp = 24;
	return p;
}

/* What has to hold whatever the other end did. */
static void sound(const struct node *node, unsigned at, const char *what)
{
	json_t *record;
	size_t i;

	if (node->rc > 0 || (node->rc < 0 && (!node->err.message || !*node->err.message)))
		fail_msg("%s at %u: %d without words", what, at, node->rc);
	if (!node->rc && !node->records)
		fail_msg("%s at %u: it was run, and nothing is kept", what, at);
	json_array_foreach(node->records, i, record) {
		_cleanup_error_ struct error err = {0};

		if (proof_record_check(record, "record", &err) < 0)
			fail_msg("%s at %u: %s", what, at, error_text(&err));
		if (!json_array_size(json_object_get(record, "runs")))
			fail_msg("%s at %u: a record of nothing", what, at);
	}
	record = json_array_get(node->records, 0);
	if (node->rc < 0 && record &&
	    !strcmp(json_string_value(json_pointer_get(record, "/verdict/status")), "pass")) {
		/* only what comes after the runs over RC may be missing in it */
		if (json_array_size(node->records) < 2 &&
		    !json_is_object(json_pointer_get(record, "/peer/counters")))
			fail_msg("%s at %u: it passed, and has not ended", what, at);
	}
}

/* --- gone ------------------------------------------------------------------------------------- */

struct fate {
	unsigned at;
	enum middle_does does;
};

static enum middle_does meet_fate(void *arg, unsigned number, bool of_initiator RH_UNUSED,
				  json_t *message RH_UNUSED)
{
	const struct fate *fate = arg;

	return number == fate->at ? fate->does : MIDDLE_HANDS_ON;
}

static unsigned messages_of(struct nodes *nodes, const struct session_parameters *p)
{
	nodes_run(nodes, p, NULL, NULL);
	if (nodes->initiator.rc || nodes->listener.rc)
		fail_msg("%s / %s", error_text(&nodes->initiator.err),
			 error_text(&nodes->listener.err));
	return nodes->messages;
}

/* Both ends lose each other after k messages, for every k. */
static void gone(void **state)
{
	const struct session_parameters p = everything();
	struct nodes *nodes = *state;
	unsigned n = messages_of(nodes, &p);

	assert_true(n > 40);
	for (struct fate fate = { .does = MIDDLE_CUTS }; fate.at < n; fate.at++) {
		nodes_run(nodes, &p, meet_fate, &fate);
		sound(&nodes->initiator, fate.at, "gone");
		sound(&nodes->listener, fate.at, "gone");
		if (!nodes->initiator.rc && !nodes->listener.rc && fate.at + 1 < n)
			fail_msg("nobody missed the other end after %u messages", fate.at);
		/* hello, hello, parameters: nothing was agreed on */
		if (fate.at < 3 && (nodes->initiator.records || nodes->listener.records))
			fail_msg("a record after %u messages", fate.at);
	}
}

/* One message is not handed on, one of ten: both wait for it, and not for ever. */
static void silent(void **state)
{
	const struct session_parameters p = everything();
	struct nodes *nodes = *state;
	unsigned n = messages_of(nodes, &p);

	nodes->timeout_ms = SHORT_MS;
	for (struct fate fate = { .does = MIDDLE_KEEPS }; fate.at < n; fate.at += 10) {
		nodes_run(nodes, &p, meet_fate, &fate);
		sound(&nodes->initiator, fate.at, "silent");
		sound(&nodes->listener, fate.at, "silent");
		if (!nodes->initiator.rc && !nodes->listener.rc)
			fail_msg("nobody missed message %u", fate.at);
	}
	nodes->timeout_ms = 0;
}

/* --- lies ------------------------------------------------------------------------------------- */

struct lie {
	unsigned at;
	unsigned kind;
	char type[32];	/* of the message that was changed */
};

/* Every number and every text in it. */
static void change_leaves(json_t *value, json_t *number, json_t *text)
{
	json_t *member, *with;
	const char *key;
	size_t i;
	void *next;

	json_object_foreach_safe(value, next, key, member) {
		with = json_is_number(member) ? number : json_is_string(member) ? text : NULL;
		if (with && strcmp(key, "type"))
			json_object_set(value, key, with);
		change_leaves(member, number, text);
	}
	json_array_foreach(value, i, member) {
		with = json_is_number(member) ? number : json_is_string(member) ? text : NULL;
		if (with)
			json_array_set(value, i, with);
		change_leaves(member, number, text);
	}
}

static void only_type(json_t *message)
{
	const char *key;
	json_t *member;
	void *next;

	json_object_foreach_safe(message, next, key, member) {
		if (strcmp(key, "type"))
			json_object_del(message, key);
	}
}

static const struct {
	const char *name, *number, *text, *type;	/* JSON */
} kinds[] = {
	{ "no number", "\"7\"", NULL, NULL },
	{ "below", "-1", NULL, NULL },
	{ "zero", "0", NULL, NULL },
	{ "large", "9223372036854775807", NULL, NULL },
	{ "no integer", "1e300", NULL, NULL },
	{ "no text", NULL, "[]", NULL },
	{ "empty text", NULL, "\"\"", NULL },
	{ "strange text", NULL, "\"../%s%n\\u001b[2J\\u0000\"", NULL },
	{ "another step", NULL, NULL, "\"ready\"" },
	{ "no step", NULL, NULL, "17" },
	{ "nothing else", NULL, NULL, NULL },
};

static enum middle_does tell_lie(void *arg, unsigned number, bool of_initiator RH_UNUSED,
				 json_t *message)
{
	struct lie *lie = arg;

	if (number != lie->at)
		return MIDDLE_HANDS_ON;
	snprintf(lie->type, sizeof(lie->type), "%s", json_get_string(message, "type", ""));
	_cleanup_json_ json_t *n = kinds[lie->kind].number ?
		json_loads(kinds[lie->kind].number, JSON_DECODE_ANY, NULL) : NULL;
	_cleanup_json_ json_t *t = kinds[lie->kind].text ?
		json_loads(kinds[lie->kind].text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;

	if (n || t)
		change_leaves(message, n, t);
	else if (kinds[lie->kind].type)
		json_put(message, "type", json_loads(kinds[lie->kind].type, JSON_DECODE_ANY, NULL));
	else
		only_type(message);
	return MIDDLE_HANDS_ON;
}

/*
 * A message is a lie, one of three of a session, and the kinds of lies in turn. It may be one that
 * does no harm; who notices says so. (Each takes a second: who fails waits for the other's reasons.)
 */
static void lies(void **state)
{
	const struct session_parameters p = everything();
	struct nodes *nodes = *state;
	unsigned n = messages_of(nodes, &p), noticed = 0;

	nodes->timeout_ms = SHORT_MS;
	for (struct lie lie = {0}; lie.at < n; lie.at += 3) {
		lie.kind = lie.at * 7 % ARRAY_SIZE(kinds);
		_cleanup_free_ char *what = xasprintf("lie \"%s\"", kinds[lie.kind].name);

		nodes_run(nodes, &p, tell_lie, &lie);
		sound(&nodes->initiator, lie.at, what);
		sound(&nodes->listener, lie.at, what);
		noticed += nodes->initiator.rc < 0 && nodes->listener.rc < 0;
		if (kinds[lie.kind].type && strcmp(lie.type, "ready") && !nodes->initiator.rc &&
		    !nodes->listener.rc)
			fail_msg("message %u (%s) was taken for %s", lie.at, lie.type,
				 kinds[lie.kind].type);
	}
	nodes->timeout_ms = 0;
	/* most have a step, and many a number */
	assert_true(noticed > n / 3 / 4);
}

/* --- lies that a proof must not pass with ------------------------------------------------------ */

/* What each end saw is taken as a whole, or not at all. */
static enum middle_does take_out_kernel_log(void *arg RH_UNUSED, unsigned number RH_UNUSED,
					    bool of_initiator, json_t *message)
{
	if (!of_initiator && json_object_get(message, "counters"))
		json_object_del(message, "kernel_log");
	return MIDDLE_HANDS_ON;
}

static void half_an_outcome(void **state)
{
	const struct session_parameters p = nodes_parameters();
	struct nodes *nodes = *state;

	nodes_run(nodes, &p, take_out_kernel_log, NULL);
	assert_int_equal(nodes->initiator.rc, -EPROTO);
	json_t *record = node_record(&nodes->initiator, "host");
	assert_null(json_pointer_get(record, "/peer/counters"));
	assert_string_equal(json_string_value(json_pointer_get(record, "/verdict/status")),
			    "unknown");
}

/* Of the second stage, the one of marking. */
static enum middle_does change_second_endpoint(void *arg, unsigned number RH_UNUSED,
					       bool of_initiator, json_t *message)
{
	unsigned *seen = arg;

	if (of_initiator && !strcmp(json_get_string(message, "type", ""), "endpoint") &&
	    ++*seen == 2)
		only_type(message);
	return MIDDLE_HANDS_ON;
}

static void marking_is_told_when_it_does_not_begin(void **state)
{
	const struct session_parameters p = everything();
	struct nodes *nodes = *state;
	unsigned seen = 0;

	nodes_run(nodes, &p, change_second_endpoint, &seen);
	assert_true(nodes->listener.rc < 0 && nodes->initiator.rc < 0);
	for (int i = 0; i < 2; i++) {
		const struct node *node = i ? &nodes->listener : &nodes->initiator;
		json_t *run = json_pointer_get(node_record(node, "marking"), "/runs/0");
		const char *error = json_get_string(run, "error", NULL);

		assert_string_equal(json_get_string(run, "run", ""), "marking");
		assert_non_null(error);
		assert_non_null(strstr(error_text(&node->err), error));
	}
}

/* perftest is started with these numbers. */
static enum middle_does tell_of_many_queue_pairs(void *arg, unsigned number RH_UNUSED,
						 bool of_initiator, json_t *message)
{
	json_t *result = json_object_get(message, "result");

	if (!of_initiator && json_object_get(result, "qps"))
		json_put_int(result, arg, 2000000000);
	return MIDDLE_HANDS_ON;
}

static void numbers_of_perftest_are_checked(void **state)
{
	static const char *const keys[] = { "size_bytes", "qps", "depth" };
	struct session_parameters p = nodes_parameters();
	struct nodes *nodes = *state;

	p.seconds = 0.01;
	p.compare = true;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		char key[16];

		snprintf(key, sizeof(key), "%s", keys[i]);
		nodes_run(nodes, &p, tell_of_many_queue_pairs, key);
		if (nodes->initiator.rc != -EPROTO ||
		    !strstr(error_text(&nodes->initiator.err), key))
			fail_msg("%s: %d, %s", key, nodes->initiator.rc,
				 error_text(&nodes->initiator.err));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gone),
		cmocka_unit_test(silent),
		cmocka_unit_test(lies),
		cmocka_unit_test(half_an_outcome),
		cmocka_unit_test(marking_is_told_when_it_does_not_begin),
		cmocka_unit_test(numbers_of_perftest_are_checked),
	};

	return cmocka_run_group_tests_name("session_hostile", tests, nodes_open, nodes_close);
}
