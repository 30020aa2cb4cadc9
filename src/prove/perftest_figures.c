/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/perftest_figures.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "prove/perftest_output.h"

#define VERSION_MAX 64u
#define COMMAND_MAX 4096u
#define FIGURE_MAX 1e15

/* --- into a message --------------------------------------------------------------------------- */

static char *command_text(char *const *words)
{
	struct strbuf text = {0};

	/* the name alone, as people write it */
	strbuf_puts(&text, strrchr(words[0], '/') + 1);
	for (size_t i = 1; words[i]; i++)
		strbuf_printf(&text, " %s", words[i]);
	return strbuf_steal(&text);
}

static void put_measured(json_t *message, const struct perftest_measured *m, bool latency)
{
	json_put_u64(message, "size_bytes", m->size_bytes);
	json_put_u64(message, "messages", m->iterations);
	if (!latency) {
		json_put(message, "gbit_per_s", json_real(m->gbit_per_s));
		json_put(message, "messages_per_s", json_real(m->messages_per_s));
		return;
	}
	json_put_int(message, "min_ns", llround(m->min_ns));
	json_put_int(message, "median_ns", llround(m->median_ns));
	json_put_int(message, "p99_ns", llround(m->p99_ns));
	json_put_int(message, "p99_9_ns", llround(m->p99_9_ns));
	json_put_int(message, "max_ns", llround(m->max_ns));
}

int perftest_figures_put(json_t *message, const struct perftest_tool *tool, char *const *words,
			 bool latency, const char *output, struct error *err)
{
	_cleanup_free_ char *command = command_text(words);
	struct perftest_measured m;

	int rc = perftest_output_read(&m, latency, output, err);
	if (rc < 0)
		return error_wrap(err, "%s %s", tool->name, tool->version);
	json_put_string(message, "version", tool->version);
	json_put_string(message, "command", command);
	put_measured(message, &m, latency);
	return 0;
}

/* --- into a record ---------------------------------------------------------------------------- */

static int take_text(json_t *to, json_t *message, const char *key, size_t max, struct error *err)
{
	const char *text = json_get_string(message, key, "");

	if (!*text || strlen(text) > max)
		return error_set(err, -EPROTO, "perftest's figures have no %s", key);
	json_put_string(to, key, text);
	return 0;
}

static int take_number(json_t *to, json_t *message, const char *key, struct error *err)
{
	json_t *number = json_object_get(message, key);
	double value = json_number_value(number);

	if (!json_is_number(number) || !(value >= 0 && value < FIGURE_MAX))
		return error_set(err, -EPROTO, "perftest's figures have no %s", key);
	json_put(to, key, json_incref(number));
	return 0;
}

int perftest_figures_take(json_t *result, json_t *message, const struct perftest_tool *tool,
			  bool latency, const struct perftest_request *r, struct error *err)
{
	static const char *const speeds[] = { "messages", "gbit_per_s", "messages_per_s", NULL };
	static const char *const times[] = { "messages", "median_ns", "min_ns", "p99_ns",
					     "p99_9_ns", "max_ns", NULL };

	json_put_string(result, "tool", tool->name);
	int rc = take_text(result, message, "version", VERSION_MAX, err);
	if (!rc)
		rc = take_text(result, message, "command", COMMAND_MAX, err);
	if (!rc && json_get_int(message, "size_bytes", 0) != (int64_t)r->size_bytes)
		rc = error_set(err, -EPROTO,
			       "perftest was of messages of %zu bytes, and says otherwise",
			       r->size_bytes);
	for (const char *const *key = latency ? times : speeds; *key && !rc; key++)
		rc = take_number(result, message, *key, err);
	if (rc < 0)
		return rc;
	json_put_int(result, "size_bytes", (int64_t)r->size_bytes);
	if (!latency) {
		json_put_int(result, "qps", r->qps);
		json_put_int(result, "depth", r->depth);
	}
	return 0;
}

void perftest_figures_compare(json_t *result, json_t *own, bool latency)
{
	const char *key = latency ? "median_ns" : "gbit_per_s";
	double ours = json_number_value(json_object_get(own, key));
	double theirs = json_number_value(json_object_get(result, key));

	if (ours > 0 && theirs > 0)
		json_put(result, "ratio", json_real(ours / theirs));
}
