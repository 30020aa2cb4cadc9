/* SPDX-License-Identifier: Apache-2.0 */
/* The NICs that carry RDMA, as the site declares them, and their rows of the support matrix. */
#include <string.h>

#include "base/strings.h"
#include "base/text.h"
#include "judge/plan.h"
#include "judge/subject.h"

/* Deepest stack of VLANs that is followed. */
#define STACK_MAX 16

static const char *driver_source(const struct site_node *node, const char *driver)
{
	const struct site_driver *d = site_driver_find(node, driver);

	return d && d->source ? d->source : "inbox";
}

/* The row of a driver and its source. An out-of-tree driver that is older than the row says is
 * `too_old`; one without a version gets the row, and the judge who needs the version asks. */
static void choose_row(const struct judging *g, struct plan_nic *nic)
{
	json_t *row;
	size_t i;

	json_array_foreach(plan_rows(g, "nics"), i, row) {
		const char *min = json_get_string(row, "version_min", NULL);

		if (strcmp(json_get_string(row, "driver", ""), nic->driver) ||
		    strcmp(json_get_string(row, "stack", ""), nic->source))
			continue;
		nic->row = row;
		nic->too_old = min && nic->version && text_version_compare(nic->version, min) < 0;
		break;
	}
	nic->rdma_driver = json_get_string(nic->row, "rdma_driver", NULL);
}

/* Soft-RoCE is chosen by the node's declaration of its module, or because a virtual link can have
 * no other. */
static bool is_software(const struct site_node *node, const struct site_link *link)
{
	if (site_driver_find(node, "rdma_rxe"))
		return true;
	return link && link->driver && subject_is_virtual_driver(link->driver);
}

struct plan_nic plan_nic_of(const struct judging *g, const struct site_node *node, const char *name)
{
	const struct site_link *link = site_link_find(node, name);
	struct plan_nic nic = { .source = "inbox" };

	if (is_software(node, link)) {
		nic.driver = "rdma_rxe";
		nic.row = plan_row(g, "nics", "rdma_driver", nic.driver);
		nic.rdma_driver = nic.driver;
		return nic;
	}
	nic.driver = link ? link->driver : NULL;
	if (!nic.driver)
		return nic;

	const struct site_driver *d = site_driver_find(node, nic.driver);

	nic.source = driver_source(node, nic.driver);
	nic.version = d ? d->version : NULL;
	choose_row(g, &nic);
	return nic;
}

static void add_nics(const struct judging *g, unsigned roles, bool by_system,
		     struct plan_cases *cases)
{
	for (size_t i = 0; i < g->site->n_nodes; i++) {
		const struct site_node *node = &g->site->nodes[i];
		const char *os = by_system ? node->os_id : NULL;
		const char *version = by_system ? node->os_version : NULL;

		if (!plan_has_role(g, node, roles))
			continue;

		_cleanup_strings_ char **links = subject_nics_of_node(node, NULL);

		for (char **name = links; name && *name; name++) {
			const struct site_link *link = site_link_find(node, *name);
			struct plan_nic nic = plan_nic_of(g, node, *name);

			/* the node's own copy of the name outlives the list */
			plan_case_add(cases, node, link ? link->name : NULL,
				      "%s\n%s\n%s\n%s\n%s\n%d", nic.driver ?: "", nic.source,
				      nic.version ?: "", os ?: "", version ?: "",
				      plan_host_ofed(node) != NULL);
		}
	}
}

void plan_nics(const struct judging *g, unsigned roles, struct plan_cases *cases)
{
	add_nics(g, roles, false, cases);
}

void plan_nics_by_system(const struct judging *g, unsigned roles, struct plan_cases *cases)
{
	add_nics(g, roles, true, cases);
}

const char *plan_nic_text(struct judging *g, const struct plan_nic *nic)
{
	return judge_text(g, "%s%s%s (%s)", nic->driver, nic->version ? " " : "",
			  nic->version ?: "", nic->source);
}

bool plan_nic_unknown(struct judging *g, const struct plan_case *c, const struct plan_nic *nic)
{
	const char *link = c->what ?: "LINK";

	if (!nic->driver)
		judge_unknown(g, judge_text(g, "declare nodes/%s/links/%s/driver: `ice`, "
					       "`mlx5_core`, …", c->node->name, link),
			      "the driver of %s on %s is not declared", link, plan_nodes(g, c));
	else if (!nic->row)
		judge_unknown(g, "add a row to the table `nics` (--data DIR), with its source",
			      "the support matrix has no row for %s on %s", plan_nic_text(g, nic),
			      plan_nodes(g, c));
	return !nic->row;
}

void plan_nic_fact(struct judging *g, const struct plan_case *c)
{
	const struct site_link *link = c->what ? site_link_find(c->node, c->what) : NULL;

	if (!link || !link->driver)
		return;
	fact_declared(g, &link->where, json_text_new(link->driver), "/nodes/%s/links/%s/driver",
		      c->node->name, link->name);

	const struct site_driver *d = site_driver_find(c->node, link->driver);

	if (!d)
		return;
	fact_declared(g, &d->where, json_text_new(d->source ?: "inbox"),
		      "/nodes/%s/drivers/%s/source", c->node->name, d->name);
	if (d->version)
		fact_declared(g, &d->where, json_text_new(d->version),
			      "/nodes/%s/drivers/%s/version", c->node->name, d->name);
}

const struct site_driver *plan_host_ofed(const struct site_node *node)
{
	static const char *const names[] = { "mlx5_core", "mlx5_ib", "ib_core" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct site_driver *d = site_driver_find(node, names[i]);

		if (d && d->source && !strcmp(d->source, "out-of-tree"))
			return d;
	}
	return NULL;
}

static const struct site_bond *bond_with_port(const struct site_node *node, const char *link)
{
	for (size_t i = 0; i < node->n_bonds; i++) {
		if (strings_have(node->bonds[i].ports, link))
			return &node->bonds[i];
	}
	return NULL;
}

const struct site_bond *plan_bond_of(const struct site_node *node, const struct site_rdma *port)
{
	const char *link = port->link;
	const struct site_bond *bond;

	for (unsigned depth = 0; depth < STACK_MAX; depth++) {
		const struct site_vlan *vlan = site_vlan_find(node, link);

		if (!vlan || !vlan->link)
			break;
		link = vlan->link;
	}
	bond = site_bond_find(node, link);
	return bond ? bond : bond_with_port(node, link);
}
