/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as what perftest wrote: the table of a run, and the reason that it ended. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "prove/perftest_output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = xmalloc(size + 1);
	struct perftest_measured m;

	memcpy(text, data, size);
	text[size] = '\0';	/* as tool_output() does */
	for (int latency = 0; latency < 2; latency++) {
		if (perftest_output_read(&m, latency, text, NULL))
			continue;
		if (!m.size_bytes || !m.iterations ||
		    !(latency ? m.median_ns > 0 && m.max_ns < 1e18 :
				m.gbit_per_s > 0 && m.gbit_per_s < 1e15))
			abort();
	}
	_cleanup_free_ char *reason = perftest_output_reason(text, text);
	if (!text_is_utf8(reason, strlen(reason)) || strchr(reason, '\n'))
		abort();
	return 0;
}
