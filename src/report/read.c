/* SPDX-License-Identifier: Apache-2.0 */
/* A report that comes from outside: checked against docs/schema/report-1.json before it is used. */
#include <errno.h>
#include <string.h>

#include "report/internal.h"

/* Of an object; JSON_TRUE stands for either truth value. */
struct member {
	const char *key;
	json_type type;
	bool required;
};

static const struct member document_members[] = {
	{"schema", JSON_STRING, true}, {"railhead", JSON_STRING, true},
	{"taken", JSON_STRING, false}, {"site", JSON_OBJECT, true},
	{"nodes", JSON_ARRAY, true},   {"result", JSON_OBJECT, true},
	{"verdicts", JSON_ARRAY, true}, {"paper", JSON_TRUE, false},
	{"components", JSON_ARRAY, false}, {"buffers", JSON_OBJECT, false},
	{"proofs", JSON_ARRAY, false}, {NULL, JSON_NULL, false},
};

static const struct member site_members[] = {
	{"name", JSON_STRING, true}, {"path", JSON_STRING, false}, {"assumed", JSON_TRUE, true},
	{NULL, JSON_NULL, false},
};

static const struct member node_members[] = {
	{"name", JSON_STRING, true}, {"source", JSON_STRING, false}, {NULL, JSON_NULL, false},
};

static const struct member result_members[] = {
	{"counts", JSON_OBJECT, true}, {"passed", JSON_TRUE, true}, {NULL, JSON_NULL, false},
};

static const struct member verdict_members[] = {
	{"gate", JSON_STRING, true},	     {"title", JSON_STRING, true},
	{"phase", JSON_INTEGER, true},	     {"level", JSON_INTEGER, true},
	{"scope", JSON_STRING, true},	     {"node", JSON_STRING, false},
	{"subject", JSON_STRING, false},     {"status", JSON_STRING, true},
	{"summary", JSON_STRING, true},	     {"explained_by", JSON_STRING, false},
	{"blocked_by", JSON_ARRAY, false},   {"obtain", JSON_STRING, false},
	{"assumed", JSON_ARRAY, false},	     {"double", JSON_TRUE, false},
	{"causes", JSON_ARRAY, true},	     {"evidence", JSON_ARRAY, true},
	{"unverified", JSON_ARRAY, false},   {NULL, JSON_NULL, false},
};

static const struct member cause_members[] = {
	{"id", JSON_STRING, true}, {"text", JSON_STRING, true}, {"fix", JSON_STRING, false},
	{"candidate", JSON_TRUE, true}, {"options", JSON_ARRAY, false}, {NULL, JSON_NULL, false},
};

static const struct member unverified_members[] = {
	{"text", JSON_STRING, true}, {"gate", JSON_STRING, false},
	{"phase", JSON_INTEGER, false}, {NULL, JSON_NULL, false},
};

static const struct member component_members[] = {
	{"component", JSON_STRING, true}, {"where", JSON_STRING, true},
	{"version", JSON_STRING, false},  {"need", JSON_STRING, true},
	{"why", JSON_STRING, true},	  {"source", JSON_STRING, true},
	{NULL, JSON_NULL, false},
};

static const struct member buffer_members[] = {
	{"name", JSON_STRING, true},  {"value", JSON_STRING, true},
	{"declared", JSON_STRING, false}, {"formula", JSON_STRING, false},
	{"source", JSON_STRING, true}, {NULL, JSON_NULL, false},
};

static const struct member proof_members[] = {
	{"kind", JSON_STRING, true},   {"run", JSON_STRING, true},
	{"taken", JSON_STRING, true},  {"double", JSON_TRUE, true},
	{"parameters", JSON_OBJECT, true}, {"local", JSON_OBJECT, true},
	{"peer", JSON_OBJECT, true},   {"runs", JSON_ARRAY, true},
	{"verdict", JSON_OBJECT, true}, {"freshness", JSON_OBJECT, true},
	{NULL, JSON_NULL, false},
};

static const struct member run_members[] = {
	{"run", JSON_STRING, true}, {"operation", JSON_STRING, false},
	{"result", JSON_OBJECT, false}, {"error", JSON_STRING, false},
	{NULL, JSON_NULL, false},
};

static const struct member evidence_members[] = {
	{"node", JSON_STRING, true}, {"pointer", JSON_STRING, true},
	{"missing", JSON_STRING, false}, {NULL, JSON_NULL, false},
};

