/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel modules on the path, loaded or as files: /os/modules. */
#include "observe/modules.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "observe/sysfs.h"

/* Vendors of hardware, as sysfs writes them. */
#define INTEL "0x8086"
#define MELLANOX "0x15b3"
#define BROADCOM "0x14e4"
#define NVIDIA "0x10de"

/* With a vendor: the driver of hardware; its file is opened where such hardware is. */
static const struct module {
	const char *name, *vendor;
} modules_of_interest[] = {
	/* NICs and their RDMA drivers */
	{"ice", INTEL}, {"irdma", INTEL}, {"i40e", INTEL},
	{"mlx5_core", MELLANOX}, {"mlx5_ib", MELLANOX},
	{"bnxt_en", BROADCOM}, {"bnxt_re", BROADCOM},
	{"rdma_rxe", NULL}, {"siw", NULL},
	/* RDMA core and what it shows to user space */
	{"ib_core", NULL}, {"ib_uverbs", NULL}, {"ib_umad", NULL}, {"ib_ipoib", NULL},
	{"rdma_cm", NULL}, {"rdma_ucm", NULL},
	/* bonds, VLANs, the laboratory's DCB */
	{"bonding", NULL}, {"8021q", NULL}, {"dcbsim", NULL},
	/* GPUs and peer memory */
	{"nvidia", NVIDIA}, {"nvidia_uvm", NULL}, {"nvidia_modeset", NULL},
	{"nvidia_peermem", NULL}, {"nv_peer_mem", NULL}, {"nouveau", NULL}, {"gdrdrv", NULL},
	{"nvidia_fs", NULL}, {"udmabuf", NULL},
};

int module_path_in_tree(const char *path)
{
	static const char tree[] = "/lib/modules/";
	const char *s = strstr(path, tree);

	if (!s)
		return -1;
	s = strchr(s + strlen(tree), '/');
	if (!s)
		return -1;
	return text_starts_with(s, "/kernel/");
}

/* The module as /sys/module shows it. A built-in one has a folder too, when it has parameters, but
 * no initstate. */
static void observe_loaded(struct observation *o, json_t *facts, const char *name)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *pointer = json_pointer_format("/os/modules/%s", name);
	_cleanup_free_ char *path = xasprintf("/sys/module/%s", name);
	const struct sysfs_object module = {o, facts, pointer, path};
	_cleanup_free_ char *state = sysfs_text(&module, "loaded", "initstate");

	if (!state) {
		json_put_bool(facts, "loaded", true);
		json_put_bool(facts, "builtin", true);
	} else {
		/* "coming" and "going" are not usable yet, or any more. */
		json_put_bool(facts, "loaded", strcmp(state, "live") == 0);
		json_put_bool(facts, "builtin", false);
		sysfs_put_text(&module, "version", "version");
		sysfs_put_text(&module, "srcversion", "srcversion");
		sysfs_put_int(&module, "refcount", "refcnt");
		_cleanup_free_ char *taint = sysfs_text(&module, "taint", "taint");
		json_put_string(facts, "taint", taint);
	}

	_cleanup_strings_ char **names = NULL;
	int n = host_list(o->host, &names, &err, "%s/parameters", path);
	if (n == -ENOENT)
		return;
	_cleanup_free_ char *parameters_pointer = xasprintf("%s/parameters", pointer);
	if (n < 0) {
		observe_gap_at(o, n, NULL, error_text(&err), parameters_pointer);
		return;
	}
	_cleanup_free_ char *parameters_path = xasprintf("%s/parameters", path);
	json_t *parameters = json_obj(facts, "parameters");
	for (int i = 0; i < n; i++) {
		_cleanup_error_ struct error unread = {0};
		_cleanup_free_ char *value = host_read_text(o->host, &unread, "%s/%s",
							    parameters_path, names[i]);
		/* Some may be written only (mode 0200): that is not worth a gap. */
		json_put_string(parameters, names[i], value);
	}
}

