/* SPDX-License-Identifier: Apache-2.0 */
/* plan.bond-rdma and plan.driver-pair: what the driver stack does below a bond, and with itself. */
#include <string.h>
#include <strings.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "judge/family_ice.h"
#include "judge/plan.h"
#include "judge/subject.h"

/* --- plan.bond-rdma --------------------------------------------------------------------------- */

/* A bond that carries RDMA, on one node. */
struct bonded {
	const struct site_bond *bond;
	const struct site_rdma *port;
};

static size_t members(const struct site_bond *bond)
{
	size_t n = 0;

	while (bond->ports && bond->ports[n])
		n++;
	return n;
}

static const struct site_link *member(const struct site_node *node, const struct site_bond *bond,
				      size_t i)
{
	return site_link_find(node, bond->ports[i]);
}

/* All that the judge below reads, so that alike nodes are judged once. PCI addresses are not in it,
 * only what matters of them. */
static const char *same_device(const struct site_node *node, const struct site_bond *bond)
{
	const struct site_link *first = member(node, bond, 0);

	for (size_t i = 1; i < members(bond); i++) {
		const struct site_link *other = member(node, bond, i);

		if (!first || !first->pci || !other || !other->pci)
			return "not declared";
		if (!subject_same_pci_device(first->pci, other->pci))
			return "no";
	}
	return "yes";
}

static void add_bond(const struct judging *g, const struct site_node *node,
		     const struct site_rdma *port, const struct site_bond *bond,
		     struct plan_cases *cases)
{
	_cleanup_strbuf_ struct strbuf key = {0};

	strbuf_printf(&key, "%s\n%s\n%s\n", bond->mode, port->protocol ?: "roce",
		      same_device(node, bond));
	for (size_t i = 0; i < members(bond); i++) {
		const struct site_link *link = member(node, bond, i);
		struct plan_nic nic = plan_nic_of(g, node, bond->ports[i]);

		strbuf_printf(&key, "%s\n%s\n%s\n%s\n", nic.driver ?: "", nic.source,
			      nic.version ?: "", link && link->ddp ? link->ddp : "");
	}
	plan_case_add(cases, node, port, "%s", strbuf_str(&key));
}

static void bond_cases(const struct judging *g, struct plan_cases *cases)
{
	for (size_t i = 0; i < g->site->n_nodes; i++) {
		const struct site_node *node = &g->site->nodes[i];

		for (size_t k = 0; k < node->n_rdma; k++) {
			const struct site_bond *bond = plan_bond_of(node, &node->rdma[k]);

			if (bond && members(bond))
				add_bond(g, node, &node->rdma[k], bond, cases);
		}
	}
}

static void bond_options(struct judging *g, const struct plan_nic *nic)
{
	judge_option(g, "unbond the RDMA ports: one address for each port, and several rails");
	if (!strcmp(nic->driver, "ice"))
		judge_option(g, "the out-of-tree pair: ice 1.14.9 or later and irdma, both of one "
				"release set of Intel, with the ice_lag DDP package");
	judge_option(g, "keep the bond for TCP and give RDMA other ports");
}

#define FIX_BOND "one of the options; the first needs nothing new"

/* README 2.6.6 of intel/ethernet-linux-ice, "Link Aggregation and RDMA"; src/ice_lag.c
 * ice_is_bond_rdma_cap. False: something does not hold. */
