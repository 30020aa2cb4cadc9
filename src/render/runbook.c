/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runbook: the phases of this site in order, as runbook.md and runbook.html, with the list of
 * nodes and the script that asks them all.
 */
#include "render/runbook.h"

#include <string.h>

#include "render/format.h"
#include "render/runbook_css.h"
#include "render/scripts.h"

#define NAMES_SHOWN 4	/* of the nodes of a phase */

/* --- above the phases ------------------------------------------------------------------------- */

static void put_plan(struct runbook *b)
{
	json_t *verdicts = json_object_get(b->r->plan, "verdicts"), *v;
	size_t passed = 0, absent = 0, i;
	bool failed = false;

	book_heading(b, 2, "plan", PHRASE_PLAN, NULL);
	if (!b->r->plan) {
		book_say(b, PHRASE_PLAN_NONE, NULL);
		return;
	}
	json_array_foreach(verdicts, i, v) {
		const char *status = json_get_string(v, "status", "");

		passed += !strcmp(status, "pass");
		absent += !strcmp(status, "n/a");
		failed |= !strcmp(status, "fail");
	}
	_cleanup_free_ char *n_passed = xasprintf("%zu", passed), *n_absent = xasprintf("%zu", absent);

	if (failed)
		book_say(b, PHRASE_PLAN_FORCED, NULL);
	if (passed + absent == json_array_size(verdicts)) {
		book_say(b, PHRASE_PLAN_CLEAN, n_passed, NULL);
		return;
	}
	book_say(b, PHRASE_PLAN_OTHERS, n_passed, n_absent, NULL);
	json_array_foreach(verdicts, i, v) {
		const char *status = json_get_string(v, "status", "");

		if (strcmp(status, "pass") != 0 && strcmp(status, "n/a") != 0)
			book_item_foreign(b, json_get_string(v, "gate", ""), status,
					  json_get_string(v, "summary", ""));
	}
	book_list_end(b);
}

static void put_unverified(struct runbook *b)
{
	json_t *verdicts = json_object_get(b->r->plan, "verdicts"), *v, *open;
	bool any = false;
	size_t i, k;

	json_array_foreach(verdicts, i, v) {
		json_array_foreach(json_object_get(v, "unverified"), k, open) {
			if (!any) {
				book_heading(b, 2, "unverified", PHRASE_UNVERIFIED, NULL);
				book_say(b, PHRASE_UNVERIFIED_INTRO, NULL);
			}
			any = true;
			book_item_foreign(b, json_get_string(open, "gate", NULL), NULL,
					  json_get_string(open, "text", ""));
		}
	}
	book_list_end(b);
}

static void put_omitted(struct runbook *b)
{
	if (!b->r->notes)
		return;
	book_heading(b, 2, "omitted", PHRASE_OMITTED, NULL);
	book_say(b, PHRASE_OMITTED_INTRO, NULL);
	for (char **note = b->r->notes; *note; note++)
		book_item_foreign(b, NULL, NULL, *note);
	book_list_end(b);
}

static const char *title_of(const struct runbook *b, unsigned phase)
{
	return b->r->korean ? runbook_phases[phase].title_ko : gate_phase_title(phase);
}

static enum phrase absence(const struct runbook *b, unsigned phase)
{
	return runbook_phases[phase].absent ? runbook_phases[phase].absent(&b->has) : PHRASE_NONE;
}

static void put_order(struct runbook *b)
{
	book_heading(b, 2, "phases", PHRASE_ORDER, NULL);
	for (unsigned phase = 0; phase < GATE_PHASES; phase++) {
		_cleanup_free_ char *number = xasprintf("%u", phase),
				    *anchor = xasprintf("#phase-%u", phase);

		book_item_link(b, anchor, absence(b, phase) ? PHRASE_PHASE_NA : PHRASE_PHASE, number,
			       title_of(b, phase), NULL);
	}
	book_list_end(b);
}

static void put_asking(struct runbook *b)
{
	book_heading(b, 2, "asking", PHRASE_ASKING, NULL);
	book_say(b, PHRASE_ASKING_INTRO, NULL);
	book_command(b, "./snapshots.sh\nrailhead check --site site.yaml snapshots/*.json");
	book_say(b, PHRASE_ASKING_ONE, NULL);
}

