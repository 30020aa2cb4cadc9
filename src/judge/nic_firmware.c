/* SPDX-License-Identifier: Apache-2.0 */
/* nic.firmware: as declared, as stored, equal on the NICs of a node and between nodes. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "judge/family.h"
#include "judge/nic.h"
#include "judge/pairs.h"
#include "judge/subject.h"

/* Firmware version of a link that names it best, with evidence: devlink fw.bundle_id / fw.mgmt /
 * fw, else what ethtool prints. NULL when none was observed. */
static const char *firmware_of(struct judging *g, const char *nic)
{
	static const char *const names[] = { "fw.bundle_id", "fw.mgmt", "fw.version", "fw" };
	const char *bdf = subject_pci_of_link(g->snapshot, nic);

	for (size_t i = 0; bdf && i < ARRAY_SIZE(names); i++) {
		if (peek(g, "/devlink/pci/%s/versions/running/%s", bdf, names[i]))
			return fact_string(g, "/devlink/pci/%s/versions/running/%s", bdf, names[i]);
	}
	return fact_optional_string(g, "/links/%s/ethtool/firmware", nic);
}

static bool firmware_matches(struct judging *g, const char *nic, const char *want)
{
	const char *bdf = subject_pci_of_link(g->snapshot, nic), *name;
	const char *text = json_string_value(peek(g, "/links/%s/ethtool/firmware", nic));
	json_t *version;

	if (bdf) {
		json_object_foreach(peek(g, "/devlink/pci/%s/versions/running", bdf), name,
				     version) {
			if (json_is_string(version) && !strcmp(json_string_value(version), want))
				return true;
		}
	}
	size_t len = strlen(want);

	/* "4.80 0x80020543 1.3805.0" begins with "4.80", "4.8" is another version */
	return text && text_starts_with(text, want) && (!text[len] || text[len] == ' ');
}

static void judge_declared_firmware(struct judging *g, const struct site_link *link, const char *is)
{
	const char *bdf = subject_pci_of_link(g->snapshot, g->nic);

	if (link->firmware) {
		fact_declared(g, &link->where, json_text_new(link->firmware),
			      "nodes/%s/links/%s/firmware", g->node->name, g->nic);
		if (!firmware_matches(g, g->nic, link->firmware))
			judge_fail(
				g, "firmware-version",
				"flash the declared NVM (devlink dev flash), or correct site.yaml",
				"firmware of %s is %s, declared is %s", g->nic, is, link->firmware);
	}
	if (link->ddp && bdf) {
		const char *ddp =
			fact_string(g, "/devlink/pci/%s/versions/running/fw.app.name", bdf);

		fact_declared(g, &link->where, json_text_new(link->ddp), "nodes/%s/links/%s/ddp",
			      g->node->name, g->nic);
		if (ddp && strcmp(ddp, link->ddp))
			judge_fail(g, "ddp-package",
				   "install the declared DDP package as ice.pkg, also in the "
				   "initramfs; power-cycle",
				   "DDP package of %s is \"%s\", declared is \"%s\"", g->nic, ddp,
				   link->ddp);
	}
}

/* A version that waits in the flash for a reset. */
static void judge_stored(struct judging *g)
{
	const char *bdf = subject_pci_of_link(g->snapshot, g->nic), *name;
	json_t *stored;

	if (!bdf)
		return;
	json_object_foreach(peek(g, "/devlink/pci/%s/versions/stored", bdf), name, stored) {
		json_t *running = peek(g, "/devlink/pci/%s/versions/running/%s", bdf, name);

		if (!running || json_equal(running, stored))
			continue;
		fact_optional(g, "/devlink/pci/%s/versions/running/%s", bdf, name);
		fact_optional(g, "/devlink/pci/%s/versions/stored/%s", bdf, name);
		judge_warn(
			g, "firmware-not-active",
			judge_text(g,
				   "devlink dev reload pci/%s action fw_activate, or power-cycle",
				   bdf),
			"%s of %s: %s is stored and not yet running (%s)", name, g->nic,
			json_string_value(stored) ?: "?", json_string_value(running) ?: "?");
		return;
	}
}

/* Versions that are to be equal on the adapters of one role; the DDP package last. */
static const char *const compared[] = { "fw.bundle_id", "fw.mgmt",     "fw",
					"fw.undi",	"fw.app.name", "fw.app" };

