/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/reports.h"

#include <string.h>

#include "base/alloc.h"

int cmd_report_options(struct report_options *options, const struct cmd_args *args,
		       struct error *err)
{
	*options = (struct report_options){
		.colour = cmd_use_colour(args),
		.ascii = !args->output && isatty(STDOUT_FILENO) && !report_locale_is_utf8(),
		.verbose = args->verbose,
		.quiet = args->quiet,
		.width = cmd_columns(),
	};
	return report_format_from_name(&options->format, args->format ? args->format : "text", err);
}

int cmd_document_print(cmd_printer print, json_t *document, const struct cmd_args *args,
		       struct error *err)
{
	struct report_options options;
	_cleanup_free_ char *text = NULL;
	size_t len;

	int rc = cmd_report_options(&options, args, err);
	if (rc < 0)
		return rc;
	FILE *memory = open_memstream(&text, &len);
	if (!memory)
		alloc_exhausted();
	rc = print(memory, document, &options, err);
	if (fclose(memory))
		alloc_exhausted();
	return rc < 0 ? rc : cmd_output_write(args, text, len, err);
}

int cmd_report_write(json_t *document, const struct cmd_args *args, struct error *err)
{
	return cmd_document_print(report_write_document, document, args, err);
}