/* --- a phase ---------------------------------------------------------------------------------- */

/* "a, b, c, d and 60 others"; the caller frees, NULL: none. */
static char *switch_names(const struct runbook *b, size_t *n)
{
	json_t *names = json_pointer_get(b->r->site->document, "/switch/names"), *name;
	struct strbuf text = {0};
	size_t i;

	*n = json_array_size(names);
	json_array_foreach(names, i, name) {
		if (i < NAMES_SHOWN)
			strbuf_printf(&text, "%s%s", i ? ", " : "", json_string_value(name));
	}
	return strbuf_steal(&text);
}

static char *node_names(const struct runbook *b, enum book_where where, size_t *n)
{
	const struct site *site = b->r->site;
	struct strbuf text = {0};

	*n = 0;
	for (size_t i = 0; i < site->n_nodes; i++) {
		if (!runbook_is_at(b->r, &site->nodes[i], where))
			continue;
		if ((*n)++ < NAMES_SHOWN)
			strbuf_printf(&text, "%s%s", text.len ? ", " : "", site->nodes[i].name);
	}
	return strbuf_steal(&text);
}

static void put_where(struct runbook *b, enum book_where where)
{
	static const enum phrase phrases[] = {
		[WHERE_ALL] = PHRASE_ON_ALL,	     [WHERE_KUBE] = PHRASE_ON_KUBE,
		[WHERE_RDMA] = PHRASE_ON_RDMA,	     [WHERE_POD_RDMA] = PHRASE_ON_POD_RDMA,
		[WHERE_GPU] = PHRASE_ON_GPU,	     [WHERE_STORAGE] = PHRASE_ON_STORAGE,
		[WHERE_SWITCH] = PHRASE_ON_SWITCH,
	};
	size_t n;
	_cleanup_free_ char *names =
		where == WHERE_SWITCH ? switch_names(b, &n) : node_names(b, where, &n);
	_cleanup_free_ char *count = xasprintf("%zu", n),
			    *rest = xasprintf("%zu", n > NAMES_SHOWN ? n - NAMES_SHOWN : 0);

	if (n > NAMES_SHOWN)
		book_say(b, PHRASE_ON_MANY, names, rest, count, NULL);
	else if (n)
		book_say(b, phrases[where], names, count, NULL);
}

/* The gates of a phase, and how to ask for them. */
static void put_gates(struct runbook *b, unsigned phase)
{
	_cleanup_strbuf_ struct strbuf ids = {0};
	const struct gate *const *gates;
	size_t n;

	gates = gate_registry(&n);
	book_heading(b, 3, NULL, PHRASE_GATES, NULL);
	for (size_t i = 0; i < n; i++) {
		if (gates[i]->phase != phase)
			continue;
		book_item(b, PHRASE_GATE, gates[i]->id,
			  b->r->korean ? runbook_gate_korean(gates[i]->id) : gates[i]->title, NULL);
		strbuf_printf(&ids, " %s", gates[i]->id);
	}
	book_list_end(b);
	if (phase)
		book_command(b, "./snapshots.sh\nrailhead check --site site.yaml snapshots/*.json\n"
				"railhead explain%s", strbuf_str(&ids));
	else
		book_command(b, "railhead explain%s", strbuf_str(&ids));
}

