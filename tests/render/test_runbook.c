/* SPDX-License-Identifier: Apache-2.0 */
/* The phrases of the runbook, each by itself; test_render_runbook.py reads whole books. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "render/runbook.h"

/* How often each argument is used: code at [i], plain at [10 + i]. */
static void count_arguments(const char *text, unsigned counts[20])
{
	memset(counts, 0, 20 * sizeof(*counts));
	for (const char *s = text; (s = strchr(s, '{')); s++) {
		assert_true(s[1] >= '0' && s[1] <= '9');
		if (s[2] == '!') {
			assert_int_equal(s[3], '}');
			counts[10 + s[1] - '0']++;
		} else {
			assert_int_equal(s[2], '}');
			counts[s[1] - '0']++;
		}
	}
}

static unsigned count(const char *text, char c)
{
	unsigned n = 0;

	for (; *text; text++)
		n += *text == c;
	return n;
}

/* A letter of the Hangul syllables, U+AC00 to U+D7A3: three bytes from 0xEA to 0xED. */
static bool has_hangul(const char *text)
{
	for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
		if (*s >= 0xea && *s <= 0xed)
			return true;
	}
	return false;
}

/* Phrases that are names and arguments alone read the same in both languages. */
static bool is_neutral(const char *text)
{
	for (const char *s = text; *s; s++) {
		if ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z'))
			return false;
	}
	return true;
}

static void test_phrases(void **state RH_UNUSED)
{
	for (unsigned i = PHRASE_NONE + 1; i < PHRASES; i++) {
		const char *en = phrase_text(i, false), *ko = phrase_text(i, true);
		unsigned in_en[20], in_ko[20];

		if (!*en || !*ko)
			fail_msg("phrase %u lacks a language: '%s' '%s'", i, en, ko);
		count_arguments(en, in_en);
		count_arguments(ko, in_ko);
		if (memcmp(in_en, in_ko, sizeof(in_en)) != 0)
			fail_msg("other arguments in Korean:\n%s\n%s", en, ko);
		if (count(en, '`') % 2 || count(en, '`') != count(ko, '`'))
			fail_msg("other code in Korean:\n%s\n%s", en, ko);
		if (has_hangul(en) || (!has_hangul(ko) && !is_neutral(en)))
			fail_msg("not in its language:\n%s\n%s", en, ko);
		assert_true(text_is_utf8(ko, strlen(ko)));
	}
}

static void test_titles(void **state RH_UNUSED)
{
	const struct gate *const *gates;
	size_t n;

	gates = gate_registry(&n);
	for (size_t i = 0; i < n; i++) {
		if (!has_hangul(runbook_gate_korean(gates[i]->id)))
			fail_msg("%s has no Korean title", gates[i]->id);
	}
	for (unsigned phase = 0; phase < GATE_PHASES; phase++) {
		const struct runbook_phase *p = &runbook_phases[phase];

		assert_true(*gate_phase_title(phase));
		if (!p->title_ko || (!has_hangul(p->title_ko)))
			fail_msg("phase %u has no Korean title", phase);
		assert_true(p->purpose && p->proof && p->steps && (p->undo || p->undo_steps));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_phrases),
		cmocka_unit_test(test_titles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
