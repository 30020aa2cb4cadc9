/* SPDX-License-Identifier: Apache-2.0 */
/* What a judge works with: facts that leave evidence, findings that add up to a verdict. */
#include "judge/gate.h"

#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/strings.h"

const char *gate_scope_name(enum gate_scope scope)
{
	static const char *const names[] = {
		[GATE_SITE] = "site", [GATE_NODE] = "node", [GATE_BOND] = "bond",
		[GATE_PORT] = "port", [GATE_NIC] = "nic",   [GATE_GPU] = "gpu",
		[GATE_PATH] = "path", [GATE_PAIR] = "pair", [GATE_CLUSTER] = "cluster",
	};

	return names[scope];
}

/* --- facts ------------------------------------------------------------------------------------ */

static bool covers(const char *gap, const char *pointer)
{
	size_t len = strlen(gap);

	return !strncmp(gap, pointer, len) && (pointer[len] == '\0' || pointer[len] == '/');
}

/* Text of the gap that covers `pointer` in the snapshot's /gaps: its member `key` ("reason",
 * "hint"), of the longest pointer that is a prefix by whole segments. Borrowed or NULL. */
static const char *gap_text(json_t *snapshot, const char *pointer, const char *key)
{
	const char *best = NULL;
	size_t best_len = 0, i;
	json_t *gap;

	json_array_foreach(json_object_get(snapshot, "gaps"), i, gap) {
		const char *at = json_get_string(gap, "pointer", NULL);

		if (at && strlen(at) >= best_len && covers(at, pointer)) {
			const char *text = json_get_string(gap, key, NULL);

			if (text) {
				best = text;
				best_len = strlen(at);
			}
		}
	}
	return best;
}

static void evidence_add(struct judging *g, const char *node, const char *pointer, json_t *value,
			 const char *missing)
{
	struct verdict *v = g->verdict;

	for (size_t i = 0; i < v->n_evidence; i++) {
		if (!strcmp(v->evidence[i].pointer, pointer) && !strcmp(v->evidence[i].node, node))
			return;
	}
	v->evidence = xreallocarray(v->evidence, v->n_evidence + 1, sizeof(*v->evidence));
	v->evidence[v->n_evidence++] = (struct evidence){
		.node = xstrdup(node),
		.pointer = xstrdup(pointer),
		.value = json_incref(value),
		.missing = missing ? xstrdup(missing) : NULL,
	};
}

/* Whose facts, for one look-up. */
struct whose {
	json_t *snapshot;
	const char *node;
};

static struct whose own(const struct judging *g)
{
	return (struct whose){ g->snapshot, g->node ? g->node->name : "?" };
}

static struct whose peers(const struct judging *g)
{
	return (struct whose){ g->peer_snapshot, g->peer ? g->peer->name : "?" };
}

static void missing(struct judging *g, struct whose w, const char *pointer, const char *why)
{
	const char *hint = gap_text(w.snapshot, pointer, "hint");

	judge_unknown(g, hint, "%s%snot observed: %s (%s)", g->peer ? w.node : "",
		      g->peer ? ": " : "", pointer, why);
}

static json_t *look(struct judging *g, struct whose w, bool required, const char *pointer)
{
	json_t *value = json_pointer_get(w.snapshot, pointer);
	const char *why = NULL;

	if (!value) {
		why = gap_text(w.snapshot, pointer, "reason");
		if (!why)
			why = w.snapshot ? "the snapshot does not have it" :
					   "there is no snapshot of this node";
	}
	evidence_add(g, w.node, pointer, value, why);
	if (!value && required)
		missing(g, w, pointer, why);
	return value;
}

/* A required fact of one type; of another type it is as good as missing. */
static json_t *look_typed(struct judging *g, struct whose w, json_type type, const char *pointer)
{
	json_t *value = look(g, w, true, pointer);

	if (value && json_typeof(value) != type &&
	    !(type == JSON_TRUE && json_is_boolean(value))) {
		missing(g, w, pointer, "it has another type than docs/snapshot.md says");
		return NULL;
	}
	return value;
}

