/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the support matrix, declared values, and nodes that are alike. */
#include "judge/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "matrix/operator.h"

/* --- the support matrix ----------------------------------------------------------------------- */

json_t *plan_rows(const struct judging *g, const char *table)
{
	/* json_array_foreach() walks NULL as an empty array */
	return g->matrix ? matrix_rows(g->matrix, table) : NULL;
}

json_t *plan_row(const struct judging *g, const char *table, const char *key, const char *value)
{
	return g->matrix ? matrix_row(g->matrix, table, key, value) : NULL;
}

const char *plan_row_text(struct judging *g, json_t *row)
{
	const char *confidence = json_get_string(row, "confidence", "read");

	return judge_text(g, "%s, seen %s%s%s", json_get_string(row, "source", "?"),
			  json_get_string(row, "date", "?"),
			  strcmp(confidence, "read") ? ", " : "",
			  strcmp(confidence, "read") ? confidence : "");
}

/* Bytes of the first `parts` numbers of a dotted version. */
static size_t leading(const char *version, unsigned parts)
{
	size_t len = 0;

	while (version[len] && (version[len] != '.' || --parts))
		len++;
	return len;
}

const char *plan_line(struct judging *g, const char *version)
{
	const char *number = text_version_number(version);

	return judge_text(g, "%.*s", (int)leading(number, 2), number);
}

/* `version`, cut to as many numbers as `end` has, against `end`. */
static int against(const char *version, const char *end)
{
	unsigned parts = 1;

	for (const char *s = end; *s; s++)
		parts += *s == '.';

	_cleanup_free_ char *cut = xstrndup(version, leading(version, parts));

	return text_version_compare(cut, end);
}

bool plan_in_range(const char *version, json_t *range)
{
	const char *number = text_version_number(version);

	return against(number, text_version_number(json_get_string(range, "min", "0"))) >= 0 &&
	       against(number, text_version_number(json_get_string(range, "max", "0"))) <= 0;
}

const char *plan_range_text(struct judging *g, json_t *range)
{
	return judge_text(g, "%s to %s", json_get_string(range, "min", "?"),
			  json_get_string(range, "max", "?"));
}

bool plan_has(json_t *texts, const char *text)
{
	json_t *item;
	size_t i;

	json_array_foreach(texts, i, item) {
		if (json_is_string(item) && !strcmp(json_string_value(item), text))
			return true;
	}
	return false;
}

const char *plan_list(struct judging *g, json_t *texts, size_t most)
{
	_cleanup_strbuf_ struct strbuf b = {0};
	size_t n = json_array_size(texts), shown = n > most ? most : n, i;
	json_t *item;

	json_array_foreach(texts, i, item) {
		if (i == shown)
			break;
		if (i)
			strbuf_puts(&b, i + 1 == n ? " and " : ", ");
		strbuf_puts(&b, json_string_value(item) ?: "?");
	}
	if (n > shown)
		strbuf_printf(&b, " and %zu more", n - shown);
	return judge_text(g, "%s", strbuf_str(&b));
}

/* --- declarations ----------------------------------------------------------------------------- */

const char *plan_helm(struct judging *g, const char *key)
{
	_cleanup_free_ char *pointer = operator_pointer(g->site, key);

	if (pointer)
		declared_at(g, pointer);
	return operator_value(g->site, key);
}

bool plan_helm_bool(struct judging *g, bool fallback, const char *key)
{
	const char *value = plan_helm(g, key);

	if (!value || !strcmp(value, "false"))
		return value ? false : fallback;
	if (strcmp(value, "true"))
		judge_unknown(g, judge_text(g, "write %s as true or false", key),
			      "%s is '%s', which is neither true nor false", key, value);
	return !strcmp(value, "true") || fallback;
}

static json_t *default_driver_row(struct judging *g, const char *operator_version)
{
	json_t *row;
	size_t i;

	json_array_foreach(plan_rows(g, "gpu-drivers"), i, row) {
		if (!strcmp(text_version_number(json_get_string(row, "operator", "")),
			    text_version_number(operator_version)) &&
		    json_get_bool(row, "default", false))
			return row;
	}
	return NULL;
}

const char *plan_operator_version(struct judging *g)
{
	const char *version = declared_string(g, "/gpu_operator/version");

	if (!version)
		judge_unknown(g, "declare gpu_operator/version",
			      "the version of the GPU Operator is not declared");
	return version;
}

