/* SPDX-License-Identifier: Apache-2.0 */
/* rdma.module and rdma.userspace: kernel provider and user-space provider of the node's RDMA
 * ports. */
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "judge/family.h"
#include "judge/rdma.h"

/* Families of the node's RDMA ports, each once. */
#define FAMILIES_MAX 8
struct family_list {
	const struct family *family[FAMILIES_MAX];
	const struct site_rdma *port[FAMILIES_MAX]; /* the first port of each */
	size_t n;
};

static void families_of_node(struct judging *g, struct family_list *list)
{
	*list = (struct family_list){ 0 };
	for (size_t i = 0; i < g->node->n_rdma && list->n < FAMILIES_MAX; i++) {
		const struct family *family = family_of_port(g, &g->node->rdma[i]);
		bool known = !family;

		for (size_t k = 0; k < list->n; k++)
			known |= list->family[k] == family;
		if (known)
			continue;
		list->family[list->n] = family;
		list->port[list->n++] = &g->node->rdma[i];
	}
}

/* --- rdma.module --- */

/* Parameters of out-of-tree irdma; the in-tree module has none
 * (drivers/infiniband/hw/irdma/main.c). */
static const char *const oot_irdma[] = {
	"roce_ena",
	"roce_port_cfg",
	"resource_profile",
	"max_rdma_vfs",
	"limits_sel",
	"en_rem_endpoint_trk",
	"timer_bucket_slots",
	"fragment_count_limit",
	"dcqcn_enable",
	"dcqcn_cc_cfg_valid",
	"dcqcn_min_dec_factor",
	"dcqcn_min_rate_MBps",
	"dcqcn_F",
	"dcqcn_T",
	"dcqcn_B",
	"dcqcn_rai_factor",
	"dcqcn_hai_factor",
	"dcqcn_rreduce_mperiod",
};

static bool is_oot_irdma(const char *module, const char *name)
{
	for (size_t i = 0; !strcmp(module, "irdma") && i < ARRAY_SIZE(oot_irdma); i++) {
		if (!strcmp(oot_irdma[i], name))
			return true;
	}
	return false;
}

static bool module_has_parameter(struct judging *g, const char *module, const char *name)
{
	json_t *p;
	size_t i;

	if (peek(g, "/os/modules/%s/parameters/%s", module, name))
		return true;
	json_array_foreach(peek(g, "/os/modules/%s/file/parameters", module), i, p) {
		if (json_is_string(p) && !strcmp(json_string_value(p), name))
			return true;
	}
	return false;
}

/* Names in the modprobe.d options of a module that its file does not have. */
static void judge_options(struct judging *g, const char *module)
{
	const char *options = json_string_value(peek(g, "/os/modules/%s/options", module));
	_cleanup_free_ char *copy = options ? xstrdup(options) : NULL;
	_cleanup_strbuf_ struct strbuf unknown = { 0 };
	char *cursor = copy, *word;
	bool other_driver = false;

	if (!options || !json_is_object(peek(g, "/os/modules/%s/file", module)))
		return;
	while ((word = text_next_word(&cursor))) {
		char *equals = strchr(word, '=');

		if (!equals)
			continue;
		*equals = '\0';
		if (module_has_parameter(g, module, word))
			continue;
		other_driver |= is_oot_irdma(module, word);
		strbuf_printf(&unknown, "%s%s", unknown.len ? ", " : "", word);
	}
	if (!unknown.len)
		return;
	fact_optional(g, "/os/modules/%s/options", module);
	fact_optional(g, "/os/modules/%s/file/parameters", module);

	const char *fix = judge_text(
		g, "remove the options line of %s from /etc/modprobe.d, rebuild the initramfs",
		module);

	if (other_driver)
		judge_warn(g, "options-other-driver", fix,
			   "modprobe.d sets %s for %s, which this %s does not have: the line was "
			   "written for the out-of-tree driver and is ignored",
			   strbuf_str(&unknown), module, module);
	else
		judge_warn(g, "options-unknown", fix,
			   "modprobe.d sets %s for %s, which this %s does not have: ignored",
			   strbuf_str(&unknown), module, module);
}

/* Does any NIC of the family below the node's ports offer an RDMA auxiliary device? Names the first
 * NIC. */
