/* SPDX-License-Identifier: Apache-2.0 */
/* A proof record that its check lets through: shown for itself, and as a part of a report. */
#include <stdint.h>

#include "prove/record.h"
#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static json_t *document_new(json_t *records)
{
	static char site[] = "fuzz";
	struct ladder ladder = { .site_name = site };
	json_t *document = report_document(&ladder), *again = NULL;

	report_put_proofs(document, records);
	/* what is made must be what is read back */
	if (report_read(&again, document, "fuzz", NULL) < 0)
		__builtin_trap();
	json_decref(document);
	return again;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum report_format formats[] = { REPORT_TEXT, REPORT_JSON, REPORT_HTML };
	static FILE *nowhere;
	_cleanup_json_ json_t *record = NULL, *records = json_array_new();

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (json_parse(&record, (const char *)data, size, "fuzz", NULL) < 0 ||
	    proof_record_check(record, "fuzz", NULL) < 0)
		return 0;
	json_append(records, json_incref(record));
	_cleanup_json_ json_t *document = document_new(records);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct report_options options = {
			.format = formats[i],
			.width = size % 2 ? 41 : 0,
			.verbose = size % 3 == 0,
		};

		if (report_proofs(nowhere, records, &options, NULL) < 0 ||
		    report_write_document(nowhere, document, &options, NULL) < 0)
			__builtin_trap();
	}
	return 0;
}