static const char *type_name(json_type type)
{
	static const char *const names[] = {
		[JSON_OBJECT] = "an object",   [JSON_ARRAY] = "a list",
		[JSON_STRING] = "text",	       [JSON_INTEGER] = "a whole number",
		[JSON_REAL] = "a number",      [JSON_TRUE] = "true or false",
		[JSON_FALSE] = "true or false", [JSON_NULL] = "null",
	};

	return names[type];
}

/* `where` is a JSON pointer to the object, for messages. */
static int check(json_t *obj, const struct member *members, const char *where, struct error *err)
{
	if (!json_is_object(obj))
		return error_set(err, -EINVAL, "%s is not an object", *where ? where : "/");
	for (; members->key; members++) {
		json_t *value = json_object_get(obj, members->key);
		bool fits = value && (json_typeof(value) == members->type ||
				      (members->type == JSON_TRUE && json_is_boolean(value)));

		if (!value && members->required)
			return error_set(err, -EINVAL, "%s/%s is missing", where, members->key);
		if (value && !fits)
			return error_set(err, -EINVAL, "%s/%s must be %s", where, members->key,
					 type_name(members->type));
	}
	return 0;
}

static int check_list(json_t *list, const struct member *members, const char *where,
		      struct error *err)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		_cleanup_free_ char *at = xasprintf("%s/%zu", where, i);
		int rc = check(item, members, at, err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int check_texts(json_t *list, const char *where, const char *key, struct error *err)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		if (!json_is_string(item))
			return error_set(err, -EINVAL, "%s/%s/%zu must be text", where, key, i);
	}
	return 0;
}

/* A fact was there or it was not. */
static int check_evidence(json_t *list, const char *where, struct error *err)
{
	int rc = check_list(list, evidence_members, where, err);
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		bool value = json_object_get(item, "value");
		bool missing = json_object_get(item, "missing");

		if (!rc && value == missing)
			rc = error_set(err, -EINVAL, "%s/%zu must have value or missing", where, i);
	}
	return rc;
}

static int check_causes(json_t *causes, const char *where, struct error *err)
{
	int rc = check_list(causes, cause_members, where, err);
	json_t *cause;
	size_t i;

	json_array_foreach(causes, i, cause) {
		_cleanup_free_ char *at = xasprintf("%s/%zu", where, i);

		if (!rc)
			rc = check_texts(json_object_get(cause, "options"), at, "options", err);
	}
	return rc;
}

static int check_verdict(json_t *v, const char *where, struct error *err)
{
	_cleanup_free_ char *causes = xasprintf("%s/causes", where);
	_cleanup_free_ char *evidence = xasprintf("%s/evidence", where);
	_cleanup_free_ char *unverified = xasprintf("%s/unverified", where);
	const char *status;
	int rc = check(v, verdict_members, where, err);

	if (!rc)
		rc = check_texts(json_object_get(v, "blocked_by"), where, "blocked_by", err);
	if (!rc)
		rc = check_texts(json_object_get(v, "assumed"), where, "assumed", err);
	if (!rc)
		rc = check_causes(json_object_get(v, "causes"), causes, err);
	if (!rc)
		rc = check_list(json_object_get(v, "unverified"), unverified_members, unverified,
				err);
	if (!rc)
		rc = check_evidence(json_object_get(v, "evidence"), evidence, err);
	if (rc < 0)
		return rc;
	status = json_get_string(v, "status", "");
	if (strcmp(status, verdict_status_name(document_status(v)))) {
		_cleanup_free_ char *safe = safe_text(status);
		return error_set(err, -EINVAL, "%s/status: \"%s\" is no verdict", where, safe);
	}
	if (json_get_int(v, "phase", 0) < 0 || json_get_int(v, "phase", 0) > 999 ||
	    json_get_int(v, "level", 0) < 0 || json_get_int(v, "level", 0) > 99)
		return error_set(err, -EINVAL, "%s: phase or level out of range", where);
	return 0;
}

/* Numbers are looked at where they are drawn: one that makes no sense is not shown. */
static int check_proofs(json_t *proofs, struct error *err)
{
	int rc = check_list(proofs, proof_members, "/proofs", err);
	json_t *record;
	size_t i;

	json_array_foreach(proofs, i, record) {
		_cleanup_free_ char *runs = xasprintf("/proofs/%zu/runs", i);

		if (!rc)
			rc = check_list(json_object_get(record, "runs"), run_members, runs, err);
	}
	return rc;
}

