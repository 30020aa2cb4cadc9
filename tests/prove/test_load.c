/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time: what a machine tells, what grew, and what the other end may say of itself. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "prove/load.h"
#include "records.h"

static void read_of(struct load *load, const char *root, const char *text)
{
	_cleanup_free_ char *folder = xasprintf("%s/proc", root);
	_cleanup_free_ char *path = xasprintf("%s/stat", folder);
	struct host_options options = { .root = root };
	_cleanup_(host) struct host *host = NULL;

	mkdir(folder, 0700);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(host_open(&host, &options, NULL), 0);
	load_read(load, host);
}

/* Ticks are 1/100 s for programs, whatever the kernel's own are. */
static void busy(void **state)
{
	char *root = records_folder_new();
	struct load before, after;

	(void)state;
	read_of(&before, root, "cpu  100 20 30 4000 500 6 7 8 90 10\ncpu0 9 9 9 9 9 9 9 9 9 9\n"
			       "intr 5\n");
	assert_true(before.host_known);
	assert_true(before.host_us == 171u * 10000);
	/* idle and waiting for devices is no load; a guest's time is in that of its user */
	read_of(&after, root, "cpu  101 22 33 9999 9999 10 12 14 99 99\n");
	assert_true(after.host_us == 192u * 10000);
	_cleanup_json_ json_t *used = load_difference(&before, &after);
	assert_true(json_number_value(json_object_get(used, "host_ms")) == 210);
	assert_true(json_number_value(json_object_get(used, "process_ms")) >= 0);
	/* one that went back tells nothing */
	_cleanup_json_ json_t *back = load_difference(&after, &before);
	assert_null(json_object_get(back, "host_ms"));
	records_folder_remove(root);
	free(root);
}

static void not_known(void **state)
{
	static const char *const texts[] = { "", "cpu", "cpu  1 2 3\n", "cpu  1 2 3 4 5 6 x 8\n",
					     "cpu0 1 2 3 4 5 6 7 8\n", "cpu  1 2 3 4 5 6 -7 8\n" };
	char *root = records_folder_new();
	struct load load;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		read_of(&load, root, texts[i]);
		if (load.host_known)
			fail_msg("\"%s\" was taken", texts[i]);
		assert_true(load.process_known);
		_cleanup_json_ json_t *used = load_difference(&load, &load);
		assert_null(json_object_get(used, "host_ms"));
	}
	records_folder_remove(root);
	free(root);
}

static double number(json_t *facts, const char *key)
{
	return json_number_value(json_object_get(facts, key));
}

static void by_size(void **state)
{
	_cleanup_json_ json_t *told = json_pack("{s:f,s:i}", "process_ms", 30.0, "host_ms", 45);
	_cleanup_json_ json_t *facts = NULL, *latency = NULL;

	(void)state;
	assert_int_equal(load_facts(&facts, told, 2500000000u, NULL), 0);
	assert_true(number(facts, "process_ms") == 30 && number(facts, "host_ms") == 45);
	assert_true(number(facts, "process_ms_per_gb") == 12);
	assert_true(number(facts, "host_ms_per_gb") == 18);
	assert_int_equal(load_facts(&latency, told, 0, NULL), 0);
	assert_int_equal(json_object_size(latency), 2);
}

static void told_by_others(void **state)
{
	static const struct {
		const char *told;
		int rc;
		size_t members;
	} rows[] = {
		{ "{}", 0, 0 },
		{ "{\"host_ms\": 7}", 0, 2 },
		{ "{\"process_ms\": 0, \"process_ms_per_gb\": 1e9, \"more\": [1]}", 0, 2 },
		{ "[]", -EPROTO, 0 },
		{ "{\"host_ms\": -1}", -EPROTO, 0 },
		{ "{\"host_ms\": 1e16}", -EPROTO, 0 },
		{ "{\"host_ms\": \"7\"}", -EPROTO, 0 },
		{ "{\"host_ms\": null}", -EPROTO, 0 },
		{ "{\"process_ms\": true, \"host_ms\": 7}", -EPROTO, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_json_ json_t *told = json_loads(rows[i].told, 0, NULL), *facts = NULL;
		_cleanup_error_ struct error err = {0};

		if (load_facts(&facts, told, 1000, &err) != rows[i].rc)
			fail_msg("%s: %s", rows[i].told, error_text(&err));
		assert_int_equal(json_object_size(facts), rows[i].members);
	}
	assert_int_equal(load_facts(&(json_t *){NULL}, NULL, 1, NULL), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(busy),
		cmocka_unit_test(not_known),
		cmocka_unit_test(by_size),
		cmocka_unit_test(told_by_others),
	};

	return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