static bool family_offers_rdma(struct judging *g, const struct family *family, const char **nic,
			       char ***nics_out)
{
	bool offers = false;

	*nic = NULL;
	*nics_out = NULL;
	for (size_t i = 0; !offers && i < g->node->n_rdma; i++) {
		char **nics = subject_physical_links(g->node, g->snapshot, g->node->rdma[i].link);
		bool keep = false;

		for (char **n = nics; *n; n++) {
			const char *bdf = subject_pci_of_link(g->snapshot, *n);

			if (family_of_nic(g->snapshot, *n) != family)
				continue;
			if (!*nic) {
				*nic = *n;
				*nics_out = nics;
				keep = true;
			}
			offers |= bdf && family_auxiliary(g->snapshot, family, bdf);
		}
		if (!keep)
			strings_free(nics);
	}
	return offers;
}

/* Ethernet driver and provider of two sources: modprobe fails at the symbols, so the pair is the
 * cause. */
static bool pair_is_mixed(struct judging *g, const struct family *family, const char *module)
{
	const char *nic_module = family->nic_drivers ? family->nic_drivers[0] : NULL;
	json_t *nic = nic_module ? peek(g, "/os/modules/%s/in_tree", nic_module) : NULL;
	json_t *rdma = peek(g, "/os/modules/%s/in_tree", module);

	if (!family->driver_pair || !json_is_boolean(nic) || !json_is_boolean(rdma) ||
	    json_is_true(nic) == json_is_true(rdma))
		return false;
	fact_optional(g, "/os/modules/%s/in_tree", nic_module);
	fact_optional(g, "/os/modules/%s/in_tree", module);
	judge_fail(g, "driver-pair-mixed", "see gate nic.driver-pair",
		   "%s is not loaded: it and %s are not of one source", module, nic_module);
	judge_explained_by(g, "nic.driver-pair", NULL);
	return true;
}

/* There is a file and nothing forbids it, and yet it is not loaded. */
static void judge_not_loaded(struct judging *g, const struct family *family, const char *module)
{
	char **nics;
	const char *nic;
	bool offers = family_offers_rdma(g, family, &nic, &nics);

	if (nic && family->auxiliary && !offers && peek(g, "/pci/auxiliary")) {
		fact_optional(g, "/pci/auxiliary");
		judge_warn(
			g, "module-idle",
			"see gate rdma.device: the module loads by itself when there is a device",
			"%s is not needed yet: %s offers no RDMA device that would load it", module,
			family->nic_drivers[0]);
		if (family_ice_safe_mode(g, nic))
			judge_explained_by(g, "nic.firmware", nic);
		else
			judge_explained_by(g, "rdma.device", NULL);
	} else {
		judge_fail(g, "module-not-loaded",
			   judge_text(g,
				      "modprobe %s; name it in /etc/modules-load.d when nothing "
				      "else loads it",
				      module),
			   "%s is not loaded", module);
	}
	strings_free(nics);
}

static void judge_family_module(struct judging *g, const struct family *family)
{
	const char *module = family->rdma_drivers[0];

	for (const char *const *m = family->rdma_drivers; *m; m++) {
		if (family_module_is_loaded(g, *m)) {
			judge_options(g, *m);
			judge_pass(g, "%s is loaded", *m);
			return;
		}
	}
	if (!fact(g, "/os/modules/%s/loaded", module))
		return;
	judge_options(g, module);
	if (!family_module_trouble(g, module, false) && !pair_is_mixed(g, family, module))
		judge_not_loaded(g, family, module);
}

void judge_rdma_module(struct judging *g)
{
	struct family_list list;

	families_of_node(g, &list);
	if (!list.n) {
		if (!rdma_none(g))
			judge_unknown(g, NULL,
				      "the NICs below the RDMA ports belong to no known family");
		return;
	}
	for (size_t i = 0; i < list.n; i++)
		judge_family_module(g, list.family[i]);
}

/* --- rdma.userspace --- */

static bool array_has(json_t *array, const char *text)
{
	json_t *v;
	size_t i;

	json_array_foreach(array, i, v) {
		if (json_is_string(v) && !strcmp(json_string_value(v), text))
			return true;
	}
	return false;
}

