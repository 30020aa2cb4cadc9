/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdicts that say the same. A node with 8 GPUs and 8 ports has 64 paths; a reader wants to see
 * the two or three kinds of them. Two verdicts of one gate are alike when all that they say is
 * equal once the names of their own node and subject are taken out of the text.
 */
#include <ctype.h>
#include <string.h>

#include "report/internal.h"

/* A name inside a text, and the byte that stands for it in a key. */
struct stand_in {
	const char *name;
	size_t len;
	char byte;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == ':' || (c & 0x80);
}

/* `s` with each name, where it stands as a word of its own, replaced by its byte. */
static void put_masked(struct strbuf *key, const char *s, const struct stand_in *names, size_t n)
{
	const char *start = s;

	while (*s) {
		size_t i = 0;

		for (; i < n; i++) {
			if (names[i].len && !strncmp(s, names[i].name, names[i].len) &&
			    (s == start || !is_word(s[-1])) && !is_word(s[names[i].len]))
				break;
		}
		if (i < n) {
			strbuf_putc(key, names[i].byte);
			s += names[i].len;
		} else {
			strbuf_putc(key, *s++);
		}
	}
	strbuf_putc(key, '\n');
}

/* The names of a verdict, longest first where one can hold another: subject, its parts, node. */
static size_t own_names(struct stand_in names[4], json_t *verdict)
{
	static const char *const between[] = {" → ", " ↔ "};
	const char *subject = json_get_string(verdict, "subject", "");
	const char *node = json_get_string(verdict, "node", "");
	size_t n = 0;

	if (*subject)
		names[n++] = (struct stand_in){subject, strlen(subject), '\1'};
	for (size_t i = 0; i < ARRAY_SIZE(between); i++) {
		const char *cut = strstr(subject, between[i]);

		if (!cut)
			continue;
		names[n++] = (struct stand_in){subject, (size_t)(cut - subject), '\2'};
		cut += strlen(between[i]);
		names[n++] = (struct stand_in){cut, strlen(cut), '\3'};
		break;
	}
	if (*node)
		names[n++] = (struct stand_in){node, strlen(node), '\4'};
	return n;
}

static char *key_new(json_t *verdict)
{
	static const char *const single[] = {"status", "summary", "explained_by", "obtain"};
	static const char *const lists[] = {"blocked_by", "assumed"};
	struct stand_in names[4];
	size_t n = own_names(names, verdict), i, k;
	struct strbuf key = {0};
	json_t *item, *option;

	for (k = 0; k < ARRAY_SIZE(single); k++)
		put_masked(&key, json_get_string(verdict, single[k], ""), names, n);
	for (k = 0; k < ARRAY_SIZE(lists); k++) {
		json_array_foreach(json_object_get(verdict, lists[k]), i, item)
			put_masked(&key, json_string_value(item), names, n);
		strbuf_puts(&key, "\n.\n");
	}
	json_array_foreach(json_object_get(verdict, "causes"), i, item) {
		put_masked(&key, json_get_string(item, "id", ""), names, n);
		put_masked(&key, json_get_string(item, "text", ""), names, n);
		put_masked(&key, json_get_string(item, "fix", ""), names, n);
		json_array_foreach(json_object_get(item, "options"), k, option)
			put_masked(&key, json_string_value(option), names, n);
		strbuf_putc(&key, json_get_bool(item, "candidate", false) ? '?' : '!');
	}
	strbuf_putc(&key, json_get_bool(verdict, "double", false) ? 'd' : 'r');
	return strbuf_steal(&key);
}

size_t group_run_end(json_t *verdicts, size_t from, size_t boundary)
{
	const char *gate = json_get_string(json_array_get(verdicts, from), "gate", "");
	size_t n = json_array_size(verdicts), end = from + 1;

	while (end < n && end != boundary &&
	       !strcmp(json_get_string(json_array_get(verdicts, end), "gate", ""), gate))
		end++;
	return end;
}

void group_verdicts(struct groups *groups, json_t *verdicts, size_t from, size_t to)
{
	_cleanup_json_ json_t *seen = json_object_new();

	for (size_t i = from; i < to; i++) {
		_cleanup_free_ char *key = key_new(json_array_get(verdicts, i));
		size_t at = (size_t)json_get_int(seen, key, (int64_t)groups->n);
		struct group *g;

		if (at == groups->n) {
			json_put_int(seen, key, (int64_t)at);
			array_reserve(groups->list, groups->n, groups->capacity);
			groups->list[groups->n++] = (struct group){0};
		}
		g = &groups->list[at];
		array_reserve(g->members, g->n, g->capacity);
		g->members[g->n++] = i;
	}
}

void groups_clear(struct groups *groups)
{
	for (size_t i = 0; i < groups->n; i++)
		free(groups->list[i].members);
	free(groups->list);
	*groups = (struct groups){0};
}
