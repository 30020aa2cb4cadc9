/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/scope.h"

#include <string.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "base/text.h"
#include "judge/subject.h"
#include "site/pci_path.h"

/* List under construction. */
struct list {
	struct subject *s;
	size_t n, capacity;
};

static struct subject *list_add(struct list *l, enum gate_scope scope)
{
	array_reserve(l->s, l->n, l->capacity);
	l->s[l->n] = (struct subject){ .scope = scope };
	return &l->s[l->n++];
}

static void add_name(char ***names, const char *name)
{
	if (name)
		strings_add_once(names, name);
}

/* The bond that a link is, or is below (VLAN), or is a member of. */
static const char *bond_near(const struct site_node *node, json_t *snapshot, const char *link)
{
	const char *base = subject_base_link(snapshot, link);

	if (site_bond_find(node, base) || json_at(snapshot, "/links/%s/bond", base))
		return base;
	return subject_bond_of(snapshot, base);
}

static void touch_port(struct subject *s, const struct site_node *node, json_t *snapshot,
		       const struct site_rdma *port)
{
	char **nics = subject_physical_links(node, snapshot, port->link);

	add_name(&s->ports, port->link);
	add_name(&s->bonds, bond_near(node, snapshot, port->link));
	for (char **n = nics; n && *n; n++)
		add_name(&s->nics, *n);
	strings_free(nics);
}

/* A physical link, with the bond and the ports above it. */
static void touch_nic(struct subject *s, const struct site_node *node, json_t *snapshot,
		      const char *nic)
{
	add_name(&s->nics, nic);
	s->nic = s->nics[0];
	for (size_t i = 0; i < node->n_rdma; i++) {
		char **below = subject_physical_links(node, snapshot, node->rdma[i].link);

		if (strings_have(below, nic)) {
			add_name(&s->ports, node->rdma[i].link);
			add_name(&s->bonds, bond_near(node, snapshot, node->rdma[i].link));
		}
		strings_free(below);
	}
	/* a link that touches no bond waits for none, so the list must exist */
	if (!s->bonds)
		strings_add(&s->bonds, xstrdup(""));
}

static void add_gpus(struct list *l, json_t *snapshot)
{
	const char *bdf;
	json_t *device;

	json_object_foreach(json_at(snapshot, "/pci/devices"), bdf, device) {
		if (!pci_is_gpu(device))
			continue;
		struct subject *s = list_add(l, GATE_GPU);

		s->gpu = bdf;
		s->name = xstrdup(bdf);
		add_name(&s->gpus, bdf);
	}
}

static void add_paths(struct list *l, const struct site_node *node, json_t *snapshot)
{
	char **nics = subject_nics_of_node(node, snapshot);
	const char *bdf;
	json_t *device;

	json_object_foreach(json_at(snapshot, "/pci/devices"), bdf, device) {
		if (!pci_is_gpu(device))
			continue;
		for (char **nic = nics; nic && *nic; nic++) {
			struct subject *s = list_add(l, GATE_PATH);

			s->gpu = bdf;
			s->name = xasprintf("%s → %s", bdf, *nic);
			add_name(&s->gpus, bdf);
			touch_nic(s, node, snapshot, *nic);
		}
	}
	strings_free(nics);
}

struct subject *subjects_of(enum gate_scope scope, const struct site_node *node, json_t *snapshot,
			    size_t *n)
{
	struct list l = {0};

	switch (scope) {
	case GATE_BOND:
		for (size_t i = 0; i < node->n_bonds; i++) {
			struct subject *s = list_add(&l, scope);

			s->bond = &node->bonds[i];
			s->name = xstrdup(s->bond->name);
			add_name(&s->bonds, s->bond->name);
			for (char **p = s->bond->ports; p && *p; p++)
				add_name(&s->nics, *p);
		}
		break;
	case GATE_PORT:
		for (size_t i = 0; i < node->n_rdma; i++) {
			struct subject *s = list_add(&l, scope);

			s->port = &node->rdma[i];
			s->name = xstrdup(s->port->link);
			touch_port(s, node, snapshot, s->port);
			if (!s->bonds)
				strings_add(&s->bonds, xstrdup(""));
		}
		break;
	case GATE_NIC: {
		char **nics = subject_nics_of_node(node, snapshot);

		for (char **nic = nics; nic && *nic; nic++) {
			struct subject *s = list_add(&l, scope);

			s->name = xstrdup(*nic);
			touch_nic(s, node, snapshot, *nic);
		}
		strings_free(nics);
		break;
	}
	case GATE_GPU:
		add_gpus(&l, snapshot);
		break;
	case GATE_PATH:
		add_paths(&l, node, snapshot);
		break;
	case GATE_SITE:
	case GATE_NODE:
	case GATE_PAIR:
	case GATE_CLUSTER:
		list_add(&l, scope);
		break;
	}
	*n = l.n;
	return l.s;
}

void subjects_free(struct subject *subjects, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(subjects[i].name);
		strings_free(subjects[i].bonds);
		strings_free(subjects[i].ports);
		strings_free(subjects[i].nics);
		strings_free(subjects[i].gpus);
	}
	free(subjects);
}

/* `touched` NULL: the whole node, so everything on it concerns. */
static bool touches(char **touched, const char *name)
{
	return !touched || strings_have(touched, name);
}

bool subject_concerns(const struct subject *subject, const struct subject *other)
{
	switch (other->scope) {
	case GATE_BOND:
		return touches(subject->bonds, other->bond->name);
	case GATE_PORT:
		return touches(subject->ports, other->port->link);
	case GATE_NIC:
		return touches(subject->nics, other->nic);
	case GATE_GPU:
		return touches(subject->gpus, other->gpu);
	case GATE_PATH:
		return touches(subject->gpus, other->gpu) && touches(subject->nics, other->nic);
	case GATE_SITE:
	case GATE_NODE:
	case GATE_PAIR:
	case GATE_CLUSTER:
		break;
	}
	return true;
}
