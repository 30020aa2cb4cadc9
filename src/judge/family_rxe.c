/* SPDX-License-Identifier: Apache-2.0 */
/* Software RDMA: rxe (RoCE v2 over any Ethernet link) and siw (iWARP). */
#include "judge/family.h"

#include <string.h>

#include "judge/subject.h"

static bool rxe_no_device(struct judging *g, const char *nic)
{
	const char *link = g->port ? g->port->link : nic;
	const char *base = subject_base_link(g->snapshot, link);
	const char *name, *other = NULL, *other_link = NULL;
	json_t *device;

	if (family_module_trouble(g, "rdma_rxe", true))
		return true;
	json_object_foreach(peek(g, "/rdma/devices"), name, device) {
		const char *driver = json_get_string(device, "driver", "");

		if (!other && (!strcmp(driver, "rdma_rxe") || !strcmp(driver, "siw"))) {
			other = name;
			other_link = json_get_string(json_at(device, "/ports/1"), "link", NULL);
		}
	}

	const char *fix = judge_text(
		g, "modprobe rdma_rxe && rdma link add rxe-%s type rxe netdev %s", base, base);

	if (other) {
		fact_optional(g, "/rdma/devices/%s/ports/1/link", other);
		judge_fail(g, "rxe-other-link", fix, "no RDMA device on %s; %s sits on %s", base,
			   other, other_link ? other_link : "no link");
	} else {
		judge_fail(g, "rxe-link-missing", fix, "no software RDMA device on %s", base);
	}
	return true;
}

static const char *const rdma_drivers[] = { "rdma_rxe", "siw", NULL };

/* drivers/infiniband/sw/rxe/rxe_hw_counters.c, without what merely counts traffic */
static const char *const errors[] = {
	"duplicate_request",
	"out_of_seq_request",
	"rcvd_rnr_err",
	"send_rnr_err",
	"rcvd_seq_err",
	"retry_exceeded_err",
	"retry_rnr_exceeded_err",
	"completer_retry_err",
	"send_err",
	"link_downed",
	NULL,
};

const struct family family_rxe = {
	.name = "rxe",
	.rdma_drivers = rdma_drivers,
	.provider = "rxe",
	.is_software = true,
	.no_dcqcn_in_tree = true,
	.no_device = rxe_no_device,
	.error_counters = errors,
};