/* Is a network or display device of this vendor among those of /pci? */
static bool has_hardware(struct observation *o, const char *vendor)
{
	const char *bdf;
	json_t *device;

	json_object_foreach(json_at(o->snapshot, "/pci/devices"), bdf, device) {
		const char *class = json_get_string(device, "class", "");

		if (strcmp(json_get_string(device, "vendor", ""), vendor) == 0 &&
		    (text_starts_with(class, "0x02") || text_starts_with(class, "0x03")))
			return true;
	}
	return false;
}

static void observe_file(struct observation *o, json_t *facts, const struct module *module)
{
	static const char *const texts[] = {"path", "version", "srcversion", "license", "vermagic"};
	const char *name = module->name;
	_cleanup_error_ struct error err = {0};
	_cleanup_json_ json_t *info = NULL;
	int rc = module->vendor && has_hardware(o, module->vendor) ?
		 host_module_info(o->host, name, &info, &err) :
		 host_module_find(o->host, name, &info, &err);

	/* Also when there is no folder for the running kernel: modprobe would find nothing. */
	if (rc == -ENOENT) {
		json_put(facts, "file", json_null());
		return;
	}
	if (rc < 0) {
		observe_gap(o, rc, NULL, error_text(&err), "/os/modules/%s/file", name);
		return;
	}
	if (json_object_get(info, "blacklisted"))
		json_put_bool(facts, "blacklisted", json_get_bool(info, "blacklisted", false));
	json_put_string(facts, "options", json_get_string(info, "options", NULL));
	if (json_get_bool(info, "builtin", false)) {
		json_put_bool(facts, "builtin", true);
		json_put_bool(facts, "loaded", true);
		json_put(facts, "file", json_null());
		return;
	}
	json_t *file = json_obj(facts, "file");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		json_put_string(file, texts[i], json_get_string(info, texts[i], NULL));
	json_t *parameters = json_object_get(info, "parameters");
	if (parameters)
		json_put(file, "parameters", json_deep_copy(parameters));
}

/* The taint of what runs counts first; the file is what the next boot would load. */
static void put_in_tree(json_t *facts)
{
	const char *taint = json_get_string(facts, "taint", NULL);
	const char *path = json_get_string(json_object_get(facts, "file"), "path", NULL);
	const int by_path = path ? module_path_in_tree(path) : -1;

	if (taint && strchr(taint, 'O'))
		json_put_bool(facts, "in_tree", false);
	else if (json_get_bool(facts, "builtin", false))
		json_put_bool(facts, "in_tree", true);
	else if (by_path >= 0)
		json_put_bool(facts, "in_tree", by_path);
	else if (taint)
		json_put_bool(facts, "in_tree", true);
}

static bool name_among(char **names, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* A system without any modules is a container's view of one: then nothing is known of the files. */
static bool has_module_files(struct observation *o)
{
	_cleanup_error_ struct error err = {0};
	struct host_stat st;
	int rc = host_stat(o->host, &st, false, &err, "/lib/modules");

	if (rc < 0)
		observe_gap(o, rc, "in a container, mount the host's /lib/modules",
			    error_text(&err), "/os/modules");
	return rc == 0;
}

void observe_modules(struct observation *o)
{
	json_t *os = json_obj(o->snapshot, "os");
	_cleanup_error_ struct error err = {0};
	_cleanup_strings_ char **loaded = NULL;
	int n = host_list(o->host, &loaded, &err, "/sys/module");

	if (n < 0) {
		observe_gap(o, n, NULL, error_text(&err), "/os/modules");
	} else {
		json_t *modules = json_obj(os, "modules");
		const bool files = has_module_files(o);

		for (size_t i = 0; i < ARRAY_SIZE(modules_of_interest); i++) {
			const char *name = modules_of_interest[i].name;
			json_t *facts = json_obj(modules, name);

			if (name_among(loaded, n, name))
				observe_loaded(o, facts, name);
			else
				json_put_bool(facts, "loaded", false);
			if (files)
				observe_file(o, facts, &modules_of_interest[i]);
			put_in_tree(facts);
		}
	}
	observe_packages(o);
}
