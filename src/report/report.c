/* SPDX-License-Identifier: Apache-2.0 */
/* From a document to bytes in a file. */
#include "report/report.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "report/internal.h"

static const char *const format_names[] = {
	[REPORT_TEXT] = "text",	  [REPORT_JSON] = "json", [REPORT_HTML] = "html",
	[REPORT_JUNIT] = "junit", [REPORT_CTRF] = "ctrf",
};

int report_format_from_name(enum report_format *format, const char *name, struct error *err)
{
	const char *nearest;

	for (size_t i = 0; i < ARRAY_SIZE(format_names); i++) {
		if (!strcmp(name, format_names[i])) {
			*format = (enum report_format)i;
			return 0;
		}
	}
	nearest = text_nearest(name, format_names, ARRAY_SIZE(format_names));
	_cleanup_free_ char *safe = safe_text(name);
	return error_set(err, -EINVAL, "unknown format '%s'%s%s%s: text, json, html, junit or ctrf",
			 safe, nearest ? ", did you mean '" : "", nearest ? nearest : "",
			 nearest ? "'" : "");
}

int report_emit(FILE *out, const struct strbuf *text, struct error *err)
{
	/* one write of the whole report, so that errno belongs to the failure that is reported */
	errno = 0;
	if (fwrite(strbuf_str(text), 1, text->len, out) != text->len || fflush(out) != 0)
		return error_set_errno(err, errno ? -errno : -EIO, "cannot write the report");
	return 0;
}

static int dump(const char *buffer, size_t size, void *data)
{
	strbuf_add(data, buffer, size);
	return 0;
}

int report_emit_json(FILE *out, json_t *json, struct error *err)
{
	_cleanup_strbuf_ struct strbuf text = {0};

	if (json_dump_callback(json, dump, &text, JSON_INDENT(2)) < 0)
		alloc_exhausted();
	strbuf_putc(&text, '\n');
	return report_emit(out, &text, err);
}

int report_text_or_json(FILE *out, json_t *document, const char *what, report_text render,
			const struct report_options *options, struct error *err)
{
	_cleanup_strbuf_ struct strbuf text = {0};
	struct width_scope scope;

	if (options->format == REPORT_JSON)
		return report_emit_json(out, document, err);
	if (options->format != REPORT_TEXT)
		return error_set(err, -ENOTSUP, "%s: printed as text or json, not as %s", what,
				 format_names[options->format]);
	width_enter(&scope);
	render(&text, document, options);
	width_leave(&scope);
	return report_emit(out, &text, err);
}

int report_write_document(FILE *out, json_t *document, const struct report_options *options,
			  struct error *err)
{
	_cleanup_strbuf_ struct strbuf text = {0};

	switch (options->format) {
	case REPORT_TEXT:
		text_render(&text, document, options);
		break;
	case REPORT_JSON:
		return report_emit_json(out, document, err);
	case REPORT_HTML:
		html_render(&text, document);
		break;
	case REPORT_JUNIT:
		junit_render(&text, document);
		break;
	case REPORT_CTRF: {
		_cleanup_json_ json_t *ctrf = ctrf_document(document);
		return report_emit_json(out, ctrf, err);
	}
	}
	return report_emit(out, &text, err);
}

int report_write(FILE *out, const struct ladder *ladder, const struct report_options *options,
		 struct error *err)
{
	_cleanup_json_ json_t *document = report_document(ladder);

	return report_write_document(out, document, options, err);
}
