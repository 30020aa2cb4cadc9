/* SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include <string.h>

#include "base/strbuf.h"

int scene_open(void **state)
{
	struct scene *s = xcalloc(1, sizeof(*s));
	json_error_t why;

	s->snapshots[0] = json_load_file(
		RAILHEAD_SOURCE "/tests/data/snapshots/e810-b300-healthy.json", 0, &why);
	if (!s->snapshots[0])
		fail_msg("healthy snapshot: %s", why.text);
	s->ports[0] = (struct site_rdma){ .link = TEXT("ens1f0"), .rail = TEXT("rail0") };
	s->ports[1] = (struct site_rdma){ .link = TEXT("ens1f1"), .rail = TEXT("rail1") };
	s->gpu = (struct site_gpu){ .model = TEXT("B300"), .pci_id = TEXT("10de:3182"),
				    .count = { true, 8 }, .driver_min = TEXT("580.82.07") };
	s->nodes[0] = (struct site_node){
		.name = TEXT("gpu-1"), .roles = SITE_ROLE_GPU, .os_id = TEXT("rhel"),
		.os_version = TEXT("10.2"), .kernel = TEXT("6.12.0-*.el10_2.x86_64"),
		.memlock_bytes = { true, -1 }, .rdma = s->ports, .n_rdma = 2, .gpus = &s->gpu,
		.n_gpus = 1,
	};
	s->nodes[1] = (struct site_node){ .name = TEXT("gpu-2"), .roles = SITE_ROLE_GPU };
	s->site = (struct site){ .name = TEXT("scene"), .gpudirect = true, .nodes = s->nodes,
				 .n_nodes = 2 };
	*state = s;
	return 0;
}

int scene_close(void **state)
{
	struct scene *s = *state;

	json_decref(s->snapshots[0]);
	json_decref(s->snapshots[1]);
	if (s->ladder)
		ladder_free(s->ladder);
	free(s);
	return 0;
}

json_t *scene_json(const char *text)
{
	_cleanup_free_ char *copy = xstrdup(text);
	json_error_t why;
	json_t *value;

	for (char *c = copy; *c; c++) {
		if (*c == '\'')
			*c = '"';
	}
	value = json_loads(copy, JSON_DECODE_ANY, &why);
	if (!value)
		fail_msg("%s: %s", why.text, copy);
	return value;
}

/* Next segment of a pointer, unescaped. */
static char *segment(const char **cursor)
{
	_cleanup_strbuf_ struct strbuf b = {0};
	const char *c = *cursor + 1;

	for (; *c && *c != '/'; c++) {
		if (*c == '~' && (c[1] == '0' || c[1] == '1'))
			strbuf_putc(&b, *++c == '0' ? '~' : '/');
		else
			strbuf_putc(&b, *c);
	}
	*cursor = c;
	return strbuf_steal(&b);
}

void scene_set(json_t *snapshot, const char *pointer, const char *value)
{
	json_t *at = snapshot;

	while (*pointer == '/') {
		_cleanup_free_ char *key = segment(&pointer);

		if (*pointer == '/')
			at = json_obj(at, key);
		else if (value)
			json_object_set_new(at, key, scene_json(value));
		else
			json_object_del(at, key);
	}
}

const struct ladder *scene_judge_paper(struct scene *s, const struct gate *gates, size_t n,
				       bool paper)
{
	_cleanup_free_ const struct gate **list = xcalloc(n, sizeof(*list));
	struct judge_node nodes[2] = {
		{ &s->nodes[0], s->snapshots[0] }, { &s->nodes[1], s->snapshots[1] },
	};
	struct judge_input input = {
		.site = &s->site, .nodes = nodes, .n_nodes = s->snapshots[1] ? 2 : 1,
		.paper = paper, .gates = list, .n_gates = n,
	};

	for (size_t i = 0; i < n; i++)
		list[i] = &gates[i];
	if (s->ladder)
		ladder_free(s->ladder);
	s->ladder = NULL;
	assert_int_equal(judge_all(&s->ladder, &input, NULL), 0);
	return s->ladder;
}

const struct ladder *scene_judge(struct scene *s, const struct gate *gates, size_t n)
{
	return scene_judge_paper(s, gates, n, false);
}

const struct verdict *scene_verdict(const struct ladder *ladder, const char *gate,
				    const char *subject)
{
	for (size_t i = 0; i < ladder->n_verdicts; i++) {
		const struct verdict *v = &ladder->verdicts[i];

		if (!strcmp(v->gate->id, gate) &&
		    (!subject || (v->subject && !strcmp(v->subject, subject))))
			return v;
	}
	fail_msg("no verdict of %s %s", gate, subject ? subject : "");
	return NULL;
}

/* The whole verdict, for the message of a failed test. */
static char *describe(const struct verdict *v)
{
	struct strbuf b = {0};

	strbuf_printf(&b, "%s %s: %s, %s", v->gate->id, v->subject ? v->subject : "",
		      verdict_status_name(v->status), v->summary);
	for (size_t i = 0; i < v->n_causes; i++)
		strbuf_printf(&b, "\n  %s%s: %s", v->causes[i].candidate ? "? " : "",
			      v->causes[i].id, v->causes[i].text);
	if (v->explained_by)
		strbuf_printf(&b, "\n  explained by %s", v->explained_by);
	return strbuf_steal(&b);
}

void scene_status(const struct verdict *v, enum verdict_status status)
{
	_cleanup_free_ char *text = describe(v);

	if (v->status != status)
		fail_msg("wanted %s, is %s", verdict_status_name(status), text);
}

static const struct cause *cause_of(const struct verdict *v, const char *id, bool candidate)
{
	for (size_t i = 0; i < v->n_causes; i++) {
		if (!strcmp(v->causes[i].id, id) && v->causes[i].candidate == candidate)
			return &v->causes[i];
	}
	return NULL;
}

void scene_cause(const struct verdict *v, const char *id, const char *text)
{
	_cleanup_free_ char *all = describe(v);
	const struct cause *c = cause_of(v, id, false);

	if (!c)
		fail_msg("no cause %s in %s", id, all);
	else if (text && !strstr(c->text, text))
		fail_msg("no \"%s\" in the text of %s: %s", text, id, c->text);
}

void scene_no_cause(const struct verdict *v, const char *id)
{
	_cleanup_free_ char *all = describe(v);

	if (cause_of(v, id, false))
		fail_msg("cause %s must not be named: %s", id, all);
}

void scene_candidate(const struct verdict *v, const char *id)
{
	_cleanup_free_ char *all = describe(v);

	if (!cause_of(v, id, true))
		fail_msg("no candidate %s in %s", id, all);
}

void scene_summary(const struct verdict *v, const char *text)
{
	if (!strstr(v->summary, text))
		fail_msg("no \"%s\" in the summary: %s", text, v->summary);
}
