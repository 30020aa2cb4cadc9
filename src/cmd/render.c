/* SPDX-License-Identifier: Apache-2.0 */
/* railhead render: plan, render, write or compare. */
#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"

#include "base/strbuf.h"
#include "base/text.h"
#include "plan/plan.h"
#include "render/folder.h"
#include "report/report.h"

static int usage_check(const struct cmd_args *args, struct error *err)
{
	if (args->diff && args->folder)
		return error_set(err, -EINVAL, "render: --diff writes nothing: leave out -o");
	if (!args->diff && (!args->folder || !args->folder[0]))
		return error_set(err, -EINVAL, "render: say where to write with -o DIR, or what to "
				 "compare with with --diff DIR");
	if (args->diff && args->force)
		return error_set(err, -EINVAL, "render: --force has no meaning with --diff");
	return 0;
}

/* With values of the site in it: a terminal shall not obey them. */
static void print_safe(const char *before, const char *text)
{
	_cleanup_free_ char *safe = text_printable(text, strlen(text));

	fprintf(stderr, "railhead: %s%s\n", before, safe);
}

static void print_verdict(const struct verdict *v)
{
	_cleanup_free_ char *summary = text_printable(v->summary, strlen(v->summary));

	fprintf(stderr, "  %-8s %s: %s\n", verdict_status_name(v->status), v->gate->id, summary);
}

/* What stands against the plan, on standard error. Returns whether it forbids to render: a gate
 * that is unknown or waits for another one does not. */
static bool plan_forbids(const struct ladder *ladder, const struct cmd_args *args)
{
	size_t failed = ladder->counts[VERDICT_FAIL];
	size_t open = ladder->counts[VERDICT_UNKNOWN] + ladder->counts[VERDICT_BLOCKED];

	if (!failed && (!open || args->quiet))
		return false;
	fprintf(stderr, "railhead: the plan of this site %s:\n",
		failed ? "fails" : "is not complete");
	for (size_t i = 0; i < ladder->n_verdicts; i++) {
		enum verdict_status status = ladder->verdicts[i].status;

		if (status == VERDICT_FAIL || status == VERDICT_UNKNOWN ||
		    status == VERDICT_BLOCKED)
			print_verdict(&ladder->verdicts[i]);
	}
	fprintf(stderr, "`railhead plan %s` says why, and which ways out there are.\n",
		args->operands[0]);
	if (failed && !args->force && !args->diff)
		fprintf(stderr, "Nothing was written. --force renders the site as it is declared.\n");
	return failed && !args->force && !args->diff;
}

static void print_summary(const struct render *r, const struct render_result *result,
			  const struct cmd_args *args)
{
	static const char begin[] = "runbook.md";

	for (char **note = r->notes; !args->quiet && note && *note; note++)
		print_safe("note: ", *note);
	for (char **kept = result->kept; kept && *kept; kept++)
		print_safe("kept ", *kept);
	printf("%s: %zu files, %zu new, %zu changed, %zu removed\n", args->folder,
	       r->n_files + RENDER_OWN_FILES, result->written, result->changed, result->removed);
	for (size_t i = 0; !args->quiet && i < r->n_files; i++) {
		if (!strcmp(r->files[i]->path, begin))
			printf("Begin with %s/%s.\n", args->folder, begin);
	}
}

static int write_files(const struct render *r, const struct cmd_args *args, struct error *err)
{
	_cleanup_render_result_ struct render_result result = {0};
	int rc = render_write(r, args->folder, args->force, &result, err);

	if (rc < 0)
		return cmd_complain(rc == -EEXIST || rc == -EINVAL ? CMD_USAGE : CMD_INTERNAL, err);
	print_summary(r, &result, args);
	return CMD_OK;
}

static int show_difference(const struct render *r, const struct cmd_args *args, struct error *err)
{
	_cleanup_strbuf_ struct strbuf difference = {0};
	size_t changed;
	int rc = render_diff(r, args->diff, &difference, &changed, err);

	if (rc < 0)
		return cmd_complain(CMD_USAGE, err);
	if (!args->quiet &&
	    cmd_output_write(args, strbuf_str(&difference), difference.len, err) < 0)
		return cmd_complain(CMD_INTERNAL, err);
	return changed ? CMD_NOT_PROVEN : CMD_OK;
}

int cmd_render(const struct cmd_args *args)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_site_ struct site *site = NULL;
	_cleanup_matrix_ struct matrix *matrix = NULL;
	_cleanup_ladder_ struct ladder *ladder = NULL;
	_cleanup_render_ struct render r = {0};

	if (usage_check(args, &err) < 0 || matrix_load(&matrix, args->data, &err) < 0 ||
	    site_load(&site, args->operands[0], &err) < 0)
		return cmd_complain(CMD_USAGE, &err);
	if (plan_judge(&ladder, site, matrix, &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	if (plan_forbids(ladder, args))
		return CMD_NOT_PROVEN;
	r.site = site;
	r.matrix = matrix;
	r.korean = args->language && !strcmp(args->language, "ko");
	r.plan = report_document(ladder);
	if (render_site(&r, &err) < 0)
		return cmd_complain(CMD_USAGE, &err);
	return args->diff ? show_difference(&r, args, &err) : write_files(&r, args, &err);
}
