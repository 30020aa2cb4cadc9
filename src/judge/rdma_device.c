/* SPDX-License-Identifier: Apache-2.0 */
/* rdma.device and rdma.protocol: is there a working RDMA device for the port, and of which kind? */
#include <string.h>

#include "base/text.h"
#include "judge/family.h"
#include "judge/rdma.h"

bool rdma_find(struct judging *g, struct subject_rdma *rdma)
{
	if (!fact(g, "/rdma/devices"))
		return false;
	if (subject_rdma_of_port(g->snapshot, g->node, g->port, rdma))
		return true;
	judge_unknown(g, "see gate rdma.device", "%s has no RDMA device", g->port->link);
	return false;
}

const char *rdma_is_iwarp(struct judging *g)
{
	return g->port && g->port->protocol && !strcmp(g->port->protocol, "iwarp") ?
		       "the port is declared as iWARP, which has no RoCE GID, MTU or traffic "
		       "class" :
		       NULL;
}

/* --- no device --- */

/* The first NIC below the port whose family knows why; false when none does. */
static bool ask_family(struct judging *g, char *const *nics)
{
	for (char *const *nic = nics; *nic; nic++) {
		const struct family *family = family_of_nic(g->snapshot, *nic);

		if (!family && subject_virtual_driver(g->snapshot, *nic))
			family = &family_rxe;
		if (family && family->no_device && family->no_device(g, *nic))
			return true;
	}
	return false;
}

/* RDMA cannot be asked about when links are missing: the cause is theirs. */
static bool link_missing(struct judging *g, char *const *nics)
{
	const char *base = subject_base_link(g->snapshot, g->port->link);

	for (char *const *nic = nics; *nic; nic++) {
		if (peek(g, "/links/%s", *nic))
			return false;
	}
	if (!peek(g, "/links"))
		return false;

	const char *declared =
		site_bond_find(g->node, g->port->link) || site_bond_find(g->node, base) ?
			"net.bond" :
			"nic.driver";

	judge_fail(g, "link-missing", judge_text(g, "see gate %s", declared),
		   "no RDMA device for %s: its link%s not there", g->port->link,
		   nics[1] ? "s are" : " is");
	judge_explained_by(g, "nic.driver", nics[0]);
	return true;
}

/* A device of one of these NICs whose ports were not read: it is there, and no more is known. */
static bool ports_not_read(struct judging *g, char *const *nics)
{
	const char *name;
	json_t *device;

	json_object_foreach(peek(g, "/rdma/devices"), name, device) {
		const char *parent = json_get_string(device, "parent_device", "");

		for (char *const *nic = nics; *nic; nic++) {
			const char *bdf = subject_pci_of_link(g->snapshot, *nic);

			if (!bdf || strcmp(bdf, parent) || json_object_get(device, "ports"))
				continue;
			fact(g, "/rdma/devices/%s/ports", name);
			return true;
		}
	}
	return false;
}

static void judge_no_device(struct judging *g)
{
	char **nics = subject_physical_links(g->node, g->snapshot, g->port->link);

	if (!ports_not_read(g, nics) && !link_missing(g, nics) && !ask_family(g, nics)) {
		const struct family *family = family_of_nic(g->snapshot, nics[0]);
		const char *module =
			family && family->rdma_drivers ? family->rdma_drivers[0] : NULL;

		if (!module || !family_module_trouble(g, module, true)) {
			judge_fail(g, "no-rdma-device", NULL,
				   "%s has no RDMA device, and the facts do not show why",
				   g->port->link);
			judge_candidate(g, "adapter-without-rdma",
					"use another adapter, or software RDMA (rxe) for a trial",
					"the adapter or its port has no RDMA, or it is off in the "
					"firmware: the vendor's documentation and `devlink dev "
					"param show` tell");
			judge_candidate(g, "provider-not-loaded",
					"modprobe the vendor's RDMA module",
					"the kernel's RDMA provider for this adapter is not "
					"loaded: `lsmod` tells");
			judge_candidate(g, "rdma-device-other-netns", "ip netns exec NAME rdma dev",
					"the device was moved into another network namespace: "
					"`rdma system show netns` must say exclusive for that");
		}
	}
	strings_free(nics);
}

/* --- a device: of the right link, active? --- */

/* How many RDMA devices sit on the ports of the bond? More than one: the bond is not one RDMA
 * port. */
