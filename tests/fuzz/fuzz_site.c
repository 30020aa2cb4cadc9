/* SPDX-License-Identifier: Apache-2.0 */
/* The site parser, from bytes to structs. A good site must also have a document and be found
 * again. */
#include <stdint.h>
#include <stdlib.h>

#include "site/site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_site_ struct site *site = NULL;
	int rc = site_parse(&site, (const char *)data, size, "fuzz.yaml", &err);

	if (rc < 0) {
		if (site || !err.message)
			abort();
		return 0;
	}
	if (!json_is_object(site->document))
		abort();
	for (size_t i = 0; i < site->n_nodes; i++) {
		const struct site_node *node = &site->nodes[i];

		if (site_node_find(site, node->name) != node)
			abort();
		for (size_t j = 0; j < node->n_rdma; j++)
			if (!node->rdma[j].protocol)
				abort();
	}
	return 0;
}