static void put_phase(struct runbook *b, unsigned phase)
{
	const struct runbook_phase *p = &runbook_phases[phase];
	enum phrase absent = absence(b, phase);
	json_t *document = b->r->site->document;
	int64_t dscp = b->r->site->qos.dscp.value;
	_cleanup_free_ char *number = xasprintf("%u", phase), *anchor = xasprintf("phase-%u", phase),
			    *code_point = xasprintf("%lld", (long long)dscp),
			    *tos = xasprintf("%lld", (long long)dscp << 2),
			    *priority =
				    xasprintf("%lld", (long long)b->r->site->qos.priority.value);
	const char *resource =
			   json_string_value(json_pointer_get(document, "/kubernetes/rdma_resource")),
		   *pod_way = json_string_value(json_pointer_get(document, "/kubernetes/pod_rdma")),
		   *store = json_string_value(json_pointer_get(document, "/storage/kind")),
		   *endpoint = json_string_value(json_pointer_get(document, "/storage/endpoint")),
		   *workload = json_string_value(json_pointer_get(document, "/workload/kind"));

#define VALUES                                                                                  \
	code_point, priority, tos, resource ? resource : "-", pod_way ? pod_way : "-",         \
		store ? store : "-", endpoint ? endpoint : "-", workload ? workload : "-", NULL

	book_heading(b, 2, anchor, PHRASE_PHASE, number, title_of(b, phase), NULL);
	if (absent) {
		book_say(b, PHRASE_NOT_HERE, NULL);
		book_say(b, absent, NULL);
		return;
	}
	book_say(b, p->purpose, VALUES);
	put_where(b, p->where);
	book_heading(b, 3, NULL, PHRASE_STEPS, NULL);
	p->steps(b);
	put_gates(b, phase);
	book_heading(b, 3, NULL, PHRASE_PROOF, NULL);
	book_say(b, p->proof, VALUES);
	book_heading(b, 3, NULL, PHRASE_ROLLBACK, NULL);
	if (p->undo)
		book_say(b, p->undo, VALUES);
	if (p->undo_steps)
		p->undo_steps(b);
	runbook_files(b, phase);
#undef VALUES
}

/* --- the files -------------------------------------------------------------------------------- */

/* "NODE LOGIN PORT" a line, for snapshots.sh. */
static void put_nodes(struct render *r)
{
	struct render_file *file = render_file_add(
		r, 0644, "the nodes and how to reach them, for snapshots.sh", "nodes.txt");

	for (size_t i = 0; i < r->site->n_nodes; i++) {
		const char *name = r->site->nodes[i].name;
		json_t *ssh = render_declared(r, "/nodes/%s/ssh", name);
		const char *user = json_get_string(ssh, "user", NULL);

		strbuf_printf(&file->text, "%s %s%s%s %lld\n", name, user ? user : "",
			      user ? "@" : "", json_get_string(ssh, "address", name),
			      (long long)json_get_int(ssh, "port", 22));
	}
}

static void put_page_head(struct runbook *b)
{
	strbuf_printf(b->html,
		      "<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		      "img-src data:; style-src '" RUNBOOK_CSS_HASH
		      "'; base-uri 'none'; form-action 'none'\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		      "<meta name=\"color-scheme\" content=\"light dark\">\n"
		      "<link rel=\"icon\" href=\"data:,\">\n<title>",
		      b->r->korean ? "ko" : "en");
	format_html(b->html, b->r->site->name);
	strbuf_puts(b->html, " — runbook</title>\n<style>");
	strbuf_puts(b->html, RUNBOOK_CSS);
	strbuf_puts(b->html, "</style>\n</head>\n<body>\n");
}

void render_runbook(struct render *r)
{
	put_nodes(r);
	scripts_add(r, "snapshots", "takes a snapshot of every node", "snapshots.sh");

	struct render_file *md = render_file_add(r, 0644, "the runbook", "runbook.md"),
			   *html = render_file_add(r, 0644, "the runbook as a page", "runbook.html");
	_cleanup_json_ json_t *paths = runbook_paths(r);
	struct runbook b = { .r = r, .paths = paths, .md = &md->text, .html = &html->text };

	runbook_shape_fill(&b.has, r);
	put_page_head(&b);
	book_heading(&b, 1, NULL, PHRASE_TITLE, r->site->name, NULL);
	book_say(&b, PHRASE_INTRO, NULL);
	book_say(&b, PHRASE_RULE, NULL);
	book_say(&b, PHRASE_WORKPLACE, NULL);
	put_plan(&b);
	put_unverified(&b);
	put_omitted(&b);
	put_asking(&b);
	put_order(&b);
	for (unsigned phase = 0; phase < GATE_PHASES; phase++)
		put_phase(&b, phase);
	runbook_files(&b, GATE_PHASES);
	book_end(&b);
	strbuf_puts(b.html, "</body>\n</html>\n");
}
