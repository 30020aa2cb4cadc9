/* SPDX-License-Identifier: Apache-2.0 */
/* pci.link: does the slowest link between the NIC and the root port carry what its ports are to
 * carry? */
#include <string.h>

#include "base/alloc.h"
#include "judge/nic.h"
#include "judge/signature.h"
#include "judge/subject.h"

/* Bridges above a NIC that are followed; PCI allows 256 buses, real trees have less than ten
 * levels. */
#define BRIDGES_MAX 32

struct pci_link {
	double speed_gts, max_speed_gts;
	int64_t width, max_width;
};

/* Gb/s of one lane: 8b/10b up to 5 GT/s, 128b/130b up to 32, FLIT mode from 64 (PCIE_SPEED2MBS_ENC
 * in drivers/pci/pci.h). */
static double lane_gbps(double gts)
{
	if (gts <= 5.0)
		return gts * 8 / 10;
	return gts < 64.0 ? gts * 128 / 130 : gts;
}

static double gbps(double gts, int64_t width)
{
	return lane_gbps(gts) * (double)width;
}

static bool read_link(json_t *link, struct pci_link *out)
{
	json_t *speed = json_object_get(link, "speed_gts"),
	       *max = json_object_get(link, "max_speed_gts");

	*out = (struct pci_link){
		.speed_gts = json_number_value(speed),
		.max_speed_gts = json_number_value(max),
		.width = json_get_int(link, "width", 0),
		.max_width = json_get_int(link, "max_width", 0),
	};
	return out->speed_gts > 0 && out->width > 0;
}

/* A NIC whose ports share the device; ports of one active-backup bond do not add up. */
static bool counts_once(struct judging *g, const char *link, char *const *counted)
{
	const char *bond = subject_bond_of(g->snapshot, link);
	const char *mode = bond ? json_string_value(peek(g, "/links/%s/bond/mode", bond)) : NULL;

	if (!mode || strcmp(mode, "active-backup"))
		return false;
	for (; counted && *counted; counted++) {
		const char *other = subject_bond_of(g->snapshot, *counted);

		if (other && !strcmp(other, bond))
			return true;
	}
	return false;
}

/* Speed that this port is to have: declared, else what it runs at (0 = not known). */
static int64_t port_mbps(struct judging *g, const char *link)
{
	const struct site_link *declared = site_link_find(g->node, link);

	if (declared && declared->speed_mbps.set) {
		fact_declared(g, &declared->where, json_integer(declared->speed_mbps.value),
			      "nodes/%s/links/%s/speed", g->node->name, link);
		return declared->speed_mbps.value;
	}

	int64_t mbps = fact_optional_int(g, 0, "/links/%s/ethtool/speed_mbps", link);

	if (mbps <= 0)
		return 0;
	judge_assume(g, "speed %lld Mb/s of %s as it is", (long long)mbps, link);
	return mbps;
}

/* Is this link of the snapshot one that the node uses: declared, or below an RDMA port or bond? */
static bool is_used(struct judging *g, const char *link)
{
	if (!strcmp(link, g->nic) || site_link_find(g->node, link) || g->site->assumed)
		return true;
	for (size_t i = 0; i < g->node->n_bonds; i++) {
		for (char **p = g->node->bonds[i].ports; p && *p; p++) {
			if (!strcmp(*p, link))
				return true;
		}
	}
	return subject_bond_of(g->snapshot, link) != NULL;
}

/* Sum over all used ports of the device, in Gb/s, and the fastest of them. */
static double needed_gbps(struct judging *g, const char *bdf, size_t *ports, double *fastest)
{
	char **counted = NULL;
	size_t n = 0;
	double sum = 0;
	const char *name;
	json_t *l;

	json_object_foreach(peek(g, "/links"), name, l) {
		const char *other = subject_pci_of_link(g->snapshot, name);

		(void)l;
		if (!other || !subject_same_pci_device(other, bdf) || !is_used(g, name) ||
		    json_get_string(peek(g, "/pci/devices/%s", other), "physfn", NULL) ||
		    counts_once(g, name, counted))
			continue;

		int64_t mbps = port_mbps(g, name);

		if (!mbps)
			continue;
		sum += (double)mbps;
		if ((double)mbps / 1000 > *fastest)
			*fastest = (double)mbps / 1000;
		strings_add(&counted, xstrdup(name));
		n++;
	}
	strings_free(counted);
	*ports = n;
	return sum / 1000;
}

/* The slowest link from the NIC upwards; of equal ones the uppermost, as pcie_bandwidth_available()
 * has it. */