static size_t devices_on_members(struct judging *g, const char **first, const char **second)
{
	char **nics = subject_physical_links(g->node, g->snapshot, g->port->link);
	size_t n = 0;
	const char *name, *port;
	json_t *device, *p;

	json_object_foreach(peek(g, "/rdma/devices"), name, device) {
		json_object_foreach(json_object_get(device, "ports"), port, p) {
			for (char **nic = nics; *nic; nic++) {
				if (strcmp(json_get_string(p, "link", ""), *nic))
					continue;
				*(n ? second : first) = name;
				n++;
			}
		}
	}
	strings_free(nics);
	return n;
}

/* Is the device where it belongs when the port is a bond? */
static void judge_bond_device(struct judging *g, const struct subject_rdma *rdma)
{
	const char *base = subject_base_link(g->snapshot, g->port->link);
	const char *link = json_get_string(rdma->port_object, "link", NULL);
	const struct family *family = family_of_rdma(g->snapshot, rdma->device);
	const char *bond = link ? subject_bond_of(g->snapshot, link) : NULL;
	const char *first = NULL, *second = NULL;

	if (bond && family && family->is_software) {
		fact_optional(g, "/links/%s/master", link);
		judge_fail(
			g, "rdma-on-bond-port",
			judge_text(g,
				   "rdma link delete %s && rdma link add rxe-%s type rxe netdev %s",
				   rdma->device, bond, bond),
			"%s sits on %s, a port of %s: it has no GID of the bond's address and "
			"loses the other ports",
			rdma->device, link, bond);
		return;
	}
	if (!peek(g, "/links/%s/bond", base))
		return;

	size_t n = devices_on_members(g, &first, &second);

	if (family && family->is_software && n)
		judge_warn(g, "rdma-on-bond-port", judge_text(g, "rdma link delete %s", first),
			   "besides %s on %s there is %s on a port of the bond", rdma->device, base,
			   first);
	else if (n > 1)
		judge_warn(g, "roce-lag-not-active",
			   "RoCE over a bond as one device needs two ports of one adapter and a "
			   "supported bond mode; remove and re-create the bond after a change",
			   "the ports of %s have RDMA devices of their own (%s, %s): the adapter "
			   "does not treat the bond as one RoCE port",
			   base, first, second);
}

static void judge_state(struct judging *g, const struct subject_rdma *rdma)
{
	const char *state =
		fact_string(g, "/rdma/devices/%s/ports/%s/state", rdma->device, rdma->port);
	const char *physical = fact_optional_string(g, "/rdma/devices/%s/ports/%s/physical_state",
						    rdma->device, rdma->port);
	const char *link = json_get_string(rdma->port_object, "link", NULL);
	const char *base = subject_base_link(g->snapshot, g->port->link);
	bool bond = site_bond_find(g->node, base) != NULL;

	if (!state)
		return;
	if (!strcmp(state, "ACTIVE")) {
		judge_pass(g, "%s port %s on %s is ACTIVE", rdma->device, rdma->port,
			   link ? link : g->port->link);
		return;
	}

	json_t *carrier = link ? fact_optional(g, "/links/%s/carrier", link) : NULL;
	json_t *up = link ? fact_optional(g, "/links/%s/up", link) : NULL;

	if (json_is_false(up) || json_is_false(carrier)) {
		judge_fail(g, "rdma-port-link-down",
			   json_is_false(up) ? judge_text(g, "ip link set %s up", link) :
					       "check cable, transceiver and the switch port",
			   "port %s of %s is %s because %s %s", rdma->port, rdma->device, state,
			   link, json_is_false(up) ? "is set down" : "has no carrier");
		if (bond)
			judge_explained_by(g, "net.bond", base);
		return;
	}
	judge_fail(g, "rdma-port-not-active",
		   "read `dmesg` for messages of the RDMA driver; `rdma link show` shows the state",
		   "port %s of %s is %s (%s) although its link is up", rdma->port, rdma->device,
		   state, physical ? physical : "physical state not known");
}

