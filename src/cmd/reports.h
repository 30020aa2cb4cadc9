/* SPDX-License-Identifier: Apache-2.0 */
/* How the verbs print what the report room makes: format, colour and width from the options. */
#pragma once

#include "base/json.h"
#include "cmd/cmd.h"
#include "report/report.h"

/* Options of the report room from those of the command line. */
int cmd_report_options(struct report_options *options, const struct cmd_args *args,
		       struct error *err);

/* Prints a document of one kind: report_write_document(), report_components(), … */
typedef int (*cmd_printer)(FILE *out, json_t *document, const struct report_options *options,
			   struct error *err);

/* Print a document in the wanted format to standard output or --output. */
int cmd_document_print(cmd_printer print, json_t *document, const struct cmd_args *args,
		       struct error *err);
/* Write a report document in the wanted format to standard output or --output. */
int cmd_report_write(json_t *document, const struct cmd_args *args, struct error *err);
