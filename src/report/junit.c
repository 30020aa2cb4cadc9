/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JUnit XML, in the dialect that Jenkins, GitLab and GitHub actions read: one <testsuite> for each
 * node and level, one <testcase> for each verdict.
 *
 *	pass, warn	a passed case; warn with its causes in <system-out>
 *	fail		<failure>
 *	unknown		<error>: most tools show <skipped> as green, and unknown is not
 *	blocked, n/a	<skipped>; what blocks is itself a failure or an error
 */
#include <string.h>

#include "report/internal.h"

struct suite {
	const char *node;
	int64_t level;
	size_t *members, n, capacity;
	size_t counts[VERDICT_FAIL + 1];
};

struct suites {
	struct suite *list;
	size_t n, capacity;
};

/* Element text and attribute values. The document holds no character that XML 1.0 forbids. */
static void put_xml(struct strbuf *out, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '&':
			strbuf_puts(out, "&amp;");
			break;
		case '<':
			strbuf_puts(out, "&lt;");
			break;
		case '>':
			strbuf_puts(out, "&gt;");
			break;
		case '"':
			strbuf_puts(out, "&quot;");
			break;
		case '\n':	/* an attribute would lose it */
			strbuf_puts(out, "&#10;");
			break;
		default:
			strbuf_putc(out, *s);
		}
	}
}

static void put_attribute(struct strbuf *out, const char *name, const char *value)
{
	strbuf_printf(out, " %s=\"", name);
	put_xml(out, value);
	strbuf_putc(out, '"');
}

static struct suite *suite_of(struct suites *suites, json_t *verdict)
{
	const char *node = json_get_string(verdict, "node", "site");
	int64_t level = json_get_int(verdict, "level", 0);

	for (size_t i = 0; i < suites->n; i++) {
		if (suites->list[i].level == level && !strcmp(suites->list[i].node, node))
			return &suites->list[i];
	}
	array_reserve(suites->list, suites->n, suites->capacity);
	suites->list[suites->n] = (struct suite){.node = node, .level = level};
	return &suites->list[suites->n++];
}

/* Causes, fixes and evidence as lines. */
static void put_body(struct strbuf *out, json_t *verdict)
{
	_cleanup_strbuf_ struct strbuf b = {0};
	json_t *item, *option;
	size_t i, k;

	json_array_foreach(json_object_get(verdict, "causes"), i, item) {
		const char *fix = json_get_string(item, "fix", NULL);

		strbuf_printf(&b, "%s [%s]: %s\n",
			      json_get_bool(item, "candidate", false) ? "possible cause" : "cause",
			      json_get_string(item, "id", ""), json_get_string(item, "text", ""));
		if (fix)
			strbuf_printf(&b, "fix: %s\n", fix);
		json_array_foreach(json_object_get(item, "options"), k, option)
			strbuf_printf(&b, "option: %s\n", json_string_value(option));
	}
	if (json_object_get(verdict, "explained_by"))
		strbuf_printf(&b, "explained by: %s\n",
			      json_get_string(verdict, "explained_by", ""));
	if (json_object_get(verdict, "obtain"))
		strbuf_printf(&b, "obtain: %s\n", json_get_string(verdict, "obtain", ""));
	json_array_foreach(json_object_get(verdict, "assumed"), i, item)
		strbuf_printf(&b, "assumed: %s\n", json_string_value(item));
	json_array_foreach(json_object_get(verdict, "unverified"), i, item) {
		_cleanup_free_ char *prover = document_prover(item);

		strbuf_printf(&b, "unverified: %s (%s)\n", json_get_string(item, "text", ""),
			      prover);
	}
	if (json_get_bool(verdict, "double", false))
		strbuf_puts(&b, "a test double stands behind some fact\n");
	json_array_foreach(json_object_get(verdict, "evidence"), i, item) {
		_cleanup_free_ char *value = document_evidence_text(item, 0);

		strbuf_printf(&b, "saw: %s %s = %s\n", json_get_string(item, "node", ""),
			      json_get_string(item, "pointer", ""), value);
	}
	put_xml(out, strbuf_str(&b));
}