/* Both names of the pointer: formatted once, freed when the accessor returns. */
#define POINTER(name, fmt)                                                                     \
	va_list name##_ap;                                                                     \
	va_start(name##_ap, fmt);                                                              \
	_cleanup_free_ char *name = json_pointer_vformat(fmt, name##_ap);                      \
	va_end(name##_ap)

json_t *fact(struct judging *g, const char *fmt, ...)
{
	POINTER(pointer, fmt);
	return look(g, own(g), true, pointer);
}

bool fact_int(struct judging *g, int64_t *value, const char *fmt, ...)
{
	POINTER(pointer, fmt);
	json_t *j = look_typed(g, own(g), JSON_INTEGER, pointer);

	if (j)
		*value = json_integer_value(j);
	return j;
}

bool fact_bool(struct judging *g, bool *value, const char *fmt, ...)
{
	POINTER(pointer, fmt);
	json_t *j = look_typed(g, own(g), JSON_TRUE, pointer);

	if (j)
		*value = json_is_true(j);
	return j;
}

const char *fact_string(struct judging *g, const char *fmt, ...)
{
	POINTER(pointer, fmt);
	return json_string_value(look_typed(g, own(g), JSON_STRING, pointer));
}

json_t *fact_optional(struct judging *g, const char *fmt, ...)
{
	POINTER(pointer, fmt);
	return look(g, own(g), false, pointer);
}

int64_t fact_optional_int(struct judging *g, int64_t fallback, const char *fmt, ...)
{
	POINTER(pointer, fmt);
	json_t *j = look(g, own(g), false, pointer);

	return json_is_integer(j) ? json_integer_value(j) : fallback;
}

const char *fact_optional_string(struct judging *g, const char *fmt, ...)
{
	POINTER(pointer, fmt);
	return json_string_value(look(g, own(g), false, pointer));
}

bool fact_peer_int(struct judging *g, int64_t *value, const char *fmt, ...)
{
	POINTER(pointer, fmt);
	json_t *j = look_typed(g, peers(g), JSON_INTEGER, pointer);

	if (j)
		*value = json_integer_value(j);
	return j;
}

const char *fact_peer_string(struct judging *g, const char *fmt, ...)
{
	POINTER(pointer, fmt);
	return json_string_value(look_typed(g, peers(g), JSON_STRING, pointer));
}

json_t *fact_peer_optional(struct judging *g, const char *fmt, ...)
{
	POINTER(pointer, fmt);
	return look(g, peers(g), false, pointer);
}

json_t *declared_at(struct judging *g, const char *pointer)
{
	json_t *value = json_pointer_get(g->site->document, pointer);
	unsigned line = site_line(g->site, pointer);
	_cleanup_free_ char *place = g->site->path && line ?
					     xasprintf("%s:%u", g->site->path, line) :
					     xstrdup("site");

	evidence_add(g, place, pointer, value, value ? NULL : "not declared");
	return value;
}

json_t *declared(struct judging *g, const char *fmt, ...)
{
	POINTER(pointer, fmt);
	return declared_at(g, pointer);
}

const char *declared_string(struct judging *g, const char *fmt, ...)
{
	POINTER(pointer, fmt);
	return json_string_value(declared_at(g, pointer));
}

bool declared_bool(struct judging *g, bool fallback, const char *fmt, ...)
{
	POINTER(pointer, fmt);
	json_t *value = declared_at(g, pointer);

	return json_is_boolean(value) ? json_is_true(value) : fallback;
}

void fact_row(struct judging *g, json_t *row)
{
	evidence_add(g, "data", json_get_string(row, "at", "?"), row, NULL);
}

void fact_declared(struct judging *g, const struct site_where *where, json_t *value,
		   const char *fmt, ...)
{
	POINTER(pointer, fmt);
	_cleanup_json_ json_t *owned = value;
	_cleanup_free_ char *source =
		where && where->line && g->site->path ?
			xasprintf("%s:%u", g->site->path, where->line) :
			xstrdup("site");

	evidence_add(g, source, pointer, owned, NULL);
}

json_t *peek(const struct judging *g, const char *fmt, ...)
{
	POINTER(pointer, fmt);
	return json_pointer_get(g->snapshot, pointer);
}

const char *peek_gap(const struct judging *g, const char *fmt, ...)
{
	POINTER(pointer, fmt);
	return gap_text(g->snapshot, pointer, "reason");
}

/* --- findings --------------------------------------------------------------------------------- */

/* Bytes from which on a summary gets no further pass. */
#define PASSES_LENGTH 1024

#define FORMATTED(name, fmt)                                                                   \
	va_list name##_ap;                                                                     \
	va_start(name##_ap, fmt);                                                              \
	_cleanup_free_ char *name = xvasprintf(fmt, name##_ap);                                \
	va_end(name##_ap)

/* The heaviest finding decides; among equals the first. */
static void find(struct judging *g, enum verdict_status status, const char *text)
{
	struct verdict *v = g->verdict;

	if (!g->decided || status > v->status) {
		v->status = status;
		free(v->summary);
		v->summary = xstrdup(text);
	}
	g->decided = true;
}

static void add_cause(struct judging *g, const char *id, const char *fix, bool candidate,
		      const char *text)
{
	struct verdict *v = g->verdict;

	v->causes = xreallocarray(v->causes, v->n_causes + 1, sizeof(*v->causes));
	v->causes[v->n_causes++] = (struct cause){
		.id = xstrdup(id),
		.text = xstrdup(text),
		.fix = fix ? xstrdup(fix) : NULL,
		.candidate = candidate,
	};
}

/* A gate on paper has one verdict for all kinds of nodes: each that passes is told. */
static void add_pass(struct verdict *v, const char *text)
{
	char *both;

	if (strstr(v->summary, text))
		return;
	/* a site of very many kinds: those that fail or are unknown are told in their place */
	if (strlen(v->summary) >= PASSES_LENGTH) {
		text = "…";
		if (strstr(v->summary, text))
			return;
	}
	both = xasprintf("%s; %s", v->summary, text);
	free(v->summary);
	v->summary = both;
}

void judge_pass(struct judging *g, const char *fmt, ...)
{
	FORMATTED(text, fmt);
	if (g->decided && g->verdict->status == VERDICT_PASS &&
	    g->verdict->gate->scope == GATE_SITE)
		add_pass(g->verdict, text);
	else
		find(g, VERDICT_PASS, text);
}

void judge_na(struct judging *g, const char *fmt, ...)
{
	FORMATTED(text, fmt);
	find(g, VERDICT_NA, text);
}

void judge_unknown(struct judging *g, const char *obtain, const char *fmt, ...)
{
	FORMATTED(text, fmt);
	find(g, VERDICT_UNKNOWN, text);
	if (obtain && !g->verdict->obtain)
		g->verdict->obtain = xstrdup(obtain);
}

void judge_warn(struct judging *g, const char *cause, const char *fix, const char *fmt, ...)
{
	FORMATTED(text, fmt);
	find(g, VERDICT_WARN, text);
	add_cause(g, cause, fix, false, text);
}

void judge_option(struct judging *g, const char *fmt, ...)
{
	struct verdict *v = g->verdict;

	FORMATTED(text, fmt);
	if (v->n_causes)
		strings_add(&v->causes[v->n_causes - 1].options, xstrdup(text));
}

void judge_unverified(struct judging *g, const char *gate_id, const char *fmt, ...)
{
	struct verdict *v = g->verdict;

	FORMATTED(text, fmt);
	/* said once, whatever the number of cases that lead to it */
	for (size_t i = 0; i < v->n_unverified; i++) {
		const struct unverified *u = &v->unverified[i];

		if (!strcmp(u->text, text) && !strcmp(u->gate ?: "", gate_id ?: ""))
			return;
	}
	v->unverified = xreallocarray(v->unverified, v->n_unverified + 1, sizeof(*v->unverified));
	v->unverified[v->n_unverified++] = (struct unverified){
		.text = xstrdup(text),
		.gate = gate_id ? xstrdup(gate_id) : NULL,
	};
}

void judge_fail(struct judging *g, const char *cause, const char *fix, const char *fmt, ...)
{
	FORMATTED(text, fmt);
	find(g, VERDICT_FAIL, text);
	add_cause(g, cause, fix, false, text);
}

void judge_candidate(struct judging *g, const char *cause, const char *fix, const char *fmt, ...)
{
	FORMATTED(text, fmt);
	add_cause(g, cause, fix, true, text);
}

void judge_explained_by(struct judging *g, const char *gate_id, const char *subject)
{
	free(g->verdict->explained_by);
	g->verdict->explained_by =
		subject ? xasprintf("%s (%s)", gate_id, subject) : xstrdup(gate_id);
}

void judge_summary(struct judging *g, const char *fmt, ...)
{
	FORMATTED(text, fmt);
	free(g->verdict->summary);
	g->verdict->summary = xstrdup(text);
}

void judge_assume(struct judging *g, const char *fmt, ...)
{
	FORMATTED(text, fmt);
	for (char **s = g->verdict->assumed; s && *s; s++) {
		if (!strcmp(*s, text))
			return;
	}
	strings_add(&g->verdict->assumed, xstrdup(text));
}

const char *judge_text(struct judging *g, const char *fmt, ...)
{
	FORMATTED(text, fmt);
	char *kept = xstrdup(text);

	strings_add(&g->texts, kept);
	return kept;
}
