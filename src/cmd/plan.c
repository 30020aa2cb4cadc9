/* SPDX-License-Identifier: Apache-2.0 */
/* railhead plan: judge a site on paper. */
#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "cmd/reports.h"
#include "plan/plan.h"

/* The site file is the operand or --site, not both. */
static int site_path(const char **path, const struct cmd_args *args, struct error *err)
{
	*path = args->n_operands ? args->operands[0] : args->site;
	if (args->site && args->n_operands)
		return error_set(err, -EINVAL, "plan: the site is named twice, '%s' and --site %s",
				 args->operands[0], args->site);
	if (args->matrix && *path)
		return error_set(err, -EINVAL, "plan: --matrix takes no site");
	if (!args->matrix && !*path)
		return error_set(err, -EINVAL, "plan: SITE is missing");
	return 0;
}

static int usage_check(const struct cmd_args *args, struct error *err)
{
	const char *mode = args->matrix	    ? "--matrix" :
			   args->components ? "--components" :
			   args->upgrades   ? "--upgrade" :
					      NULL;

	if (!!args->matrix + !!args->components + !!args->upgrades > 1)
		return error_set(err, -EINVAL,
				 "plan: --matrix, --components and --upgrade exclude each other");
	if (mode && args->format && strcmp(args->format, "text") && strcmp(args->format, "json"))
		return error_set(err, -EINVAL, "plan: %s prints text or json, not %s", mode,
				 args->format);
	return 0;
}

/* Judge one site: its document, and whether it passed. -EINVAL: the site file is wrong. */
static int plan_site(json_t **document, const struct site *site, const struct matrix *matrix,
		     struct error *err)
{
	_cleanup_ladder_ struct ladder *ladder = NULL;
	int rc = plan_judge(&ladder, site, matrix, err);

	if (rc < 0)
		return rc;
	_cleanup_json_ json_t *components = plan_components(site, matrix);
	_cleanup_json_ json_t *buffers = plan_buffers(site, matrix);
	*document = report_plan_document(ladder, components, buffers);
	return 0;
}

static int exit_status(json_t *document)
{
	return json_get_bool(json_object_get(document, "result"), "passed", false) ? CMD_OK :
										     CMD_NOT_PROVEN;
}

static int print_matrix(const struct matrix *matrix, const struct cmd_args *args)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_json_ json_t *document = matrix_document(matrix);

	if (cmd_document_print(report_matrix, document, args, &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	return CMD_OK;
}

/* The site as it would be; where an upgrade leads nowhere, the message says that it came from
 * there and not from the file. */
static int load_upgraded(struct site **site, const char *path, const char *const *upgrades,
			 struct error *err)
{
	_cleanup_strbuf_ struct strbuf b = {0};
	int rc = site_load_with(site, path, upgrades, err);

	/* a value that is wrong in itself is named already */
	if (rc == 0 || !strncmp(error_text(err), "--upgrade", strlen("--upgrade")))
		return rc;
	for (size_t i = 0; upgrades[i]; i++)
		strbuf_printf(&b, "%s--upgrade %s", i ? " " : "", upgrades[i]);
	return error_wrap(err, "with %s", strbuf_str(&b));
}

static int print_changes(const struct site *site, const char *path, const struct matrix *matrix,
			 const struct cmd_args *args)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_site_ struct site *upgraded = NULL;
	_cleanup_json_ json_t *before = NULL, *after = NULL;

	if (load_upgraded(&upgraded, path, args->upgrades, &err) < 0)
		return cmd_complain(CMD_USAGE, &err);
	if (plan_site(&before, site, matrix, &err) < 0 ||
	    plan_site(&after, upgraded, matrix, &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	_cleanup_json_ json_t *difference = plan_difference(before, after);
	_cleanup_json_ json_t *document =
		report_difference_document(before, after, difference, args->upgrades);

	if (cmd_document_print(report_difference, document, args, &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	return exit_status(after);
}

static int print_plan(const struct site *site, const struct matrix *matrix,
		      const struct cmd_args *args)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_json_ json_t *document = NULL;

	if (plan_site(&document, site, matrix, &err) < 0 ||
	    cmd_report_write(document, args, &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	return exit_status(document);
}

/* The bill says what a site needs, whatever the gates say: it has no verdict. */
static int print_components(const struct site *site, const struct matrix *matrix,
			    const struct cmd_args *args)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_json_ json_t *components = plan_components(site, matrix);
	_cleanup_json_ json_t *about = json_object_new();

	json_put_string(about, "name", site->name);
	json_put_string(about, "path", site->path);
	_cleanup_json_ json_t *document = report_components_document(about, components);
	if (cmd_document_print(report_components, document, args, &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	return CMD_OK;
}

int cmd_plan(const struct cmd_args *args)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_matrix_ struct matrix *matrix = NULL;
	_cleanup_site_ struct site *site = NULL;
	const char *path;

	if (usage_check(args, &err) < 0 || site_path(&path, args, &err) < 0 ||
	    matrix_load(&matrix, args->data, &err) < 0 ||
	    (path && site_load(&site, path, &err) < 0))
		return cmd_complain(CMD_USAGE, &err);
	if (args->matrix)
		return print_matrix(matrix, args);
	if (args->components)
		return print_components(site, matrix, args);
	if (args->upgrades)
		return print_changes(site, path, matrix, args);
	return print_plan(site, matrix, args);
}