static void put_outcome(struct strbuf *out, json_t *verdict)
{
	static const char *const elements[] = {
		[VERDICT_PASS] = "system-out", [VERDICT_WARN] = "system-out",
		[VERDICT_FAIL] = "failure",    [VERDICT_UNKNOWN] = "error",
		[VERDICT_BLOCKED] = "skipped", [VERDICT_NA] = "skipped",
	};
	enum verdict_status status = document_status(verdict);
	const char *element = elements[status];
	const char *summary = json_get_string(verdict, "summary", "");

	strbuf_printf(out, "      <%s", element);
	if (status != VERDICT_PASS && status != VERDICT_WARN) {
		json_t *first = json_array_get(json_object_get(verdict, "causes"), 0);

		put_attribute(out, "message", summary);
		if (status == VERDICT_FAIL || status == VERDICT_UNKNOWN)
			put_attribute(out, "type",
				      json_get_string(first, "id", verdict_status_name(status)));
		strbuf_putc(out, '>');
	} else {
		strbuf_putc(out, '>');
		put_xml(out, status == VERDICT_WARN ? "warn: " : "pass: ");
		put_xml(out, summary);
		put_xml(out, "\n");
	}
	put_body(out, verdict);
	strbuf_printf(out, "</%s>\n", element);
}

static void put_case(struct strbuf *out, json_t *document, json_t *verdict)
{
	_cleanup_free_ char *name = document_name(document, verdict);
	_cleanup_free_ char *class =
		xasprintf("railhead.level%lld.%s", (long long)json_get_int(verdict, "level", 0),
			  json_get_string(verdict, "gate", ""));

	strbuf_puts(out, "    <testcase");
	put_attribute(out, "name", name);
	put_attribute(out, "classname", class);
	strbuf_puts(out, " time=\"0\">\n");
	put_outcome(out, verdict);
	strbuf_puts(out, "    </testcase>\n");
}

static void put_counts(struct strbuf *out, const size_t counts[], size_t n)
{
	strbuf_printf(out,
		      " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"0\"",
		      n, counts[VERDICT_FAIL], counts[VERDICT_UNKNOWN],
		      counts[VERDICT_BLOCKED] + counts[VERDICT_NA]);
}

static void put_suite(struct strbuf *out, json_t *document, const struct suite *suite)
{
	json_t *verdicts = json_object_get(document, "verdicts");
	const char *taken = json_get_string(document, "taken", NULL);
	_cleanup_free_ char *name =
		xasprintf("%s: level %lld, %s", suite->node, (long long)suite->level,
			  report_level_title((unsigned)suite->level));

	strbuf_puts(out, "  <testsuite");
	put_attribute(out, "name", name);
	put_counts(out, suite->counts, suite->n);
	put_attribute(out, "hostname", suite->node);
	if (taken)
		put_attribute(out, "timestamp", taken);
	strbuf_puts(out, ">\n");
	for (size_t i = 0; i < suite->n; i++)
		put_case(out, document, json_array_get(verdicts, suite->members[i]));
	/* the switch is nobody's gate: it stands with the site */
	if (document_is_paper(document) && json_object_get(document, "buffers")) {
		_cleanup_free_ char *lines = document_buffer_lines(document);

		strbuf_puts(out, "    <system-out>");
		put_xml(out, lines);
		strbuf_puts(out, "</system-out>\n");
	}
	strbuf_puts(out, "  </testsuite>\n");
}

void junit_render(struct strbuf *out, json_t *document)
{
	json_t *verdicts = json_object_get(document, "verdicts"), *v;
	size_t counts[VERDICT_FAIL + 1] = {0}, i;
	struct suites suites = {0};

	json_array_foreach(verdicts, i, v) {
		struct suite *s = suite_of(&suites, v);

		array_reserve(s->members, s->n, s->capacity);
		s->members[s->n++] = i;
		s->counts[document_status(v)]++;
		counts[document_status(v)]++;
	}
	strbuf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
	put_attribute(out, "name",
		      json_get_string(json_object_get(document, "site"), "name", "railhead"));
	put_counts(out, counts, json_array_size(verdicts));
	strbuf_puts(out, ">\n");
	for (i = 0; i < suites.n; i++) {
		put_suite(out, document, &suites.list[i]);
		free(suites.list[i].members);
	}
	free(suites.list);
	strbuf_puts(out, "</testsuites>\n");
}
