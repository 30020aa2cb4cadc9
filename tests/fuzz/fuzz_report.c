/* SPDX-License-Identifier: Apache-2.0 */
/* A stored report: parsed, checked, and written in every form when it is accepted. */
#include <stdint.h>

#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum report_format formats[] = {REPORT_TEXT, REPORT_JSON, REPORT_HTML,
						     REPORT_JUNIT, REPORT_CTRF};
	static FILE *nowhere;
	_cleanup_json_ json_t *json = NULL, *document = NULL;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (json_parse(&json, (const char *)data, size, "fuzz", NULL) < 0 ||
	    report_read(&document, json, "fuzz", NULL) < 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		for (unsigned verbose = 0; verbose < (formats[i] == REPORT_TEXT ? 3u : 1u);
		     verbose++) {
			struct report_options options = {
				.format = formats[i],
				.width = size % 2 ? 41 : 0,
				.ascii = size % 3 == 0,
				.colour = size % 5 == 0,
				.verbose = verbose,
			};

			if (report_write_document(nowhere, document, &options, NULL) < 0)
				__builtin_trap();
		}
	}
	return 0;
}