static const char *slowest(struct judging *g, const char *bdf, struct pci_link *limit)
{
	const char *at = bdf, *limiting = bdf;
	struct pci_link link;

	for (unsigned i = 0; at && i < BRIDGES_MAX; i++) {
		json_t *j = peek(g, "/pci/devices/%s/link", at);

		if (j && read_link(j, &link) &&
		    (i == 0 ||
		     gbps(link.speed_gts, link.width) <= gbps(limit->speed_gts, limit->width))) {
			*limit = link;
			limiting = at;
		}
		at = json_string_value(peek(g, "/pci/devices/%s/parent", at));
	}
	if (strcmp(limiting, bdf))
		fact(g, "/pci/devices/%s/link", limiting);
	return limiting;
}

/* Which part is below what it could be? Speaks of the limiting link. */
static const char *reason(struct judging *g, const char *bdf, const struct pci_link *own,
			  const char *at, const struct pci_link *limit)
{
	bool narrow = limit->width < limit->max_width;
	bool slow = limit->speed_gts < limit->max_speed_gts;

	if (narrow && slow)
		return "that link trained below its own width and speed";
	if (narrow)
		return "that link trained below its own width";
	if (slow)
		return "that link trained below its own speed";
	if (strcmp(at, bdf) &&
	    gbps(own->max_speed_gts, own->max_width) > gbps(limit->speed_gts, limit->width))
		return judge_text(
			g,
			"the slot or bridge can do no more; the adapter could use %.1f GT/s x%lld",
			own->max_speed_gts, (long long)own->max_width);
	return "that is all this adapter can do";
}

void judge_pci_link(struct judging *g)
{
	const char *bdf = subject_pci_of_link(g->snapshot, g->nic);
	const struct site_link *declared = site_link_find(g->node, g->nic);
	struct pci_link own, limit;
	size_t ports;

	if (!bdf && declared)
		bdf = declared->pci;
	if (!bdf) {
		fact(g, "/links/%s/parent_device", g->nic);
		return;
	}
	/* a VF has no link of its own: its physical function has */
	const char *physfn = json_string_value(peek(g, "/pci/devices/%s/physfn", bdf));

	if (physfn)
		bdf = physfn;

	json_t *j = fact(g, "/pci/devices/%s/link", bdf);

	if (!j)
		return;
	if (!read_link(j, &own)) {
		judge_unknown(g, "lspci -vv shows LnkSta as root",
			      "the link of %s tells no speed or width", bdf);
		return;
	}
	limit = own;

	const char *at = slowest(g, bdf, &limit);
	double have = gbps(limit.speed_gts, limit.width), fastest = 0;
	double need = needed_gbps(g, bdf, &ports, &fastest);
	const char *why = reason(g, bdf, &own, at, &limit);
	const char *device = judge_text(g, "%.*s", (int)subject_pci_slot_length(bdf), bdf);
	static const char fix[] =
		"use a slot with more lanes or a higher generation; set the slot's link speed to "
		"Auto in the BIOS; reseat the card or riser when width is missing";

	signature_fact(g, "pcie-limited", bdf);
	if (need > have && ports > 1 && have >= gbps(own.max_speed_gts, own.max_width) &&
	    have >= fastest)
		judge_warn(g, "pcie-shared-by-ports",
			   "plan with that sum; more needs a second adapter, or one of a higher "
			   "generation",
			   "%.0f Gb/s for the device %s at its full width and speed, its %zu ports "
			   "together need %.0f Gb/s: each alone gets its speed, all at once do not",
			   have, device, ports, need);
	else if (need > have)
		judge_fail(g, "pcie-link-too-slow", fix,
			   "%.0f Gb/s for the device %s, its %zu port%s need%s %.0f Gb/s; limiting "
			   "link %s at %.1f GT/s x%lld: %s",
			   have, device, ports, ports == 1 ? "" : "s", ports == 1 ? "s" : "", need,
			   at, limit.speed_gts, (long long)limit.width, why);
	else if (have < gbps(own.max_speed_gts, own.max_width))
		judge_warn(g, "pcie-below-maximum", fix,
			   "%.0f Gb/s for the device %s of %.0f that it could use%s; limiting link "
			   "%s at %.1f GT/s x%lld: %s",
			   have, device, gbps(own.max_speed_gts, own.max_width),
			   need > 0 ? ", enough for its ports" : "", at, limit.speed_gts,
			   (long long)limit.width, why);
	else if (need > 0)
		judge_pass(g, "%.1f GT/s x%lld, %.0f Gb/s for %.0f Gb/s of ports", own.speed_gts,
			   (long long)own.width, have, need);
	else
		judge_pass(g, "%.1f GT/s x%lld, %.0f Gb/s, full width and speed", own.speed_gts,
			   (long long)own.width, have);
	if (!ports)
		judge_assume(g, "no speed of the port is declared or known: only the link's own "
				"maximum is judged");
}
