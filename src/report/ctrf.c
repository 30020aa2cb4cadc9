/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Common Test Report Format (https://ctrf.io, schema/ctrf.schema.json of ctrf-io/ctrf).
 *
 *	pass, warn	passed; warn keeps its causes and carries the tag "warn"
 *	fail		failed
 *	blocked		pending: it waits for another gate
 *	unknown		other: it was not executed, so it is neither passed nor failed
 *	n/a		skipped
 *
 * `rawStatus` holds railhead's own word. A verdict has no duration of its own: it is 0.
 */
#include <string.h>
#include <time.h>

#include "report/internal.h"

#define CTRF_SPEC_VERSION "0.1.0"

static const char *const ctrf_status[] = {
	[VERDICT_PASS] = "passed",     [VERDICT_WARN] = "passed",   [VERDICT_FAIL] = "failed",
	[VERDICT_BLOCKED] = "pending", [VERDICT_UNKNOWN] = "other", [VERDICT_NA] = "skipped",
};

/* Milliseconds since the epoch of an RFC 3339 time in UTC; 0 when it is something else. */
static int64_t epoch_ms(const char *taken)
{
	struct tm tm = {0};
	const char *end = taken ? strptime(taken, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;

	return end && (*end == 'Z' || *end == '.') ? (int64_t)timegm(&tm) * 1000 : 0;
}

/* Causes and fixes in the member that viewers unfold under a failed test. */
static void put_trace(json_t *test, json_t *verdict)
{
	_cleanup_strbuf_ struct strbuf b = {0};
	json_t *cause, *option;
	size_t i, k;

	json_array_foreach(json_object_get(verdict, "causes"), i, cause) {
		const char *fix = json_get_string(cause, "fix", NULL);

		strbuf_printf(&b, "%s%s: %s\n",
			      json_get_bool(cause, "candidate", false) ? "possible cause: " : "",
			      json_get_string(cause, "id", ""), json_get_string(cause, "text", ""));
		if (fix)
			strbuf_printf(&b, "fix: %s\n", fix);
		json_array_foreach(json_object_get(cause, "options"), k, option)
			strbuf_printf(&b, "option: %s\n", json_string_value(option));
	}
	if (json_object_get(verdict, "explained_by"))
		strbuf_printf(&b, "explained by %s\n",
			      json_get_string(verdict, "explained_by", ""));
	if (json_object_get(verdict, "obtain"))
		strbuf_printf(&b, "obtain: %s\n", json_get_string(verdict, "obtain", ""));
	if (b.len)
		document_put(test, "trace", b.s);
}

static json_t *test_new(json_t *document, json_t *verdict)
{
	enum verdict_status status = document_status(verdict);
	_cleanup_free_ char *name = document_name(document, verdict);
	_cleanup_free_ char *level =
		xasprintf("level %lld: %s", (long long)json_get_int(verdict, "level", 0),
			  report_level_title((unsigned)json_get_int(verdict, "level", 0)));
	static const char *const kept[] = {"gate",	  "phase",	"level",   "node",  "subject",
					   "explained_by", "blocked_by", "assumed", "double",
					   "unverified"};
	json_t *test = json_object_new(), *extra, *suite, *tags;

	document_put(test, "name", name);
	document_put(test, "status", ctrf_status[status]);
	json_put_int(test, "duration", 0);
	suite = json_arr(test, "suite");
	json_append_text(suite, json_get_string(verdict, "node", "site"));
	json_append_text(suite, level);
	document_put(test, "message", json_get_string(verdict, "summary", ""));
	put_trace(test, verdict);
	document_put(test, "rawStatus", verdict_status_name(status));
	tags = json_arr(test, "tags");
	json_append_text(tags, json_get_string(verdict, "gate", ""));
	if (status == VERDICT_WARN)
		json_append_text(tags, "warn");
	if (json_get_bool(verdict, "double", false))
		json_append_text(tags, "test-double");
	extra = json_obj(test, "extra");
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		json_put(extra, kept[i], json_incref(json_object_get(verdict, kept[i])));
	return test;
}

static void put_summary(json_t *results, json_t *document)
{
	json_t *counts = json_object_get(json_object_get(document, "result"), "counts");
	json_t *summary = json_obj(results, "summary");
	int64_t taken = epoch_ms(json_get_string(document, "taken", NULL));

	json_put_int(summary, "tests",
		     (int64_t)json_array_size(json_object_get(document, "verdicts")));
	json_put_int(summary, "passed",
		     json_get_int(counts, "pass", 0) + json_get_int(counts, "warn", 0));
	json_put_int(summary, "failed", json_get_int(counts, "fail", 0));
	json_put_int(summary, "skipped", json_get_int(counts, "n/a", 0));
	json_put_int(summary, "pending", json_get_int(counts, "blocked", 0));
	json_put_int(summary, "other", json_get_int(counts, "unknown", 0));
	json_put_int(summary, "start", taken);
	json_put_int(summary, "stop", taken);
}

json_t *ctrf_document(json_t *document)
{
	json_t *ctrf = json_object_new(), *results, *tests, *environment, *v;
	_cleanup_free_ char *closing = document_closing(document, "; ");
	size_t i;

	document_put(ctrf, "reportFormat", "CTRF");
	document_put(ctrf, "specVersion", CTRF_SPEC_VERSION);
	if (epoch_ms(json_get_string(document, "taken", NULL)))
		document_put(ctrf, "timestamp", json_get_string(document, "taken", NULL));
	document_put(ctrf, "generatedBy", "railhead");
	results = json_obj(ctrf, "results");
	document_put(json_obj(results, "tool"), "name", "railhead");
	document_put(json_obj(results, "tool"), "version",
		     json_get_string(document, "railhead", ""));
	put_summary(results, document);
	tests = json_arr(results, "tests");
	json_array_foreach(json_object_get(document, "verdicts"), i, v) {
		json_append(tests, test_new(document, v));
	}
	environment = json_obj(results, "environment");
	document_put(environment, "reportName", closing);
	document_put(environment, "testEnvironment",
		     json_get_string(json_object_get(document, "site"), "name", ""));
	if (json_object_get(document, "buffers"))
		json_put(json_obj(ctrf, "extra"), "buffers",
			 json_incref(json_object_get(document, "buffers")));
	json_put_bool(environment, "healthy",
		      json_get_bool(json_object_get(document, "result"), "passed", false));
	return ctrf;
}