void judge_rdma_device(struct judging *g)
{
	struct subject_rdma rdma;

	if (!fact(g, "/rdma/devices"))
		return;
	if (!subject_rdma_of_port(g->snapshot, g->node, g->port, &rdma)) {
		judge_no_device(g);
		return;
	}
	if (g->port->device && strcmp(g->port->device, rdma.device)) {
		fact_declared(g, &g->port->where, json_text_new(g->port->device),
			      "nodes/%s/rdma/%s/device", g->node->name, g->port->link);
		judge_warn(
			g, "rdma-device-name",
			"declare the name of today, or none: rdma-core's udev rule renames devices",
			"the RDMA device of %s is %s, declared is %s", g->port->link, rdma.device,
			g->port->device);
	} else if (g->port->device) {
		const char *link = json_get_string(rdma.port_object, "link", NULL);
		struct subject_rdma by_link;

		if (link && subject_rdma_of_link(g->snapshot, g->node, g->port->link, &by_link) &&
		    strcmp(by_link.device, rdma.device))
			judge_fail(g, "rdma-device-other-link",
				   "declare the device of the link, or the link of the device",
				   "%s is declared for %s and sits on %s; the device of %s is %s",
				   rdma.device, g->port->link, link, g->port->link, by_link.device);
	}
	judge_bond_device(g, &rdma);
	judge_state(g, &rdma);
}

/* --- rdma.protocol --- */

static void judge_iwarp(struct judging *g, const struct subject_rdma *rdma)
{
	const char *bdf =
		json_string_value(peek(g, "/rdma/devices/%s/parent_device", rdma->device));
	json_t *iwarp = bdf ? family_devlink_parameter(g, bdf, "enable_iwarp") : NULL;
	const char *driver = json_string_value(peek(g, "/rdma/devices/%s/driver", rdma->device));
	const char *ena = json_string_value(peek(g, "/os/modules/irdma/parameters/roce_ena"));

	if (json_is_true(iwarp)) {
		judge_fail(g, "iwarp-enabled",
			   judge_text(g,
				      "devlink dev param set pci/%s name enable_iwarp value false "
				      "cmode runtime && devlink dev param set pci/%s name "
				      "enable_roce value true cmode runtime",
				      bdf, bdf),
			   "%s speaks iWARP: the devlink parameter enable_iwarp of %s is on",
			   rdma->device, bdf);
	} else if (ena && strcmp(ena, "1")) {
		fact_optional(g, "/os/modules/irdma/parameters/roce_ena");
		judge_fail(g, "iwarp-roce-ena-off",
			   "echo 'options irdma roce_ena=1' > /etc/modprobe.d/irdma.conf; rebuild "
			   "the initramfs; reload irdma",
			   "%s speaks iWARP: out-of-tree irdma runs with roce_ena=%s", rdma->device,
			   ena);
	} else if (driver && !strcmp(driver, "siw")) {
		judge_fail(
			g, "iwarp-software",
			judge_text(g,
				   "rdma link delete %s && rdma link add rxe0 type rxe netdev %s",
				   rdma->device, subject_base_link(g->snapshot, g->port->link)),
			"%s is siw, which is iWARP in software", rdma->device);
	} else {
		judge_fail(g, "iwarp", "set the adapter to RoCE v2 (devlink parameter enable_roce)",
			   "%s speaks iWARP", rdma->device);
		judge_candidate(g, "iwarp-driver-default", "options irdma roce_ena=1",
				"out-of-tree irdma begins in iWARP unless told otherwise: `modinfo "
				"-n irdma` tells its origin");
		judge_candidate(g, "iwarp-enabled", "devlink dev param set … enable_roce",
				"the devlink parameter is on: `devlink dev param show` tells");
	}
}

void judge_rdma_protocol(struct judging *g)
{
	const char *want = g->port->protocol ? g->port->protocol : "roce";
	struct subject_rdma rdma;

	if (!rdma_find(g, &rdma))
		return;

	const char *is = fact_string(g, "/rdma/devices/%s/protocol", rdma.device);

	if (!is)
		return;
	if (!g->port->protocol)
		judge_assume(g, "RoCE v2 on every RDMA port");
	if (!strcmp(is, want))
		judge_pass(g, "%s speaks %s", rdma.device, !strcmp(is, "roce") ? "RoCE" : "iWARP");
	else if (!strcmp(is, "iwarp"))
		judge_iwarp(g, &rdma);
	else if (!strcmp(is, "ib"))
		judge_fail(g, "link-layer-infiniband",
			   "mlxconfig -d BDF set LINK_TYPE_P1=2 (ETH), then reboot; or declare the "
			   "right port",
			   "%s is an InfiniBand port, declared is %s", rdma.device, want);
	else
		judge_fail(g, "protocol-other", "set the adapter to the declared protocol",
			   "%s speaks %s, declared is %s", rdma.device, is, want);
}
