/* SPDX-License-Identifier: Apache-2.0 */
/*
 * k8s.rdma-resource: why does the RDMA device plugin offer nothing?
 *
 * The shared device plugin takes a PCI network function when every selector of its resource has a
 * value that fits (OR inside a selector, AND between them), and when the device nodes that it
 * requires exist. Versions before v1.5.2 require an issm node, which RoCE ports do not get.
 */
#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "judge/later.h"

static const char *const selector_keys[] = { "vendors", "deviceIDs", "drivers", "ifNames",
					      "linkTypes" };

static const char *without_0x(const char *hex)
{
	return text_starts_with(hex, "0x") ? hex + 2 : hex;
}

static bool list_has(json_t *list, const char *wanted)
{
	json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry) {
		const char *text = json_string_value(entry);

		if (text && !strcasecmp(without_0x(text), wanted))
			return true;
	}
	return false;
}

/* PCI class 02: network controller (Ethernet 0200, InfiniBand 0207). */
static bool is_network(json_t *device)
{
	return text_starts_with(json_get_string(device, "class", ""), "0x02");
}

/* Encapsulation as the plugin reads it from the kernel: "ether", "infiniband". */
static bool link_type_fits(json_t *device, json_t *values)
{
	bool infiniband = text_starts_with(json_get_string(device, "class", ""), "0x0207");

	return infiniband ? list_has(values, "infiniband") :
			    list_has(values, "ether") || list_has(values, "ethernet");
}

static bool selector_fits(json_t *device, const char *key, json_t *values)
{
	json_t *link;
	size_t i;

	if (!strcmp(key, "vendors"))
		return list_has(values, without_0x(json_get_string(device, "vendor", "")));
	if (!strcmp(key, "deviceIDs"))
		return list_has(values, without_0x(json_get_string(device, "device", "")));
	if (!strcmp(key, "drivers"))
		return list_has(values, json_get_string(device, "driver", ""));
	if (!strcmp(key, "linkTypes"))
		return link_type_fits(device, values);
	json_array_foreach(json_object_get(device, "links"), i, link) {
		if (json_string_value(link) && list_has(values, json_string_value(link)))
			return true;
	}
	return false;
}

static bool device_fits(json_t *device, json_t *selectors)
{
	for (size_t i = 0; i < ARRAY_SIZE(selector_keys); i++) {
		json_t *values = json_object_get(selectors, selector_keys[i]);

		if (json_array_size(values) && !selector_fits(device, selector_keys[i], values))
			return false;
	}
	return true;
}

/* "[0d00 b500]" */
static const char *list_text(struct judging *g, json_t *list)
{
	_cleanup_strbuf_ struct strbuf b = {0};
	json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry)
		strbuf_printf(&b, "%s%s", i ? " " : "",
			      json_string_value(entry) ? json_string_value(entry) : "?");
	return judge_text(g, "[%s]", strbuf_str(&b));
}

static const char *value_of(json_t *device, const char *key)
{
	if (!strcmp(key, "vendors"))
		return without_0x(json_get_string(device, "vendor", ""));
	if (!strcmp(key, "deviceIDs"))
		return without_0x(json_get_string(device, "device", ""));
	if (!strcmp(key, "drivers"))
		return json_get_string(device, "driver", "none");
	if (!strcmp(key, "ifNames")) {
		const char *link =
			json_string_value(json_array_get(json_object_get(device, "links"), 0));

		return link ? link : "none";
	}
	return text_starts_with(json_get_string(device, "class", ""), "0x0207") ? "infiniband" :
										  "ether";
}

/* What the network functions with RDMA have instead; all functions when none has RDMA. */
static const char *seen_values(struct judging *g, const char *key)
{
	_cleanup_strbuf_ struct strbuf b = {0};
	json_t *devices = peek(g, "/pci/devices"), *device;
	const char *bdf;

	for (int with_rdma = 1; with_rdma >= 0 && !b.len; with_rdma--) {
		json_object_foreach(devices, bdf, device) {
			const char *value = value_of(device, key);

			if (!is_network(device) ||
			    (with_rdma && !json_array_size(json_object_get(device, "rdma"))) ||
			    strstr(strbuf_str(&b), value))
				continue;
			strbuf_printf(&b, "%s%s", b.len ? ", " : "", value);
		}
	}
	return judge_text(g, "%s", b.len ? strbuf_str(&b) : "none");
}