/* Version `name` of a NIC, NULL when it does not tell it; "" stands for what ethtool prints. */
static const char *version_of(json_t *snapshot, const char *nic, const char *name)
{
	const char *bdf = subject_pci_of_link(snapshot, nic);

	if (!*name)
		return json_string_value(json_at(snapshot, "/links/%s/ethtool/firmware", nic));
	return bdf ? json_string_value(
			     json_at(snapshot, "/devlink/pci/%s/versions/running/%s", bdf, name)) :
		     NULL;
}

/* Adapters of one model: others of the family have firmware of their own. */
static bool same_model(json_t *snapshot, const char *nic, json_t *other_snapshot, const char *other)
{
	json_t *a = json_at(snapshot, "/pci/devices/%s",
			    subject_pci_of_link(snapshot, nic) ?: "");
	json_t *b = json_at(other_snapshot, "/pci/devices/%s",
			    subject_pci_of_link(other_snapshot, other) ?: "");
	json_t *x = json_object_get(a, "device"), *y = json_object_get(b, "device");

	return !x || !y || json_equal(x, y);
}

/* Does a NIC, of this node or of `other`, have another firmware? Compares like with like: devlink's
 * versions where both NICs tell them, else what ethtool prints. False when it was told before. */
static bool judge_other_nic(struct judging *g, const struct judge_node *other, const char *nic)
{
	bool any = false;

	for (size_t i = 0; i <= ARRAY_SIZE(compared); i++) {
		const char *name = i < ARRAY_SIZE(compared) ? compared[i] : "";
		const char *a = version_of(g->snapshot, g->nic, name);
		const char *b = version_of(other->snapshot, nic, name);

		if (!a || !b || (!*name && any))
			continue;
		any = true;
		if (!strcmp(a, b))
			continue;
		if (*name)
			fact_optional(g, "/devlink/pci/%s/versions/running/%s",
				      subject_pci_of_link(g->snapshot, g->nic), name);
		if (*name && other->node == g->node)
			fact_optional(g, "/devlink/pci/%s/versions/running/%s",
				      subject_pci_of_link(g->snapshot, nic), name);
		if (other->node == g->node)
			judge_fail(g, "firmware-differs",
				   "bring all adapters of the node to one NVM and DDP package",
				   "%s of %s is %s, of %s it is %s", *name ? name : "firmware",
				   g->nic, a, nic, b);
		else
			judge_fail(g, "firmware-differs-in-role",
				   "bring all adapters of the role to one NVM and DDP package",
				   "%s of %s is %s, of %s on %s it is %s", *name ? name : "firmware",
				   g->nic, a, nic, other->node->name, b);
		return true;
	}
	return false;
}

/* The NICs of the same family below RDMA ports of this node, or of another node of its role. The
 * first that differs is named. */
static bool judge_nics_of(struct judging *g, const struct family *family,
			  const struct judge_node *other)
{
	bool done = false;

	for (size_t i = 0; !done && i < other->node->n_rdma; i++) {
		char **nics = subject_physical_links(other->node, other->snapshot,
						     other->node->rdma[i].link);

		for (char **n = nics; !done && *n; n++) {
			if (family_of_nic(other->snapshot, *n) == family &&
			    same_model(g->snapshot, g->nic, other->snapshot, *n) &&
			    (other->node != g->node || strcmp(*n, g->nic) != 0))
				done = judge_other_nic(g, other, *n);
		}
		strings_free(nics);
	}
	return done;
}

static void judge_others(struct judging *g, const struct family *family)
{
	const struct judge_node own = { .node = g->node, .snapshot = g->snapshot };

	if (!family || judge_nics_of(g, family, &own))
		return;
	for (size_t i = 0; i < g->n_all; i++) {
		const struct judge_node *other = &g->all[i];

		/* those that talk to each other are compared as a pair */
		if (other->node != g->node && (other->node->roles & g->node->roles) &&
		    !judge_pair_talks(g->site, g->node, other->node) &&
		    judge_nics_of(g, family, other))
			return;
	}
}

void judge_nic_firmware(struct judging *g)
{
	const struct family *family = family_of_nic(g->snapshot, g->nic);
	const struct site_link *link = site_link_find(g->node, g->nic);
	const char *is = firmware_of(g, g->nic);
	const char *bdf = subject_pci_of_link(g->snapshot, g->nic);
	const char *ddp = bdf ? json_string_value(peek(
					g, "/devlink/pci/%s/versions/running/fw.app.name", bdf)) :
				NULL;

	if (family && family->firmware)
		family->firmware(g, g->nic);
	if (!is) {
		judge_unknown(g, NULL, "neither devlink nor ethtool tells the firmware of %s",
			      g->nic);
		return;
	}
	if (link)
		judge_declared_firmware(g, link, is);
	if (!link || !link->firmware)
		judge_assume(g, "firmware %s of %s as it is", is, g->nic);
	judge_stored(g);
	judge_others(g, family);
	judge_pass(g, "%s%s%s%s", is, ddp ? ", DDP \"" : "", ddp ? ddp : "", ddp ? "\"" : "");
}