/* What libibverbs printed about this device, or about its driver when no device is named. */
static const char *warning_about(struct judging *g, const char *device, const char *driver)
{
	json_t *line;
	size_t i;
	const char *failed = json_string_value(peek(g, "/userspace/failed/%s", device));

	if (failed && strstr(failed, "kernel ABI"))
		return failed;
	json_array_foreach(peek(g, "/userspace/warnings"), i, line) {
		const char *text = json_string_value(line);

		if (text && (strstr(text, device) || (driver && strstr(text, driver)))) {
			fact_optional(g, "/userspace/warnings/%u", (unsigned)i);
			return text;
		}
	}
	return failed;
}

static void judge_device_open(struct judging *g, const struct family *family, const char *device)
{
	const char *driver = json_string_value(peek(g, "/rdma/devices/%s/driver", device));
	const char *text, *abi;

	if (array_has(fact_optional(g, "/userspace/opened"), device))
		return;
	text = warning_about(g, device, driver);
	abi = text ? strstr(text, "kernel ABI") : NULL;
	if (abi)
		judge_fail(g, "provider-abi-mismatch",
			   judge_text(g,
				      "install the user-space provider of the kernel driver's "
				      "source: %s; in a pod, in the image",
				      json_is_false(peek(g, "/os/modules/%s/in_tree",
							 driver ? driver : "")) ?
					      "the vendor's library for the out-of-tree driver" :
					      "rdma-core of the distribution"),
			   "the provider library does not fit the kernel driver of %s: %s", device,
			   text);
	else if (text && strstr(text, "no userspace device-specific driver"))
		judge_fail(g, "provider-missing",
			   "install the provider (RHEL: libibverbs, Debian: ibverbs-providers)",
			   "libibverbs has no provider for %s: %s", device, text);
	else if (peek(g, "/userspace/failed/%s", device))
		judge_fail(g, "device-not-opened",
			   "run ibv_devinfo as the same user; see gate rdma.chardev for the device "
			   "node",
			   "libibverbs cannot open %s: %s", device,
			   fact_string(g, "/userspace/failed/%s", device));
	else if (json_is_array(peek(g, "/userspace/opened")))
		judge_fail(
			g, "device-not-listed",
			judge_text(g, "install the provider %s; run ibv_devices", family->provider),
			"libibverbs does not list %s", device);
}

static void judge_family_user(struct judging *g, const struct family *family,
			      const struct site_rdma *port, const char *version)
{
	const char *min = g->site->gpudirect ? family->rdma_core_min : NULL;
	json_t *providers = fact(g, "/userspace/providers");
	struct subject_rdma rdma;

	if (min && !family->is_software && text_version_compare(version, min) < 0)
		judge_fail(g, "rdma-core-no-dmabuf",
			   judge_text(g, "install rdma-core %s or newer", min),
			   "rdma-core %s has no dma-buf registration in the %s provider: that came "
			   "with %s",
			   version, family->provider, min);
	if (providers && !array_has(providers, family->provider))
		judge_fail(g, "provider-missing",
			   "install the provider (RHEL: libibverbs, Debian: ibverbs-providers)",
			   "the provider library %s is not installed", family->provider);
	else if (providers && subject_rdma_of_port(g->snapshot, g->node, port, &rdma))
		judge_device_open(g, family, rdma.device);
}

void judge_rdma_userspace(struct judging *g)
{
	struct family_list list;
	const char *version;

	families_of_node(g, &list);
	if (rdma_none(g))
		return;
	version = fact_string(g, "/userspace/rdma_core");
	if (!version)
		return;
	if (g->node->rdma_core_min) {
		fact_declared(g, &g->node->where, json_text_new(g->node->rdma_core_min),
			      "nodes/%s/rdma_core_min", g->node->name);
		if (text_version_compare(version, g->node->rdma_core_min) < 0)
			judge_fail(g, "rdma-core-old",
				   judge_text(g, "install rdma-core %s or newer",
					      g->node->rdma_core_min),
				   "rdma-core is %s, declared is at least %s", version,
				   g->node->rdma_core_min);
	}
	for (size_t i = 0; i < list.n; i++)
		judge_family_user(g, list.family[i], list.port[i], version);
	if (!list.n)
		judge_unknown(g, NULL, "the NICs below the RDMA ports belong to no known family");
	else
		judge_pass(g, "rdma-core %s with provider %s", version, list.family[0]->provider);
}
