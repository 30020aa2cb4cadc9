/* SPDX-License-Identifier: Apache-2.0 */
/* What `railhead prove` makes of the records of a proof: a document in each form, files, a status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "cmd/prove_here.h"

struct place {
	char *folder, *store, *output;
	json_t *records;	/* one, that passed */
	struct prove_here here;
	struct cmd_args args;
};

static int place_open(void **state)
{
	static struct place p;

	p = (struct place){ .folder = xstrdup("/tmp/railhead-conclude-XXXXXX") };
	assert_non_null(mkdtemp(p.folder));
	p.store = xasprintf("%s/store", p.folder);
	p.output = xasprintf("%s/output", p.folder);
	p.records = json_array_new();
	json_t *record = json_load_file(RAILHEAD_SOURCE "/tests/data/proofs/host-aistor-01.json", 0,
					NULL);
	assert_non_null(record);
	json_put_string(json_object_get(record, "verdict"), "status", "pass");
	json_append(p.records, record);
	p.here.options.store = p.store;
	p.args.output = p.output;
	p.args.quiet = true;
	assert_int_equal(mkdir(p.store, 0700), 0);
	*state = &p;
	return 0;
}

static int place_close(void **state)
{
	struct place *p = *state;
	_cleanup_free_ char *remove = xasprintf("rm -rf '%s'", p->folder);

	assert_int_equal(system(remove), 0);
	free(p->folder);
	free(p->store);
	free(p->output);
	json_decref(p->records);
	return 0;
}

static int conclude(struct place *p, int rc, const char *why)
{
	_cleanup_error_ struct error err = {0};

	if (rc < 0)
		error_set(&err, rc, "%s", why);
	return prove_conclude(p->records, &p->here, &p->args, rc, &err);
}

static char *output_of(const struct place *p)
{
	FILE *f = fopen(p->output, "r");
	char *text = NULL;
	size_t size = 0;

	assert_non_null(f);
	assert_true(getdelim(&text, &size, '\0', f) > 0);
	fclose(f);
	return text;
}

static size_t files_in(const char *folder)
{
	_cleanup_free_ char *list = xasprintf("ls '%s' | wc -l", folder);
	FILE *f = popen(list, "r");
	size_t n = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%zu", &n), 1);
	pclose(f);
	return n;
}

static void each_form(void **state)
{
	static const struct {
		const char *format, *begins, *has;
	} forms[] = {
		{ NULL, "", "aistor-01" },
		{ "text", "", "aistor-01" },
		{ "json", "[", "\"schema\"" },
		{ "html", "<!DOCTYPE html>", "</html>" },
	};
	struct place *p = *state;

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		p->args.format = forms[i].format;
		assert_int_equal(conclude(p, 0, NULL), CMD_OK);
		_cleanup_free_ char *text = output_of(p);
		if (strncasecmp(text, forms[i].begins, strlen(forms[i].begins)) ||
		    !strstr(text, forms[i].has))
			fail_msg("%s: %.200s", forms[i].format, text);
	}
}

static void status_is_the_worst(void **state)
{
	struct place *p = *state;
	json_t *second = json_deep_copy(json_array_get(p->records, 0));

	assert_int_equal(conclude(p, 0, NULL), CMD_OK);
	/* all that was run passed, and not all was run */
	assert_int_equal(conclude(p, -ECONNRESET, "the other end is gone"), CMD_NOT_PROVEN);
	json_put_string(json_object_get(second, "verdict"), "status", "unknown");
	json_append(p->records, second);
	assert_int_equal(conclude(p, 0, NULL), CMD_NOT_PROVEN);
}

/* Nobody can repeat what was seen: it is kept even where it cannot be shown, and the other way. */
static void one_of_both_fails(void **state)
{
	struct place *p = *state;

	_cleanup_free_ char *below_a_file = xasprintf("%s/store", p->output);

	p->args.output = "/nowhere/output";
	assert_int_equal(conclude(p, 0, NULL), CMD_INTERNAL);
	assert_int_equal(files_in(p->store), 1);
	p->args.output = p->output;
	assert_int_equal(conclude(p, 0, NULL), CMD_OK);
	p->here.options.store = below_a_file;
	assert_int_equal(conclude(p, 0, NULL), CMD_INTERNAL);
	_cleanup_free_ char *text = output_of(p);
	assert_non_null(strstr(text, "aistor-01"));
}

int main(void)
{
#define PLACE(f) cmocka_unit_test_setup_teardown(f, place_open, place_close)
	const struct CMUnitTest tests[] = {
		PLACE(each_form),
		PLACE(status_is_the_worst),
		PLACE(one_of_both_fails),
	};

	return cmocka_run_group_tests_name("prove_conclude", tests, NULL, NULL);
}
