/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a hand-made ladder for test_formats.py:
 *	report-fixture NAME FORMAT [width=N] [verbose=N] [ascii] [colour] [quiet] [reread]
 *		[proofs=FILE]
 * `reread` writes it as JSON first and makes the form from what that reads back as. `proofs` adds a
 * list of proof records. NAME may be "gates", "explain:GATE", "plan", "plan-good", "components",
 * "difference" or "records", which is that list for itself.
 */
#include <string.h>

#include "fixture.h"
#include "base/alloc.h"
#include "plan/plan.h"
#include "report/report.h"

static int reread(json_t **document, struct error *err)
{
	_cleanup_free_ char *text = json_to_text(*document, true);
	_cleanup_json_ json_t *parsed = NULL;
	int rc = json_parse(&parsed, text, strlen(text), "report.json", err);

	json_decref(*document);
	*document = NULL;
	return rc < 0 ? rc : report_read(document, parsed, "report.json", err);
}

static int print_components(const struct report_options *o, struct error *err)
{
	_cleanup_json_ json_t *plan = fixture_plan(true), *components = fixture_components();
	_cleanup_json_ json_t *document =
		report_components_document(json_object_get(plan, "site"), components);

	return report_components(stdout, document, o, err);
}

static int print_difference(const struct report_options *o, struct error *err)
{
	static const char *const upgrades[] = { "gpuOperator.version=v26.7.0\033[31m", NULL };
	_cleanup_json_ json_t *before = fixture_plan(false), *after = fixture_plan(true);
	_cleanup_json_ json_t *changes = plan_difference(before, after);
	_cleanup_json_ json_t *document =
		report_difference_document(before, after, changes, upgrades);

	return report_difference(stdout, document, o, err);
}

static json_t *document_of(const char *name, json_t *proofs)
{
	_cleanup_ladder_ struct ladder *ladder = fixture_ladder(name);

	if (!strncmp(name, "plan", 4))
		return fixture_plan(!strcmp(name, "plan-good"));
	json_t *document = ladder ? report_document(ladder) : NULL;
	if (document && proofs)
		report_put_proofs(document, proofs);
	return document;
}

static int print(const char *name, const struct report_options *o, bool again, json_t *proofs,
		 struct error *err)
{
	_cleanup_json_ json_t *document = NULL;
	size_t n;
	const struct gate *const *gates = fixture_gates(&n);
	int rc;

	if (!strcmp(name, "gates"))
		return report_gates(stdout, gates, n, o, err);
	if (!strncmp(name, "explain:", 8)) {
		for (size_t i = 0; i < n; i++) {
			if (!strcmp(gates[i]->id, name + 8))
				return report_explain(stdout, gates[i], o, err);
		}
	}
	if (!strcmp(name, "components"))
		return print_components(o, err);
	if (!strcmp(name, "difference"))
		return print_difference(o, err);
	if (!strcmp(name, "records"))
		return report_proofs(stdout, proofs, o, err);
	document = document_of(name, proofs);
	if (!document)
		return error_set(err, -22, "no fixture \"%s\"", name);
	rc = again ? reread(&document, err) : 0;
	return rc < 0 ? rc : report_write_document(stdout, document, o, err);
}

int main(int argc, char **argv)
{
	struct report_options options = {.width = 80};
	_cleanup_error_ struct error err = {0};
	_cleanup_json_ json_t *proofs = NULL;
	bool again = false;
	int rc = argc < 3 ? error_set(&err, -22, "usage: report-fixture NAME FORMAT [OPTION]…") :
			    report_format_from_name(&options.format, argv[2], &err);

	for (int i = 3; i < argc; i++) {
		if (!strncmp(argv[i], "width=", 6))
			options.width = (unsigned)atoi(argv[i] + 6);
		else if (!strncmp(argv[i], "verbose=", 8))
			options.verbose = (unsigned)atoi(argv[i] + 8);
		else if (!strncmp(argv[i], "proofs=", 7))
			proofs = json_load_file(argv[i] + 7, 0, NULL);
		options.ascii |= !strcmp(argv[i], "ascii");
		options.colour |= !strcmp(argv[i], "colour");
		options.quiet |= !strcmp(argv[i], "quiet");
		again |= !strcmp(argv[i], "reread");
	}
	if (!rc)
		rc = print(argv[1], &options, again, proofs, &err);
	if (rc < 0)
		fprintf(stderr, "report-fixture: %s\n", error_text(&err));
	return rc < 0;
}