static bool ice_conditions(struct judging *g, const struct plan_case *c,
			   const struct site_bond *bond)
{
	bool holds = true;

	if (members(bond) != 2) {
		judge_fail(g, "bond-not-two-ports", "exactly two ports of one adapter",
			   "%s of %s has %zu ports: ice offers RDMA on a bond of two", bond->name,
			   plan_nodes(g, c), members(bond));
		holds = false;
	}
	for (size_t i = 0; i < members(bond); i++) {
		const struct site_link *link = member(c->node, bond, i);
		const char *ddp = link ? link->ddp : NULL;

		if (!ddp) {
			judge_unknown(g, judge_text(g, "declare nodes/%s/links/%s/ddp, the name "
						       "that devlink shows as fw.app.name",
						       c->node->name,
						    bond->ports[i]),
				      "the DDP package of %s on %s is not declared: RDMA over a "
				      "bond needs the LAG package", bond->ports[i],
				      plan_nodes(g, c));
			return false;
		}
		fact_declared(g, &link->where, json_text_new(ddp), "/nodes/%s/links/%s/ddp",
			      c->node->name, link->name);
		if (strcasestr(ddp, "lag"))
			continue;
		judge_fail(g, "bond-ddp-without-lag",
			   "intel/ice/ddp-lag/ice_lag-*.pkg as the DDP package, also in the "
			   "initramfs",
			   "%s on %s has the DDP package \"%s\", which has no LAG support: ice "
			   "offers no RDMA on %s%s", link->name, plan_nodes(g, c), ddp, bond->name,
			   text_starts_with(ddp, ICE_DDP_DEFAULT) ? " (it is the default one)" :
				   "");
		return false;
	}
	judge_unverified(g, "qos.equal", "both ports of %s have equal DCB before they are bonded",
			 bond->name);
	judge_unverified(g, "nic.firmware", "the NVM has the capability roce_lag and the LAG "
					    "package is the one that is loaded");
	if (strcmp(bond->mode, "active-backup"))
		judge_unverified(g, "rdma.device",
				 "that mode %s is among the modes: Intel's text says "
				 "active-active, and its source takes every mode but active-backup "
				 "so", bond->mode);
	return holds;
}

static void judge_conditional(struct judging *g, const struct plan_case *c,
			      const struct site_bond *bond, const struct plan_nic *nic)
{
	const struct site_rdma *port = c->what;
	const char *same = same_device(c->node, bond);
	bool ice = !strcmp(nic->driver, "ice"), holds = true;

	json_t *modes = json_object_get(nic->row, "bond_modes");

	if (modes && !plan_has(modes, bond->mode)) {
		judge_fail(g, "bond-mode", judge_text(g, "mode: one of %s", plan_list(g, modes, 8)),
			   "%s of %s has mode %s, and %s carries RDMA over a bond in %s only (%s)",
			   bond->name, plan_nodes(g, c), bond->mode, plan_nic_text(g, nic),
			   plan_list(g, modes, 8), plan_row_text(g, nic->row));
		bond_options(g, nic);
		return;
	}
	if (nic->too_old && !strcmp(bond->mode, "active-backup")) {
		judge_warn(g, "bond-driver-old",
			   judge_text(g, "%s %s or later", nic->driver,
				      json_get_string(nic->row, "version_min", "?")),
			   "%s of %s is older than what is known of RDMA over a bond: from %s on "
			   "all modes, before that active-backup at most (%s)",
			   plan_nic_text(g, nic),
			   plan_nodes(g, c), json_get_string(nic->row, "version_min", "?"),
			   plan_row_text(g, nic->row));
		return;
	}
	if (nic->too_old) {
		judge_fail(g, "bond-driver-too-old",
			   judge_text(g, "%s %s or later", nic->driver,
				      json_get_string(nic->row, "version_min", "?")),
			   "%s of %s has no RDMA over a bond in mode %s: that came with %s (%s)",
			   plan_nic_text(g, nic), plan_nodes(g, c), bond->mode,
			   json_get_string(nic->row, "version_min", "?"),
			   plan_row_text(g, nic->row));
		bond_options(g, nic);
		return;
	}
	if (ice && !nic->version) {
		judge_unknown(g, judge_text(g, "declare nodes/%s/drivers/ice/version",
					    c->node->name),
			      "the version of the out-of-tree ice of %s is not declared",
			      plan_nodes(g, c));
		holds = false;
	}
	if (!strcmp(same, "no")) {
		judge_fail(g, "bond-two-devices", "two ports of one adapter",
			   "the ports of %s of %s are on different adapters: RDMA over a bond is "
			   "for ports of one", bond->name, plan_nodes(g, c));
		bond_options(g, nic);
		holds = false;
	} else if (strcmp(same, "yes")) {
		judge_unknown(g, judge_text(g, "declare nodes/%s/links/%s/pci, and of the other "
					       "port",
					    c->node->name, bond->ports[0]),
			      "whether the ports of %s of %s are of one adapter is not declared",
			      bond->name, plan_nodes(g, c));
		holds = false;
	}
	if (port->protocol && strcmp(port->protocol, "roce")) {
		judge_fail(g, "bond-not-roce", "protocol: roce",
			   "%s of %s is declared as %s: RDMA over a bond is for RoCE v2 only",
			   bond->name, plan_nodes(g, c), port->protocol);
		holds = false;
	}
	if (ice && !ice_conditions(g, c, bond))
		holds = false;
	if (!ice)
		judge_unverified(g, "rdma.device", "%s meets the conditions: %s", bond->name,
				 plan_list(g, json_object_get(nic->row, "bond_conditions"), 8));
	if (holds)
		judge_pass(g, "%s carries RDMA over a bond in mode %s under conditions, and what "
			      "is declared meets them (%s)", plan_nic_text(g, nic), bond->mode,
			   plan_row_text(g, nic->row));
}

