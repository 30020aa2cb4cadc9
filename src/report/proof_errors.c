/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of errors and drops that grew during the runs of a proof: what its bytes had to survive. */
#include <inttypes.h>
#include <string.h>

#include "judge/family.h"
#include "report/proof_errors.h"

struct errors {
	struct strbuf *grown;
	size_t known;
};

static void look_at(struct errors *e, const char *prefix, const char *name, json_t *counter)
{
	uint64_t value;

	if (!json_u64(counter, &value))
		return;
	e->known++;
	if (value)
		strbuf_printf(e->grown, "%s%s%s%s +%" PRIu64, e->grown->len ? ", " : "", prefix,
			      *prefix ? " " : "", name, value);
}

/* Those of the RDMA device, as its family names them. */
static void look_at_rdma(struct errors *e, json_t *end)
{
	const char *driver = json_get_string(json_at(end, "/fingerprint/rdma"), "driver", "");
	const struct family *family = family_of_rdma_driver(driver);
	json_t *rdma = json_at(end, "/counters/difference/rdma");

	for (const char *const *name = family ? family->error_counters : NULL; name && *name; name++)
		look_at(e, "", *name, json_object_get(rdma, *name));
}

/* Those of a link: the kernel's and the driver's own are many and have no common names. */
static void look_at_link(struct errors *e, const char *link, json_t *counters)
{
	static const char *const words[] = { "drop", "discard", "error" };
	const char *name;
	json_t *value;

	json_object_foreach(counters, name, value) {
		for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
			if (strstr(name, words[i])) {
				look_at(e, link, name, value);
				break;
			}
		}
	}
}

size_t proof_errors(struct strbuf *grown, json_t *end)
{
	struct errors e = { .grown = grown };
	const char *link;
	json_t *counters;

	look_at_rdma(&e, end);
	look_at_link(&e, json_get_string(json_object_get(end, "path"), "link", "link"),
		     json_at(end, "/counters/difference/link"));
	json_object_foreach(json_at(end, "/counters/difference/pause"), link, counters)
		look_at_link(&e, link, counters);
	return e.known;
}