const char *plan_gpu_driver(struct judging *g)
{
	const char *version = plan_helm(g, "driver.version");
	const char *operator_version;
	json_t *row;

	/* the default is of the driver container, not of what a host has */
	if (version || !plan_helm_bool(g, true, "driver.enabled"))
		return version;
	operator_version = declared_string(g, "/gpu_operator/version");
	row = operator_version ? default_driver_row(g, operator_version) : NULL;
	if (!row)
		return NULL;
	fact_row(g, row);
	version = json_get_string(row, "version", NULL);
	judge_assume(g, "GPU driver %s, the default of GPU Operator %s", version, operator_version);
	return version;
}

json_t *plan_gpu_driver_row(struct judging *g, const char *operator_version, const char *driver)
{
	json_t *row, *branch = NULL;
	size_t i, len = leading(driver, 1);

	json_array_foreach(plan_rows(g, "gpu-drivers"), i, row) {
		const char *version = json_get_string(row, "version", "");

		if (strcmp(text_version_number(json_get_string(row, "operator", "")),
			   text_version_number(operator_version)))
			continue;
		if (!strcmp(version, driver))
			return row;
		if (!branch && leading(version, 1) == len && !strncmp(version, driver, len))
			branch = row;
	}
	return branch;
}

/* --- nodes that are alike --------------------------------------------------------------------- */

void plan_case_add(struct plan_cases *cases, const struct site_node *node, const void *what,
		   const char *fmt, ...)
{
	struct plan_case *c;
	json_t *place;
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *key = xvasprintf(fmt, ap);
	va_end(ap);
	if (!cases->index)
		cases->index = json_object_new();
	place = json_object_get(cases->index, key);
	if (!place) {
		array_reserve(cases->list, cases->n, cases->capacity);
		json_put_int(cases->index, key, (int64_t)cases->n);
		cases->list[cases->n++] = (struct plan_case){
			.node = node, .what = what, .n = 1, .last = node };
		return;
	}
	c = &cases->list[json_integer_value(place)];
	if (c->last == node)
		return;
	c->last = node;
	if (++c->n == 2)
		c->second = node;
}

void plan_cases_clear(struct plan_cases *cases)
{
	free(cases->list);
	json_decref(cases->index);
	*cases = (struct plan_cases){0};
}

const char *plan_nodes(struct judging *g, const struct plan_case *c)
{
	if (c->n == 1)
		return c->node->name;
	if (c->n == 2)
		return judge_text(g, "%s and %s", c->node->name, c->second->name);
	return judge_text(g, "%s and %zu others", c->node->name, c->n - 1);
}

bool plan_has_role(const struct judging *g, const struct site_node *node, unsigned roles)
{
	json_t *worker;

	if (!roles || (node->roles & roles))
		return true;
	if (!(roles & PLAN_WORKERS))
		return false;
	worker = json_at(g->site->document, "/nodes/%s/kube_node", node->name);
	return worker ? json_is_true(worker) : node->roles != SITE_ROLE_STORAGE;
}

void plan_systems(const struct judging *g, unsigned roles, struct plan_cases *cases)
{
	for (size_t i = 0; i < g->site->n_nodes; i++) {
		const struct site_node *node = &g->site->nodes[i];

		if (plan_has_role(g, node, roles))
			plan_case_add(cases, node, NULL, "%s\n%s", node->os_id ?: "",
				      node->os_version ?: "");
	}
}

bool plan_any(const struct judging *g, unsigned roles)
{
	for (size_t i = 0; i < g->site->n_nodes; i++) {
		if (g->site->nodes[i].roles & roles)
			return true;
	}
	return false;
}

void plan_ports_declared(struct judging *g)
{
	_cleanup_plan_cases_ struct plan_cases without = {0};

	for (size_t i = 0; i < g->site->n_nodes; i++) {
		const struct site_node *node = &g->site->nodes[i];

		if ((node->roles & SITE_ROLE_GPU) && !node->n_rdma)
			plan_case_add(&without, node, NULL, "without");
	}
	if (without.n)
		judge_unknown(g, judge_text(g, "declare nodes/%s/rdma", without.list[0].node->name),
			      "no RDMA port of %s is declared", plan_nodes(g, &without.list[0]));
}
