/* SPDX-License-Identifier: Apache-2.0 */
#include "site/site.h"

#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "site/schema.h"

/* Expectations that the reference tells as defaults and that depend on other keys. */
static void fill_node_defaults(struct site_node *node, const struct tree *tree)
{
	static const char *const sections[] = { "links", "bonds", "vlans" };

	if (!node->roles)
		node->roles = node->n_gpus ? SITE_ROLE_GPU : SITE_ROLE_CLIENT;
	for (size_t i = 0; i < node->n_rdma; i++) {
		struct site_rdma *rdma = &node->rdma[i];

		for (size_t j = 0; j < ARRAY_SIZE(sections) && !rdma->address; j++) {
			const struct tree *link = tree_get(tree_get(tree, sections[j]), rdma->link);
			const struct tree *list = tree_get(link, "addresses");

			if (list && list->n)
				rdma->address = xstrndup(list->items[0]->text,
							 strcspn(list->items[0]->text, "/"));
		}
	}
}

static void bind_nodes(struct site *site, const struct tree *nodes)
{
	site->nodes = xcalloc(nodes->n, sizeof(*site->nodes));
	site->n_nodes = nodes->n;
	for (size_t i = 0; i < nodes->n; i++) {
		struct site_node *node = &site->nodes[i];

		node->where = nodes->pairs[i].key->where;
		node->name = xstrdup(nodes->pairs[i].key->text);
		schema_bind(&schema_node_keys, nodes->pairs[i].value, node);
		fill_node_defaults(node, nodes->pairs[i].value);
		site->gpudirect = site->gpudirect || node->n_gpus;
	}
}

/* lines[pointer] = line, for `tree` and all below it. */
static void note_lines(json_t *lines, const char *pointer, const struct tree *tree)
{
	for (size_t i = 0; tree->kind == TREE_MAP && i < tree->n; i++) {
		const struct tree_pair *pair = &tree->pairs[i];
		_cleanup_free_ char *segment = json_pointer_format("/%s", pair->key->text);
		_cleanup_free_ char *below = xasprintf("%s%s", pointer, segment);

		json_put_int(lines, below, pair->key->where.line);
		note_lines(lines, below, pair->value);
	}
	for (size_t i = 0; tree->kind == TREE_LIST && i < tree->n; i++) {
		_cleanup_free_ char *below = xasprintf("%s/%zu", pointer, i);

		json_put_int(lines, below, tree->items[i]->where.line);
		note_lines(lines, below, tree->items[i]);
	}
}

/* Nodes are left out: they have places of their own, and there may be a thousand. */
static json_t *lines_new(const struct tree *root)
{
	static const char *const left_out[] = { "nodes", "profiles", "defaults" };
	json_t *lines = json_object_new();

	for (size_t i = 0; i < root->n; i++) {
		const struct tree_pair *pair = &root->pairs[i];
		bool skip = false;

		for (size_t k = 0; k < ARRAY_SIZE(left_out); k++)
			skip = skip || !strcmp(pair->key->text, left_out[k]);
		if (skip)
			continue;
		_cleanup_free_ char *pointer = xasprintf("/%s", pair->key->text);
		json_put_int(lines, pointer, pair->key->where.line);
		note_lines(lines, pointer, pair->value);
	}
	return lines;
}

unsigned site_line(const struct site *site, const char *pointer)
{
	return (unsigned)json_get_int(site->lines, pointer, 0);
}

static struct site *site_new(struct tree_document *doc, struct tree *nodes)
{
	struct site *site = xcalloc(1, sizeof(*site));
	const struct tree_pair *qos = tree_pair(doc->root, "qos");
	const char *gpudirect = tree_text(doc->root, "gpudirect");

	schema_bind(&schema_site, doc->root, site);
	if (qos) {
		site->qos.declared = true;
		site->qos.where = qos->key->where;
	}
	bind_nodes(site, nodes);
	if (gpudirect)
		site->gpudirect = !strcmp(gpudirect, "true");
	site->kubernetes = tree_get(doc->root, "kubernetes");
	site->storage = tree_get(doc->root, "storage");
	site->workload = tree_get(doc->root, "workload");
	site->document = json_incref(schema_json(&schema_site, doc->root));
	site->lines = lines_new(doc->root);
	/* readers of the document need not know about profiles */
	json_t *expanded = json_object_new();
	for (size_t i = 0; i < nodes->n; i++) {
		json_t *node = schema_json(&schema_node, nodes->pairs[i].value);

		json_put(expanded, nodes->pairs[i].key->text, json_incref(node));
	}
	json_put(site->document, "nodes", expanded);
	return site;
}