static void judge_bond(struct judging *g, const struct plan_case *c)
{
	const struct site_rdma *port = c->what;
	const struct site_bond *bond = plan_bond_of(c->node, port);
	struct plan_case nic_case = *c;
	struct plan_nic nic = plan_nic_of(g, c->node, bond->ports[0]);
	const char *answer;

	nic_case.what = bond->ports[0];
	plan_nic_fact(g, &nic_case);
	fact_declared(g, &bond->where, json_text_new(bond->mode), "/nodes/%s/bonds/%s/mode",
		      c->node->name, bond->name);
	if (plan_nic_unknown(g, &nic_case, &nic))
		return;
	fact_row(g, nic.row);
	for (size_t i = 1; i < members(bond); i++) {
		struct plan_nic other = plan_nic_of(g, c->node, bond->ports[i]);

		if (!other.driver) {
			nic_case.what = bond->ports[i];
			plan_nic_unknown(g, &nic_case, &other);
			return;
		}
		if (!strcmp(other.driver, nic.driver))
			continue;
		judge_fail(g, "bond-mixed-nics", "two ports of one adapter",
			   "%s of %s mixes %s and %s: RDMA over a bond is for ports of one adapter",
			   bond->name, plan_nodes(g, c), nic.driver, other.driver);
		bond_options(g, &nic);
		return;
	}
	answer = json_get_string(nic.row, "bond_rdma", "unknown");
	if (!strcmp(answer, "no")) {
		judge_fail(g, !strcmp(nic.driver, "ice") ? "bond-in-tree-ice" : "bond-no-rdma",
			   FIX_BOND,
			   "RDMA over %s (%s) of %s: %s does not do that%s (%s)", bond->name,
			   bond->mode, plan_nodes(g, c), plan_nic_text(g, &nic),
			   !strcmp(nic.driver, "ice") ? ", it takes RDMA from a port as soon as "
							"the port joins a bond of any mode" :
						       "",
			   plan_row_text(g, nic.row));
		bond_options(g, &nic);
	} else if (!strcmp(answer, "conditional")) {
		judge_conditional(g, c, bond, &nic);
	} else if (!strcmp(answer, "yes")) {
		judge_pass(g, "%s carries RDMA over a bond (%s)", plan_nic_text(g, &nic),
			   plan_row_text(g, nic.row));
	} else {
		judge_warn(g, "bond-rdma-not-known", "prove it on the site: gates rdma.device and "
						     "proof.host",
			   "whether %s of %s carries RDMA over %s (%s) is not known (%s)",
			   plan_nic_text(g, &nic), plan_nodes(g, c), bond->name, bond->mode,
			   plan_row_text(g, nic.row));
		bond_options(g, &nic);
	}
	judge_unverified(g, "proof.host", "bytes go over %s as RDMA", bond->name);
}