/* A frequent slip: the bus number ("0d00" of 0000:0d:00.0) where the device ID belongs. */
static bool is_bus_number(struct judging *g, const char *value)
{
	json_t *device;
	const char *bdf;

	json_object_foreach(peek(g, "/pci/devices"), bdf, device) {
		if (is_network(device) && strlen(bdf) == sizeof("0000:0d:00.0") - 1 &&
		    strlen(value) == 4 && !strncmp(bdf + 5, value, 2) &&
		    !strncmp(bdf + 8, value + 2, 2))
			return true;
	}
	return false;
}

static bool is_rdma_driver(struct judging *g, const char *value)
{
	json_t *device;
	const char *name;

	json_object_foreach(peek(g, "/rdma/devices"), name, device) {
		if (!strcmp(json_get_string(device, "driver", ""), value))
			return true;
	}
	return !strcmp(value, "irdma") || !strcmp(value, "mlx5_ib") || !strcmp(value, "bnxt_re");
}

static const char *slip_of(struct judging *g, const char *key, json_t *values)
{
	json_t *entry;
	size_t i;

	json_array_foreach(values, i, entry) {
		const char *value = json_string_value(entry);

		if (value && !strcmp(key, "deviceIDs") && is_bus_number(g, value))
			return judge_text(g, "; %s is a PCI bus number, not a device ID", value);
		if (value && !strcmp(key, "drivers") && is_rdma_driver(g, value))
			return judge_text(g, "; %s is the RDMA driver, the selector asks for the "
					     "driver of the PCI device", value);
	}
	return "";
}

/* One selector against all network functions. Returns whether some function fits. */
static bool judge_selector(struct judging *g, const char *resource, const char *key, json_t *values)
{
	json_t *device;
	const char *bdf, *seen;

	json_object_foreach(peek(g, "/pci/devices"), bdf, device) {
		if (is_network(device) && selector_fits(device, key, values))
			return true;
	}
	seen = seen_values(g, key);
	judge_fail(g, "selector-matches-nothing",
		   judge_text(g, "set %s to what the RDMA NICs have (%s), or leave the selector "
				 "out", key,
			      seen),
		   "%s: selector %s %s matches no network device of this node (%s)%s", resource,
		   key,
		   list_text(g, values), seen, slip_of(g, key, values));
	return false;
}

/* Which device fits them all, and has it RDMA? */
static void judge_matches(struct judging *g, const char *resource, json_t *selectors)
{
	size_t fitting = 0, with_rdma = 0;
	json_t *device;
	const char *bdf;

	json_object_foreach(peek(g, "/pci/devices"), bdf, device) {
		if (!is_network(device) || !device_fits(device, selectors))
			continue;
		fact_optional(g, "/pci/devices/%s/rdma", bdf);
		fitting++;
		with_rdma += json_array_size(json_object_get(device, "rdma")) > 0;
	}
	if (!fitting) {
		judge_fail(g, "selectors-exclude-each-other",
			   "write selectors that one device fulfils together: AND holds between "
			   "them",
			   "%s: each selector matches some device, but no device matches all of "
			   "them",
			   resource);
	} else if (!with_rdma) {
		judge_fail(g, "no-rdma-device",
			   "bring up the RDMA device first; rdma.device says what stops it",
			   "%s: %zu device%s match%s the selectors, none has an RDMA device",
			   resource,
			   fitting, fitting == 1 ? "" : "s", fitting == 1 ? "es" : "");
		judge_explained_by(g, "rdma.device", NULL);
	}
}