/* First NIC of the family below the RDMA ports of a node; NULL when it has none. The caller
 * frees. */
static char *first_nic(const struct site_node *node, json_t *snapshot, const struct family *family)
{
	char *found = NULL;

	for (size_t i = 0; !found && i < node->n_rdma; i++) {
		char **nics = subject_physical_links(node, snapshot, node->rdma[i].link);

		for (char **n = nics; !found && *n; n++) {
			const struct family *f = family_of_nic(snapshot, *n);

			if (f && !f->is_software && (!family || f == family))
				found = xstrdup(*n);
		}
		strings_free(nics);
	}
	return found;
}

static void compare_version(struct judging *g, const char *own, const char *peer, const char *nic,
			    const char *peer_nic, const char *name, bool same_role, bool *differs)
{
	const char *a =
		json_string_value(peek(g, "/devlink/pci/%s/versions/running/%s", own, name));
	const char *b = json_string_value(
		json_at(g->peer_snapshot, "/devlink/pci/%s/versions/running/%s", peer, name));

	if (!a || !b)
		return;
	fact_optional(g, "/devlink/pci/%s/versions/running/%s", own, name);
	fact_peer_optional(g, "/devlink/pci/%s/versions/running/%s", peer, name);
	if (!strcmp(a, b) || *differs)
		return;
	*differs = true;
	if (same_role)
		judge_fail(g, "firmware-differs",
			   "bring all adapters of the role to one NVM and DDP package",
			   "%s of %s on %s is %s, of %s on %s %s", name, nic, g->node->name, a,
			   peer_nic, g->peer->name, b);
	else
		judge_warn(g, "firmware-differs",
			   "bring the adapters to one NVM and DDP package where you can",
			   "%s of %s on %s is %s, of %s on %s %s", name, nic, g->node->name, a,
			   peer_nic, g->peer->name, b);
}

void judge_nic_firmware_pair(struct judging *g)
{
	_cleanup_free_ char *nic = first_nic(g->node, g->snapshot, NULL);
	const struct family *family = nic ? family_of_nic(g->snapshot, nic) : NULL;
	_cleanup_free_ char *other = family ? first_nic(g->peer, g->peer_snapshot, family) : NULL;
	bool same_role = !g->site->assumed && (g->node->roles & g->peer->roles);
	bool differs = false;

	if (!nic || !other) {
		judge_na(g, "%s",
			 !nic ? "no NIC with firmware of its own below the RDMA ports" :
				"the two nodes have NICs of different families");
		return;
	}
	if (!same_model(g->snapshot, nic, g->peer_snapshot, other)) {
		judge_na(g, "%s and %s are adapters of different models", nic, other);
		return;
	}

	const char *own = subject_pci_of_link(g->snapshot, nic);
	const char *peer = subject_pci_of_link(g->peer_snapshot, other);
	size_t before = g->verdict->n_evidence;

	for (size_t i = 0; own && peer && i < ARRAY_SIZE(compared); i++)
		compare_version(g, own, peer, nic, other, compared[i], same_role, &differs);
	if (g->verdict->n_evidence > before) {
		judge_pass(g, "firmware and DDP of %s and %s are equal", nic, other);
		return;
	}

	const char *a = fact_string(g, "/links/%s/ethtool/firmware", nic);
	const char *b = fact_peer_string(g, "/links/%s/ethtool/firmware", other);

	if (!a || !b)
		return;
	if (!strcmp(a, b))
		judge_pass(g, "firmware of %s and %s is equal: %s", nic, other, a);
	else if (same_role)
		judge_fail(g, "firmware-differs", "bring all adapters of the role to one firmware",
			   "firmware of %s on %s is %s, of %s on %s %s", nic, g->node->name, a,
			   other, g->peer->name, b);
	else
		judge_warn(g, "firmware-differs",
			   "bring the adapters to one firmware where you can",
			   "firmware of %s on %s is %s, of %s on %s %s", nic, g->node->name, a,
			   other, g->peer->name, b);
}
