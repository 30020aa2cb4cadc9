/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strings.h"

#include <string.h>

void strings_add(char ***strings, char *text)
{
	size_t n = 0;

	while (*strings && (*strings)[n])
		n++;
	*strings = xreallocarray(*strings, n + 2, sizeof(char *));
	(*strings)[n] = text;
	(*strings)[n + 1] = NULL;
}

void strings_add_once(char ***strings, const char *text)
{
	if (!strings_have(*strings, text))
		strings_add(strings, xstrdup(text));
}

bool strings_have(char *const *strings, const char *text)
{
	for (; strings && *strings; strings++) {
		if (!strcmp(*strings, text))
			return true;
	}
	return false;
}

void strings_free(char **strings)
{
	for (char **s = strings; s && *s; s++)
		free(*s);
	free(strings);
}
