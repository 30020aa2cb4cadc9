/* SPDX-License-Identifier: Apache-2.0 */
/* A plan made by hand: options, what stays unverified, buffers, components, and hostile texts. */
#include "fixture.h"

#include "base/alloc.h"
#include "report/report.h"

static const struct gate gates[] = {
	{ .id = "plan.os-matrix", .scope = GATE_SITE, .title = "versions fit together" },
	{ .id = "plan.gdr-matrix", .scope = GATE_SITE, .title = "in a support row" },
	{ .id = "plan.bond-rdma", .scope = GATE_SITE, .title = "RDMA over the bond" },
	{ .id = "plan.storage-client", .scope = GATE_SITE, .title = "the client fits the NIC" },
};

/* A verdict owns its texts, as far as its type tells. */
#define TEXT(literal) ((char[]){ literal })

/* proof.gdr is of the registry: documents tell its phase */
static struct unverified gdr[] = {
	{ TEXT("bytes go into GPU memory and out of it unchanged"), TEXT("proof.gdr") },
	{ TEXT("the vendor supports it"), NULL },
};
static struct unverified gdr_again[] = {
	{ TEXT("bytes go into GPU memory and out of it unchanged"), TEXT("proof.gdr") },
};
static char *bond_options[] = {
	TEXT("unbond the ports: one address each, two rails"),
	TEXT("the out-of-tree pair with the `ice_lag` DDP package \033[31m</ul><script>alert(1)</script>"),
	NULL,
};
static struct cause bond_causes[] = {
	{ .id = TEXT("bond-in-tree-ice"), .text = TEXT("ice takes RDMA from a port that joins a bond"),
	  .fix = TEXT("one of the options"), .options = bond_options },
};
static struct cause client_causes[] = {
	{ .id = TEXT("client-needs-dc"), .text = TEXT("the client needs DC transport, the NIC has none") },
};

static struct verdict verdicts[] = {
	{ .gate = &gates[0], .status = VERDICT_PASS, .summary = TEXT("rhel 10.2 with 1.33.11") },
	{ .gate = &gates[1], .status = VERDICT_WARN, .summary = TEXT("in no row"),
	  .unverified = gdr, .n_unverified = ARRAY_SIZE(gdr) },
	{ .gate = &gates[2], .status = VERDICT_FAIL, .summary = TEXT("ice does not do RDMA over bond1"),
	  .causes = bond_causes, .n_causes = 1, .unverified = gdr_again, .n_unverified = 1 },
	{ .gate = &gates[3], .status = VERDICT_FAIL, .summary = TEXT("s3rdma needs DC transport"),
	  .causes = client_causes, .n_causes = 1 },
};

static json_t *number(const char *name, const char *value, const char *declared)
{
	json_t *one = json_object_new();

	json_put_string(one, "name", name);
	json_put_string(one, "value", value);
	json_put_string(one, "declared", declared);
	json_put_string(one, "formula", "9000 + (9216 + 625) * 1 to 2");
	json_put_string(one, "source", "SONiC, IEEE 802.3 31B.3.7");
	return one;
}

static json_t *component(const char *name, const char *version, const char *need)
{
	json_t *one = json_object_new();

	json_put_string(one, "component", name);
	json_put_string(one, "where", "host");
	json_put_string(one, "version", version);
	json_put_string(one, "version_from", version ? "images.yaml:7" : NULL);
	json_put_string(one, "need", need);
	json_put_string(one, "why", "it drives the ports & <b>more</b>");
	json_put_string(one, "source", "site file");
	return one;
}

json_t *fixture_components(void)
{
	json_t *list = json_array_new();

	json_append(list, component("ice", "1.14.9", "required"));
	json_append(list, component("perftest", NULL, "recommended"));
	json_append(list, component("nvidia-peermem", NULL, "must-not"));
	json_append(list, component("Multus", NULL, "not-needed"));
	return list;
}

json_t *fixture_plan(bool good)
{
	struct ladder ladder = {
		.site_name = TEXT("e810-b300"), .site_path = TEXT("site.yaml"),
		.verdicts = verdicts, .n_verdicts = good ? 2 : ARRAY_SIZE(verdicts),
		.stopped_at = 2,
	};
	_cleanup_json_ json_t *components = fixture_components();
	_cleanup_json_ json_t *buffers = json_object_new();

	for (size_t i = 0; i < ladder.n_verdicts; i++)
		ladder.counts[verdicts[i].status]++;
	json_append(json_arr(buffers, "numbers"),
		    number("PFC headroom", "44 KiB to 79 KiB", "\xe2\x80\xae" "128KiB"));
	json_append(json_arr(buffers, "numbers"), number("ECN minimum", "150 kB", NULL));
	return report_plan_document(&ladder, components, buffers);
}
