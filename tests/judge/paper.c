/* SPDX-License-Identifier: Apache-2.0 */
#include "paper.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "matrix/matrix.h"

static struct matrix *matrix;
static struct site *site;
static struct ladder *ladder;
static char *folder, *file;	/* tables of this test; NULL: those of the source */

static void clear(void)
{
	if (ladder)
		ladder_free(ladder);
	if (site)
		site_free(site);
	matrix_free(matrix);
	ladder = NULL;
	site = NULL;
	matrix = NULL;
}

int paper_close(void **state)
{
	(void)state;
	clear();
	if (file)
		unlink(file);
	if (folder)
		rmdir(folder);
	free(file);
	free(folder);
	file = folder = NULL;
	return 0;
}

void paper_table(const char *table, const char *rows)
{
	FILE *f;

	paper_close(NULL);
	folder = xstrdup("/tmp/railhead-paper-XXXXXX");
	assert_non_null(mkdtemp(folder));
	file = xasprintf("%s/%s.yaml", folder, table);
	f = fopen(file, "w");
	assert_non_null(f);
	fprintf(f, "schema: " MATRIX_SCHEMA "\ntable: %s\nrows:\n%s"
		   "    source: test\n    date: \"2026-01-01\"\n    confidence: read\n", table, rows);
	assert_int_equal(fclose(f), 0);
}

static void open_matrix(void)
{
	_cleanup_error_ struct error err = {0};

	clear();
	if (matrix_load(&matrix, folder ? folder : RAILHEAD_SOURCE "/data", &err))
		fail_msg("matrix: %s", error_text(&err));
}

static void judge(const struct gate *const *gates, size_t n)
{
	struct judge_input input = {
		.site = site, .paper = true, .matrix = matrix, .gates = gates, .n_gates = n,
	};

	assert_int_equal(judge_all(&ladder, &input, NULL), 0);
}

const struct verdict *paper_judge(const char *gate, const char *const *sections)
{
	_cleanup_strbuf_ struct strbuf text = {0};
	_cleanup_error_ struct error err = {0};
	const struct gate *gates[] = { gate_find(gate) };

	assert_non_null(gates[0]);
	open_matrix();
	for (; *sections; sections++)
		strbuf_puts(&text, *sections);
	if (site_parse(&site, strbuf_str(&text), text.len, "site.yaml", &err))
		fail_msg("%s\n%s", error_text(&err), strbuf_str(&text));
	judge(gates, 1);
	assert_int_equal(ladder->n_verdicts, 1);
	return &ladder->verdicts[0];
}

const struct ladder *paper_load(const char *path)
{
	_cleanup_error_ struct error err = {0};

	open_matrix();
	if (site_load(&site, path, &err))
		fail_msg("%s", error_text(&err));
	judge(NULL, 0);
	return ladder;
}

static const struct cause *cause_of(const struct verdict *v, const char *id)
{
	for (size_t i = 0; i < v->n_causes; i++) {
		if (!strcmp(v->causes[i].id, id))
			return &v->causes[i];
	}
	fail_msg("%s has no cause %s", v->gate->id, id);
	return NULL;
}

size_t paper_options(const struct verdict *v, const char *cause)
{
	const struct cause *c = cause_of(v, cause);
	size_t n = 0;

	while (c->options && c->options[n])
		n++;
	return n;
}

void paper_option(const struct verdict *v, const char *cause, const char *text)
{
	const struct cause *c = cause_of(v, cause);

	for (char **o = c->options; o && *o; o++) {
		if (strstr(*o, text))
			return;
	}
	fail_msg("%s: no option of %s says \"%s\"", v->gate->id, cause, text);
}

void paper_unverified(const struct verdict *v, const char *gate, const char *text)
{
	for (size_t i = 0; i < v->n_unverified; i++) {
		const struct unverified *u = &v->unverified[i];

		if ((gate ? u->gate && !strcmp(u->gate, gate) : !u->gate) && strstr(u->text, text))
			return;
	}
	fail_msg("%s leaves nothing unverified for %s with \"%s\"", v->gate->id, gate ? gate : "-",
		 text);
}

void paper_assumed(const struct verdict *v, const char *text)
{
	for (char **a = v->assumed; a && *a; a++) {
		if (strstr(*a, text))
			return;
	}
	fail_msg("%s does not assume \"%s\"", v->gate->id, text);
}

void paper_obtain(const struct verdict *v, const char *text)
{
	if (!v->obtain || !strstr(v->obtain, text))
		fail_msg("%s: \"%s\" does not name %s", v->gate->id, v->obtain ? v->obtain : "",
			 text);
}

void paper_cases(const char *gate, const struct paper_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct paper_case *c = &cases[i];
		const struct verdict *v = paper_judge(gate, c->sections);

		print_message("# %s: %s\n", gate, c->what);
		scene_status(v, c->status);
		if (c->cause)
			scene_cause(v, c->cause, c->text);
		else if (v->n_causes)
			fail_msg("cause %s: %s", v->causes[0].id, v->causes[0].text);
		else if (c->text)
			scene_summary(v, c->text);
		if (c->obtain)
			paper_obtain(v, c->obtain);
		/* a fail or warn says what to do */
		for (size_t k = 0; k < v->n_causes; k++) {
			if (!v->causes[k].fix && !v->causes[k].options)
				fail_msg("%s has neither fix nor options", v->causes[k].id);
		}
	}
}
