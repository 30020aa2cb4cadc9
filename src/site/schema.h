/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema of site.yaml: one table (schema.c and schema_node.c) that drives checking, hints, the
 * typed struct site, its release, the JSON document and the reference in docs/site.md. A new key is
 * one line there.
 */
#pragma once

#include <stddef.h>

#include "site/tree.h"

enum schema_kind {
	SCHEMA_OBJECT,	/* map with the keys of `keys`, and those of `also` */
	SCHEMA_TABLE,	/* map from names of the reader's choice to `item` */
	SCHEMA_LIST,	/* list of `item` */
	SCHEMA_TEXT,	/* char *; `check` looks at it */
	SCHEMA_WORD,	/* char *; one of `words` */
	SCHEMA_NUMBER,	/* struct site_number; `convert`, then `min`…`max` */
	SCHEMA_TRUTH,	/* struct site_bool */
	SCHEMA_EIGHT,	/* map from 0…7 to `item`; int[8], -1 for what is not declared */
	SCHEMA_ROLES,	/* list of words; bits of enum site_role */
};

/* `at` of a key that only the JSON document holds. */
#define SCHEMA_UNBOUND SIZE_MAX

struct schema_key {
	const char *name;
	const struct schema_type *type;
	const char *text;	/* meaning, for the reference */
	size_t at;		/* offset in the struct of the object, or SCHEMA_UNBOUND */
	size_t n_at;		/* of a table: offset of its count */
	bool required;
	const char *fallback;	/* text: the value when it is not declared; told in the reference */
	const char *fallback_text;	/* told in the reference; set in expand.c */
};

struct schema_type {
	enum schema_kind kind;
	const char *what;	/* "a link name": what is expected here */
	const char *title;	/* of an object: heading in the reference */
	const char *text;	/* of an object: a sentence below the heading */
	const struct schema_key *keys;	/* ends with a NULL name */
	const struct schema_type *also;
	const struct schema_type *item;
	const struct schema_type *name;	/* of a table: type of its names */
	size_t size, name_at;	/* of a table: its struct and the member that takes the name */
	const char *const *words;	/* NULL-terminated */
	/* NULL when `text` is good, else what is wrong with it (a literal) */
	const char *(*check)(const char *text);
	bool (*convert)(const char *text, int64_t *value);
	int64_t min, max;
	const char *range_hint;	/* added when a number is out of range */
};

extern const struct schema_type schema_site;
/* Keys of a node, of `defaults`, and of a profile. */
extern const struct schema_type schema_node, schema_node_keys, schema_profile;

/* Types that both parts of the table use. */
extern const struct schema_type schema_node_name, schema_any_text, schema_version, schema_speed,
	schema_mtu, schema_dscp, schema_priority, schema_traffic_class, schema_percent,
	schema_truth, schema_texts, schema_image, schema_vlan_id, schema_priority_to_tc, schema_tc_to_percent, schema_lacp_rate,
	schema_port_channel;

const struct schema_key *schema_key_find(const struct schema_type *object, const char *name);
/* Keys of an object one after the other, those of `also` last: start with 0; NULL at the end. */
const struct schema_key *schema_key_at(const struct schema_type *object, size_t index);

/* What a value of this type is in the file. */
enum tree_kind schema_tree_kind(const struct schema_type *type);

/* --- scalar.c: how scalars are read --- */

const char *schema_check_name(const char *text);	/* node, profile */
const char *schema_check_link(const char *text);
const char *schema_check_image(const char *text);
const char *schema_check_word(const char *text);	/* fit for every rendered format */
const char *schema_check_bdf(const char *text);
const char *schema_check_pci_id(const char *text);
const char *schema_check_ip(const char *text);
const char *schema_check_prefix(const char *text);	/* address with prefix length */
const char *schema_check_version(const char *text);
const char *schema_check_kernel(const char *text);	/* shell pattern of uname -r */
const char *schema_check_path(const char *text);
const char *schema_check_url(const char *text);
const char *schema_check_host(const char *text);	/* or address; a port may follow */
bool schema_convert_decimal(const char *text, int64_t *value);
bool schema_convert_speed(const char *text, int64_t *mbps);
bool schema_convert_bytes(const char *text, int64_t *bytes);
bool schema_convert_memlock(const char *text, int64_t *bytes);	/* or "unlimited": -1 */
bool schema_convert_percent(const char *text, int64_t *percent);
bool schema_convert_roce_mtu(const char *text, int64_t *bytes);

/* --- check.c --- */

/* Where a value stands, for messages: "nodes/gpu-node-01/bonds/bond1". */
struct schema_path {
	const struct schema_path *parent;
	const char *name;
};

/* Complain about all that is not as the type says, required keys aside: profiles may supply
 * them. */
void schema_check(const struct schema_type *type, const struct tree *tree,
		  const struct schema_path *path, struct complaints *c);
/* Complain about required keys that are missing in a checked tree. */
void schema_check_required(const struct schema_type *type, const struct tree *tree,
			   const struct schema_path *path, struct complaints *c);

/* --- document.c --- */

/* A checked tree as JSON, borrowed from the tree. Numbers with a unit stay as they are written. */
json_t *schema_json(const struct schema_type *type, struct tree *tree);

/* --- expand.c, reference.c and reference_network.c --- */

/*
 * The nodes of a checked file, each with its profiles and the defaults merged in: a map as `nodes`
 * is, with the keys of schema_node_keys and its `profile`. Complains about profiles that are not
 * there, extend each other in a circle, or make the site too large; NULL then.
 */
struct tree *site_nodes_merged(struct tree_document *doc, struct complaints *c);

/* Complain about names that lead nowhere or stand where only one may, in the merged nodes and the
 * sections that name nodes. */
void site_check_references(const struct tree *root, const struct tree *nodes, struct complaints *c);

/* Complain about networks that cannot be as they are declared: next hops, default routes, VLANs,
 * MTUs, and what two nodes cannot share. Follows site_check_references(), when that found nothing. */
void site_check_network(const struct tree *root, const struct tree *nodes, struct complaints *c);

/* An address as the kernel writes it, without a prefix length. The caller frees. */
char *site_canonical_address(const char *text);

/* Nearest key of some maps (each may be NULL) to `name`, as "; did you mean 'x'?", or "" when none
 * is near. The caller frees. */
char *site_nearest_key(const char *name, const struct tree *const *maps, size_t n_maps);

/* --- override.c --- */

/*
 * Set values in a file that was read and not yet checked, each "KEY=VALUE" (NULL-terminated, may be
 * NULL); see site_load_with(). -EINVAL: a key that the schema does not have, or a value that does
 * not fit; the message names the override.
 */
int site_override(struct tree_document *doc, const char *const *overrides, struct error *err);

/* --- markdown.c --- */

struct strbuf;
/* Add the keys of an object (not those of `also`) as a table of a reference. */
void schema_markdown_keys(struct strbuf *b, const struct schema_type *object);

/* --- bind.c --- */

/* Fill the struct of an object from a checked tree (NULL: nothing is declared). The struct is
 * zeroed before and released with schema_release(). */
void schema_bind(const struct schema_type *object, const struct tree *tree, void *base);
void schema_release(const struct schema_type *object, void *base);
