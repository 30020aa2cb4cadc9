/* SPDX-License-Identifier: Apache-2.0 */
/* Looking for signatures in the kernel log of a snapshot. The table is in signature_table.c. */
#include "judge/signature.h"

#include <string.h>

static bool matches(const struct signature *s, const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(s->all_of) && s->all_of[i]; i++) {
		if (!strstr(text, s->all_of[i]))
			return false;
	}
	return true;
}

const struct signature *signature_of_text(const char *text)
{
	size_t n;
	const struct signature *table = signature_table(&n);

	for (size_t i = 0; i < n; i++) {
		if (matches(&table[i], text))
			return &table[i];
	}
	return NULL;
}

/* `about` as a word of its own: "ens1f0" is not in a line about "ens1f0np0" or "ens1f01". */
static bool mentions(const char *text, const char *about)
{
	size_t len = strlen(about);

	for (const char *s = len ? strstr(text, about) : NULL; s; s = strstr(s + 1, about)) {
		const char *after = s + len;
		bool word = !*after || strchr(" :,()\t", *after) ||
			    (*after == '.' && (!after[1] || after[1] == ' '));

		if (word && (s == text || strchr(" (\t", s[-1])))
			return true;
	}
	return false;
}

/* Index of the newest line with a meaning `id` (any entry of that id), or -1. */
static int64_t newest(json_t *snapshot, const char *id, const char *about)
{
	json_t *lines = json_at(snapshot, "/os/log/lines");
	size_t n;
	const struct signature *table = signature_table(&n);

	for (size_t i = json_array_size(lines); i-- > 0;) {
		const char *text = json_get_string(json_array_get(lines, i), "text", "");

		if (about && !mentions(text, about))
			continue;
		for (size_t k = 0; k < n; k++) {
			if (!strcmp(table[k].id, id) && matches(&table[k], text))
				return (int64_t)i;
		}
	}
	return -1;
}

json_t *signature_find(json_t *snapshot, const char *id, const char *about)
{
	int64_t i = newest(snapshot, id, about);

	return i < 0 ? NULL : json_array_get(json_at(snapshot, "/os/log/lines"), (size_t)i);
}

json_t *signature_fact(struct judging *g, const char *id, const char *about)
{
	int64_t i = newest(g->snapshot, id, about);

	return i < 0 ? NULL : fact_optional(g, "/os/log/lines/%u", (unsigned)i);
}

bool signature_newer(json_t *snapshot, const char *id, const char *than, const char *about)
{
	int64_t a = newest(snapshot, id, about);

	return a >= 0 && a > newest(snapshot, than, about);
}