/* The merged nodes, or NULL when something is wrong. */
static struct tree *check(struct tree_document *doc, struct complaints *c)
{
	const struct tree_pair *schema = tree_pair(doc->root, "schema");

	/* a file of another schema is not measured by this one */
	if (schema) {
		struct schema_path at = { NULL, "schema" };

		schema_check(schema_key_find(&schema_site, "schema")->type, schema->value, &at, c);
		if (c->n)
			return NULL;
	}
	schema_check(&schema_site, doc->root, NULL, c);
	if (doc->root->kind != TREE_MAP)
		return NULL;
	for (size_t i = 0; schema_site.keys[i].name; i++) {
		const struct schema_key *key = &schema_site.keys[i];

		if (key->required && !tree_pair(doc->root, key->name))
			complain(c, doc->root->where, NULL, "key '%s' is missing", key->name);
	}
	if (c->n)
		return NULL;	/* what follows reads checked trees only */
	struct tree *nodes = site_nodes_merged(doc, c);
	if (!nodes)
		return NULL;
	struct schema_path path = { NULL, "nodes" };
	for (size_t i = 0; i < nodes->n && !complaints_full(c); i++) {
		struct schema_path below = { &path, nodes->pairs[i].key->text };

		schema_check_required(&schema_node, nodes->pairs[i].value, &below, c);
	}
	site_check_references(doc->root, nodes, c);
	if (!c->n)
		site_check_network(doc->root, nodes, c);
	return c->n ? NULL : nodes;
}

int site_parse_with(struct site **site, const char *text, size_t len, const char *name,
		    const char *const *overrides, struct error *err)
{
	_cleanup_tree_document_ struct tree_document doc = {0};
	_cleanup_complaints_ struct complaints c = { .file = name };
	struct tree *nodes = NULL;

	*site = NULL;
	bool good = tree_read(&doc, text, len, &c);
	int rc = good ? site_override(&doc, overrides, err) : 0;

	if (rc < 0)
		return rc;
	if (good)
		nodes = check(&doc, &c);
	rc = complaints_tell(&c, err);
	if (rc < 0)
		return rc;
	*site = site_new(&doc, nodes);
	(*site)->path = xstrdup(name);
	return 0;
}

int site_parse(struct site **site, const char *text, size_t len, const char *name,
	       struct error *err)
{
	return site_parse_with(site, text, len, name, NULL, err);
}

int site_load_with(struct site **site, const char *path, const char *const *overrides,
		   struct error *err)
{
	_cleanup_strbuf_ struct strbuf text = {0};

	*site = NULL;
	/* more than the limit is enough for site_parse() to tell */
	int rc = file_read(&text, path, TREE_FILE_MAX, err);
	if (rc < 0)
		return rc;
	return site_parse_with(site, strbuf_str(&text), text.len, path, overrides, err);
}

int site_load(struct site **site, const char *path, struct error *err)
{
	return site_load_with(site, path, NULL, err);
}

void site_free(struct site *site)
{
	if (!site)
		return;
	for (size_t i = 0; i < site->n_nodes; i++) {
		free(site->nodes[i].name);
		schema_release(&schema_node_keys, &site->nodes[i]);
	}
	free(site->nodes);
	schema_release(&schema_site, site);
	json_decref(site->document);
	json_decref(site->lines);
	free(site->path);
	free(site);
}

/* The array member whose `key` is `wanted`, or NULL. */
#define FIND(array, n, key, wanted)                                                            \
	do {                                                                                   \
		for (size_t i_ = 0; (wanted) && i_ < (n); i_++)                                \
			if ((array)[i_].key && !strcmp((array)[i_].key, (wanted)))             \
				return &(array)[i_];                                           \
		return NULL;                                                                   \
	} while (0)

struct site_node *site_node_find(const struct site *site, const char *name)
{
	FIND(site->nodes, site->n_nodes, name, name);
}

struct site_bond *site_bond_find(const struct site_node *node, const char *name)
{
	FIND(node->bonds, node->n_bonds, name, name);
}

struct site_vlan *site_vlan_find(const struct site_node *node, const char *name)
{
	FIND(node->vlans, node->n_vlans, name, name);
}

struct site_link *site_link_find(const struct site_node *node, const char *name)
{
	FIND(node->links, node->n_links, name, name);
}

struct site_rdma *site_rdma_find(const struct site_node *node, const char *link)
{
	FIND(node->rdma, node->n_rdma, link, link);
}

struct site_driver *site_driver_find(const struct site_node *node, const char *name)
{
	FIND(node->drivers, node->n_drivers, name, name);
}