static void judge_selectors(struct judging *g, const char *resource, json_t *selectors)
{
	bool each = true;

	if (!json_object_size(selectors))
		return;
	if (!peek(g, "/pci/devices")) {
		fact(g, "/pci/devices");	/* says why */
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(selector_keys); i++) {
		json_t *values = json_object_get(selectors, selector_keys[i]);

		if (json_array_size(values) &&
		    !judge_selector(g, resource, selector_keys[i], values))
			each = false;
	}
	if (each)
		judge_matches(g, resource, selectors);
	/* the plugin compares with the kernel's word, which is "ether" */
	if (list_has(json_object_get(selectors, "linkTypes"), "ethernet") &&
	    !list_has(json_object_get(selectors, "linkTypes"), "ether"))
		judge_candidate(g, "link-type-spelling", "write \"ether\", or leave linkTypes out",
				"%s: linkTypes \"ethernet\" may match nothing, the kernel says "
				"\"ether\": the plugin's log tells", resource);
}

/* A device node that the plugin asks for and does not find, by its log. */
static bool log_misses(json_t *log, const char *node)
{
	json_t *entry;
	size_t i;

	json_array_foreach(log, i, entry) {
		const char *line = json_string_value(entry);
		const char *at = line ? strstr(line, node) : NULL;

		if (at && strstr(at, "not found"))
			return true;
	}
	return false;
}

static void judge_nodes(struct judging *g, json_t *plugin)
{
	static const struct {
		const char *node, *module;
	} needed[] = {
		{ "umad", "ib_umad" }, { "uverbs", "ib_uverbs" }, { "rdma_cm", "rdma_ucm" },
	};
	json_t *log = json_object_get(plugin, "log");
	const char *version = json_get_string(plugin, "version", NULL);

	if (log_misses(log, "issm") || list_has(json_object_get(plugin, "required_nodes"), "issm"))
		judge_fail(g, "plugin-requires-issm",
			   "update k8s-rdma-shared-dev-plugin to v1.5.2 or later (the requirement "
			   "was dropped there)",
			   "the device plugin%s%s requires an issm node, which RoCE ports do not "
			   "get",
			   version ? " " : "", version ? version : "");
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		if (!log_misses(log, needed[i].node))
			continue;
		judge_fail(g, "plugin-node-missing",
			   judge_text(g, "`modprobe %s`, and a file in /etc/modules-load.d for the "
					 "next boot", needed[i].module),
			   "the device plugin finds no %s node", needed[i].node);
	}
}

static void judge_resource(struct judging *g, json_t *plugin, size_t index)
{
	json_t *resource = fact(g, "/k8s/device_plugin/resources/%zu", index);
	const char *name = json_get_string(resource, "name", "resource");
	json_t *exposed = json_object_get(resource, "exposed");
	const char *allocatable = fact_optional_string(g, "/k8s/node/allocatable/%s", name);

	if (!json_is_integer(exposed)) {
		judge_unknown(g, NULL, "%s: how many devices the plugin exposes was not observed",
				       name);
		return;
	}
	if (json_integer_value(exposed) > 0) {
		if (allocatable && !strcmp(allocatable, "0"))
			judge_fail(g, "allocatable-stuck",
				   "restart the device plugin's pod on this node: it announces "
				   "changes only, and a kubelet restart loses them",
				   "%s: the plugin exposes %lld, the node has 0 allocatable", name,
				   (long long)json_integer_value(exposed));
		else
			judge_pass(g, "%s: %lld exposed", name,
				   (long long)json_integer_value(exposed));
		return;
	}
	judge_nodes(g, plugin);
	judge_selectors(g, name, json_object_get(resource, "selectors"));
	if (!g->decided || g->verdict->status != VERDICT_FAIL)
		judge_fail(g, "plugin-exposes-nothing",
			   "read the plugin's log from its start: it names each device that it "
			   "refuses",
			   "%s: the plugin exposes 0 devices, and neither its log nor its "
			   "selectors say why",
			   name);
	judge_summary(g, "%s: 0 devices exposed, so the node has no such resource", name);
}

void judge_k8s_rdma_resource(struct judging *g)
{
	json_t *plugin = fact_optional(g, "/k8s/device_plugin");
	json_t *resources = json_object_get(plugin, "resources");

	if (!plugin) {
		judge_unknown(g, NULL, "needs the Kubernetes API and the device plugin's "
				       "configuration");
		return;
	}
	if (!json_array_size(resources)) {
		judge_unknown(g, NULL, "the record of the device plugin names no resource");
		return;
	}
	for (size_t i = 0; i < json_array_size(resources); i++)
		judge_resource(g, plugin, i);
}
