/* SPDX-License-Identifier: Apache-2.0 */
/* JSON pointers, RFC 6901: "/links/bond1/mtu"; '~' is written ~0 and '/' in a name ~1. */
#include <string.h>

#include "base/json.h"
#include "base/strbuf.h"
#include "base/text.h"

static void add_escaped(struct strbuf *b, const char *s)
{
	for (; *s; s++) {
		if (*s == '~')
			strbuf_puts(b, "~0");
		else if (*s == '/')
			strbuf_puts(b, "~1");
		else
			strbuf_putc(b, *s);
	}
}

char *json_pointer_vformat(const char *fmt, va_list ap)
{
	struct strbuf b = {0};

	for (; *fmt; fmt++) {
		if (*fmt != '%') {
			strbuf_putc(&b, *fmt);
			continue;
		}
		switch (*++fmt) {
		case 's': {
			const char *s = va_arg(ap, const char *);

			add_escaped(&b, s ? s : "");
			break;
		}
		case 'd':
			strbuf_printf(&b, "%d", va_arg(ap, int));
			break;
		case 'u':
			strbuf_printf(&b, "%u", va_arg(ap, unsigned));
			break;
		case 'z': /* %zu: list positions */
			fmt++;
			strbuf_printf(&b, "%zu", va_arg(ap, size_t));
			break;
		case '%':
			strbuf_putc(&b, '%');
			break;
		default: /* a format outside the documented set is a mistake in the caller */
			abort();
		}
	}
	return strbuf_steal(&b);
}

char *json_pointer_format(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *pointer = json_pointer_vformat(fmt, ap);
	va_end(ap);
	return pointer;
}

/* Undo the escapes of one segment, in place. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '~' && (s[1] == '0' || s[1] == '1')) {
			*to++ = s[1] == '0' ? '~' : '/';
			s++;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

static json_t *step(json_t *at, char *segment)
{
	uint64_t index;

	if (json_is_object(at)) {
		unescape(segment);
		return json_object_get(at, segment);
	}
	if (json_is_array(at) && !text_to_u64(segment, 10, &index))
		return json_array_get(at, index);
	return NULL;
}

json_t *json_pointer_get(json_t *root, const char *pointer)
{
	_cleanup_free_ char *copy = xstrdup(pointer);
	char *s = copy;

	if (!*s)
		return root;
	if (*s != '/')
		return NULL;
	while (root && s) {
		char *segment = s + 1;

		s = strchr(segment, '/');
		if (s)
			*s = '\0';
		root = step(root, segment);
	}
	return root;
}

json_t *json_at(json_t *root, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *pointer = json_pointer_vformat(fmt, ap);
	va_end(ap);
	return json_pointer_get(root, pointer);
}
