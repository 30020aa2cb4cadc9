/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is given by hand as long as railhead has no verb for it: `railhead qos apply`. When a verb
 * comes, its function here gives the verb instead.
 *
 * Syntax: dcb(8), dcb-app(8), dcb-ets(8) and dcb-pfc(8) of iproute2.
 */
#include "render/runbook.h"

#include <string.h>

#include "base/text.h"

/* The rendered plan of a node (qos.c), parsed; NULL: none was rendered. New reference. */
static json_t *plan_of(const struct runbook *b, const struct site_node *node)
{
	_cleanup_free_ char *path = xasprintf("qos/%s/qos-plan.json", node->name);
	_cleanup_error_ struct error err = {0};
	json_t *plan = NULL;

	for (size_t i = 0; i < b->r->n_files; i++) {
		const struct render_file *file = b->r->files[i];

		if (!strcmp(file->path, path) &&
		    json_parse(&plan, file->text.s, file->text.len, path, &err) < 0)
			render_refuse(b->r, "%s", error_text(&err));
	}
	return plan;
}

/* " tc-bw 0:30 1:10 …" of an array by priority or class. */
static void put_map(struct strbuf *s, const char *name, json_t *values)
{
	json_t *value;
	size_t i;

	strbuf_printf(s, " %s", name);
	json_array_foreach(values, i, value) {
		if (json_is_string(value))
			strbuf_printf(s, " %zu:%s", i, json_string_value(value));
		else
			strbuf_printf(s, " %zu:%lld", i, (long long)json_integer_value(value));
	}
}

static const char *on_off(json_t *step, const char *key)
{
	return json_get_bool(step, key, false) ? "on" : "off";
}

static void put_ets(struct strbuf *s, json_t *step, bool fixed_classes)
{
	strbuf_puts(s, "dcb ets set dev \"$port\"");
	if (!fixed_classes)
		put_map(s, "prio-tc", json_object_get(step, "prio_tc"));
	put_map(s, "tc-tsa", json_object_get(step, "tc_tsa"));
	put_map(s, "tc-bw", json_object_get(step, "tc_bandwidth"));
}

/* A step of the plan (docs/qos-plan.md) as a command on $port. */
static void put_step(struct strbuf *s, json_t *step, const char *driver)
{
	const char *set = json_get_string(step, "set", "");
	json_t *value;
	size_t i;

	if (!strcmp(set, "private-flag")) {
		strbuf_printf(s, "ethtool --set-priv-flags \"$port\" %s %s",
			      json_get_string(step, "flag", ""), on_off(step, "value"));
	} else if (!strcmp(set, "dcbx")) {
		strbuf_puts(s, "dcb dcbx set dev \"$port\"");
		json_array_foreach(json_object_get(step, "mode"), i, value)
			strbuf_printf(s, " %s", json_string_value(value));
	} else if (!strcmp(set, "pause")) {
		strbuf_printf(s, "ethtool --pause \"$port\" autoneg %s rx %s tx %s",
			      on_off(step, "autoneg"), on_off(step, "rx"), on_off(step, "tx"));
	} else if (!strcmp(set, "dscp")) {
		strbuf_printf(s, "dcb app add dev \"$port\" dscp-prio %lld:%lld",
			      (long long)json_get_int(step, "dscp", 0),
			      (long long)json_get_int(step, "priority", 0));
	} else if (!strcmp(set, "ets")) {
		/* in DSCP mode ice fixes priority n to class n and refuses a map */
		put_ets(s, step, !strcmp(driver, "ice"));
	} else if (!strcmp(set, "pfc")) {
		strbuf_puts(s, "dcb pfc set dev \"$port\" prio-pfc all:off");
		json_array_foreach(json_object_get(step, "priorities"), i, value)
			strbuf_printf(s, " %lld:on", (long long)json_integer_value(value));
	} else {
		strbuf_printf(s, "# %s: qos-plan.json", set);
	}
}

static void put_ports(struct strbuf *s, const char *ports, json_t *port)
{
	json_t *step;
	size_t i;

	strbuf_printf(s, "%sfor port in %s; do\n", s->len ? "\n" : "", ports);
	json_array_foreach(json_object_get(port, "steps"), i, step) {
		strbuf_putc(s, '\t');
		put_step(s, step, json_get_string(port, "driver", ""));
		strbuf_putc(s, '\n');
	}
	strbuf_puts(s, "done");
}

void runbook_hand_qos(struct runbook *b, const struct site_node *node)
{
	_cleanup_json_ json_t *plan = plan_of(b, node);
	json_t *ports = json_object_get(plan, "ports"), *port;
	json_t *first = json_object_get(json_array_get(ports, 0), "steps");
	_cleanup_strbuf_ struct strbuf s = {0};
	bool alike = true;
	size_t i;

	json_array_foreach(ports, i, port)
		alike = alike && json_equal(json_object_get(port, "steps"), first);
	json_array_foreach(ports, i, port) {
		_cleanup_free_ char *names =
			alike ? runbook_nics(node) :
				runbook_quoted(json_get_string(port, "link", ""));

		if (!alike || !i)
			put_ports(&s, names, port);
	}
	if (s.len)
		book_command(b, "%s", s.s);
}

void runbook_hand_boot(struct runbook *b)
{
	book_say(b, PHRASE_QOS_UNIT, NULL);
}

void runbook_hand_qos_undo(struct runbook *b, const struct site_node *node)
{
	_cleanup_free_ char *ports = runbook_nics(node);

	book_command(b,
		     "for port in %s; do\n"
		     "\tdcb pfc set dev \"$port\" prio-pfc all:off\n"
		     "\tdcb app flush dev \"$port\" dscp-prio\n"
		     "done",
		     ports);
}