/* The head of a report must not claim what its verdicts do not say. */
static int check_result(json_t *document, struct error *err)
{
	json_t *result = json_object_get(document, "result"), *v;
	json_t *verdicts = json_object_get(document, "verdicts");
	size_t n[VERDICT_FAIL + 1] = {0}, total = json_array_size(verdicts), i;
	size_t railhead = document_index(document, "railhead"), first_held = total;
	bool passed;

	json_array_foreach(verdicts, i, v) {
		enum verdict_status status = document_status(v);

		n[status]++;
		if (first_held == total && status != VERDICT_PASS && status != VERDICT_WARN &&
		    status != VERDICT_NA)
			first_held = i;
	}
	for (i = 0; i < ARRAY_SIZE(n); i++) {
		const char *name = verdict_status_name((enum verdict_status)i);

		if (json_get_int(json_object_get(result, "counts"), name, -1) != (int64_t)n[i])
			return error_set(err, -EINVAL,
					 "/result/counts/%s does not agree with the verdicts",
					 name);
	}
	passed = total && !n[VERDICT_FAIL] && !n[VERDICT_BLOCKED] && !n[VERDICT_UNKNOWN];
	if (passed != json_get_bool(result, "passed", false))
		return error_set(err, -EINVAL, "/result/passed does not agree with the verdicts");
	if (document_index(document, "stopped_by") != first_held)
		return error_set(err, -EINVAL,
				 "/result/stopped_by does not agree with the verdicts");
	if (railhead < total && railhead >= first_held)
		return error_set(err, -EINVAL, "/result/railhead stands behind what stops it");
	return 0;
}

static int check_reference(json_t *document, const char *key, struct error *err)
{
	json_t *reference = json_object_get(json_object_get(document, "result"), key);
	size_t n = json_array_size(json_object_get(document, "verdicts"));

	if (json_is_null(reference) || document_index(document, key) < n)
		return 0;
	return error_set(err, -EINVAL, "/result/%s must be null or name a verdict", key);
}

static int check_document(json_t *document, struct error *err)
{
	const char *schema = json_get_string(document, "schema", NULL);
	json_t *verdicts, *v;
	size_t i;

	/* first of all: what another schema calls its members is not our business */
	if (schema && strcmp(schema, REPORT_SCHEMA)) {
		_cleanup_free_ char *safe = safe_text(schema);
		return error_set(err, -EINVAL, "schema is \"%s\", this version reads \"%s\"", safe,
				 REPORT_SCHEMA);
	}
	int rc = check(document, document_members, "", err);
	if (rc < 0)
		return rc;
	rc = check(json_object_get(document, "site"), site_members, "/site", err);
	if (!rc)
		rc = check_list(json_object_get(document, "nodes"), node_members, "/nodes", err);
	if (!rc)
		rc = check(json_object_get(document, "result"), result_members, "/result", err);
	if (rc < 0)
		return rc;
	verdicts = json_object_get(document, "verdicts");
	json_array_foreach(verdicts, i, v) {
		_cleanup_free_ char *where = xasprintf("/verdicts/%zu", i);

		rc = check_verdict(v, where, err);
		if (rc < 0)
			return rc;
	}
	rc = check_reference(document, "railhead", err);
	if (!rc)
		rc = check_list(json_object_get(document, "components"), component_members,
				"/components", err);
	if (!rc)
		rc = check_list(json_at(document, "/buffers/numbers"), buffer_members,
				"/buffers/numbers", err);
	if (!rc)
		rc = check_proofs(json_object_get(document, "proofs"), err);
	if (!rc)
		rc = check_reference(document, "stopped_by", err);
	return rc ? rc : check_result(document, err);
}

int report_read(json_t **document, json_t *json, const char *name, struct error *err)
{
	int rc = check_document(json, err);

	*document = NULL;
	if (rc < 0) {
		error_wrap(err, "%s", name);
		return rc;
	}
	/* shallow where all text is safe already, and never the caller's own object */
	_cleanup_json_ json_t *safe = document_value(json);
	*document = json_copy(safe);
	if (!*document)
		alloc_exhausted();
	return 0;
}