void judge_plan_bond_rdma(struct judging *g)
{
	_cleanup_plan_cases_ struct plan_cases bonds = {0};

	bond_cases(g, &bonds);
	if (!bonds.n)
		judge_na(g, "no RDMA port lies on a bond");
	for (size_t i = 0; i < bonds.n; i++)
		judge_bond(g, &bonds.list[i]);
}

/* --- plan.driver-pair ------------------------------------------------------------------------- */

static const char *source_of(const struct site_node *node, const char *driver)
{
	const struct site_driver *d = site_driver_find(node, driver);

	return d && d->source ? d->source : "inbox";
}

static const char *driver_text(struct judging *g, const struct site_node *node, const char *driver)
{
	const struct site_driver *d = site_driver_find(node, driver);

	return judge_text(g, "%s %s%s%s", driver, source_of(node, driver),
			  d && d->version ? " " : "", d && d->version ? d->version : "");
}

static void judge_pair(struct judging *g, const struct plan_case *c)
{
	struct plan_nic nic = plan_nic_of(g, c->node, c->what);
	const struct site_driver *rdma;
	const char *rdma_source;

	if (plan_nic_unknown(g, c, &nic))
		return;
	if (!strcmp(nic.driver, nic.rdma_driver)) {
		judge_na(g, "%s is software: there is no pair of drivers", nic.driver);
		return;
	}
	plan_nic_fact(g, c);
	rdma_source = source_of(c->node, nic.rdma_driver);
	rdma = site_driver_find(c->node, nic.rdma_driver);
	if (rdma)
		fact_declared(g, &rdma->where, json_text_new(rdma_source),
			      "/nodes/%s/drivers/%s/source", c->node->name, rdma->name);
	if (!site_driver_find(c->node, nic.driver) && !site_driver_find(c->node, nic.rdma_driver))
		judge_assume(g, "%s and %s of the distribution's kernel", nic.driver,
			     nic.rdma_driver);
	if (strcmp(nic.source, rdma_source)) {
		judge_fail(g, "driver-pair-mixed",
			   judge_text(g, "declare and install both of one source: nodes/%s/drivers",
				      c->node->name),
			   "%s and %s of %s do not come from one source: a mixed pair finds "
			   "unknown symbols or no auxiliary device",
			   driver_text(g, c->node, nic.driver),
			   driver_text(g, c->node, nic.rdma_driver), plan_nodes(g, c));
		judge_option(g, "both inbox");
		judge_option(g, "both out-of-tree, of one release set");
		return;
	}
	judge_pass(g, "%s and %s", driver_text(g, c->node, nic.driver),
		   driver_text(g, c->node, nic.rdma_driver));
	if (strcmp(nic.source, "inbox"))
		judge_unverified(g, "nic.driver-pair", "%s and %s are of one release set",
				 nic.driver,
				 nic.rdma_driver);
}

/* As plan_nics(), and told apart by the source of the RDMA driver. */
static void pair_cases(const struct judging *g, struct plan_cases *cases)
{
	for (size_t i = 0; i < g->site->n_nodes; i++) {
		const struct site_node *node = &g->site->nodes[i];
		_cleanup_strings_ char **links = subject_nics_of_node(node, NULL);

		for (char **name = links; name && *name; name++) {
			const struct site_link *link = site_link_find(node, *name);
			struct plan_nic nic = plan_nic_of(g, node, *name);
			const char *rdma = nic.rdma_driver;

			plan_case_add(cases, node, link ? link->name : NULL, "%s\n%s\n%s\n%s",
				      nic.driver ?: "", nic.source, nic.version ?: "",
				      rdma ? source_of(node, rdma) : "");
		}
	}
}

void judge_plan_driver_pair(struct judging *g)
{
	_cleanup_plan_cases_ struct plan_cases nics = {0};

	pair_cases(g, &nics);
	if (!nics.n)
		judge_na(g, "no RDMA port is declared");
	for (size_t i = 0; i < nics.n; i++)
		judge_pair(g, &nics.list[i]);
}
