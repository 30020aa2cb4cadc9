/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs library of this node and its providers: /userspace. */
#include "observe/userspace.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/text.h"

/* A provider takes milliseconds for a device, or waits for a firmware that does not answer. */
#define PROBE_TIMEOUT_MS 2000

/* Where the dynamic linker looks, by distribution. */
static const char *const library_folders[] = {
	"/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib64",
	"/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib", "/usr/local/lib",
	"/usr/local/lib64",
};

char *rdma_core_version(const char *file)
{
	static const char prefix[] = "libibverbs.so.1.";

	if (!text_starts_with(file, prefix))
		return NULL;
	/* ABI minor, then the version of rdma-core: two numbers or more. */
	const char *s = file + strlen(prefix);
	s += strspn(s, "0123456789");
	if (*s != '.' || !isdigit((unsigned char)s[1]) || !strchr(s + 1, '.'))
		return NULL;
	s++;
	if (s[strspn(s, "0123456789.")])
		return NULL;
	return xstrdup(s);
}

char *rdma_provider_name(const char *file)
{
	const char *end = strstr(file, "-rdmav");

	if (!text_starts_with(file, "lib") || !text_ends_with(file, ".so"))
		return NULL;
	if (!end || end == file + 3)
		return NULL;
	return xstrndup(file + 3, (size_t)(end - file - 3));
}

/* Names in the lines "driver NAME" of /etc/libibverbs.d: the library loads no provider that is not
 * named there. New reference to an object with the names as keys; NULL without such a folder. */
static json_t *configured_new(struct observation *o)
{
	_cleanup_strings_ char **files = NULL;
	int n = host_list(o->host, &files, NULL, "/etc/libibverbs.d");
	json_t *configured;

	if (n < 0)
		return NULL;
	configured = json_object_new();
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *text = NULL;
		char *cursor, *line;

		if (!text_ends_with(files[i], ".driver") ||
		    host_read(o->host, &text, NULL, NULL, "/etc/libibverbs.d/%s", files[i]) < 0)
			continue;
		for (cursor = text; (line = text_next_line(&cursor));) {
			const char *keyword = text_next_word(&line);
			const char *name = text_next_word(&line);
			if (keyword && name && strcmp(keyword, "driver") == 0)
				json_put_bool(configured, name, true);
		}
	}
	return configured;
}

static void put_providers(struct observation *o, json_t *userspace, const char *folder)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_strings_ char **files = NULL;
	_cleanup_json_ json_t *configured = NULL;
	int n = host_list(o->host, &files, &err, "%s/libibverbs", folder);

	if (n < 0 && n != -ENOENT) {
		observe_gap(o, n, NULL, error_text(&err), "/userspace/providers");
		return;
	}
	json_t *providers = json_arr(userspace, "providers");
	configured = configured_new(o);
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *name = rdma_provider_name(files[i]);
		if (name && (!configured || json_object_get(configured, name)))
			json_append_text(providers, name);
	}
}

/* The version of the library's package, without epoch and release: "1:44.0-2" -> "44.0". */
static char *package_version(json_t *snapshot)
{
	static const char *const packages[] = {"libibverbs1", "libibverbs"};

	for (size_t i = 0; i < ARRAY_SIZE(packages); i++) {
		json_t *versions = json_at(snapshot, "/os/packages/%s", packages[i]);
		const char *version = json_string_value(json_array_get(versions, 0));

		if (!version || json_array_size(versions) != 1)
			continue;
		if (strchr(version, ':'))
			version = strchr(version, ':') + 1;
		return xstrndup(version, strcspn(version, "-"));
	}
	return NULL;
}

/* The library in `folder`, by the name of the file that its link leads to. A copy without that name
 * (in an image, say) is asked for at the package manager. False when it is not there. */
static bool put_library_in(struct observation *o, json_t *userspace, const char *folder)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *file = NULL;
	struct host_stat st;

	if (host_stat(o->host, &st, false, &err, "%s/libibverbs.so.1", folder) < 0)
		return false;
	file = host_readlink_base(o->host, "%s/libibverbs.so.1", folder);
	_cleanup_free_ char *version = file ? rdma_core_version(file) : NULL;
	if (!version)
		version = package_version(o->snapshot);
	json_put_string(userspace, "rdma_core", version);
	if (!version) {
		_cleanup_free_ char *reason = xasprintf("neither the name of %s/libibverbs.so.1 "
							"nor a package tells its version",
							folder);
		observe_gap(o, 0, NULL, reason, "/userspace/rdma_core");
	}
	put_providers(o, userspace, folder);
	return true;
}

/* False when there is no library. */
static bool put_library(struct observation *o, json_t *userspace)
{
	for (size_t i = 0; i < ARRAY_SIZE(library_folders); i++)
		if (put_library_in(o, userspace, library_folders[i]))
			return true;
	observe_gap(o, -ENOENT, "install rdma-core (RHEL: libibverbs, Debian: libibverbs1 and "
		    "ibverbs-providers)", "libibverbs.so.1 was not found", "/userspace/rdma_core");
	return false;
}

/* Copy what the library said about devices into /rdma/devices. */
static void merge_devices(json_t *devices, json_t *probed)
{
	const char *name, *number;
	json_t *from, *port;

	json_object_foreach(probed, name, from) {
		json_t *facts = json_object_get(devices, name);
		if (!facts)
			continue;
		json_put(facts, "capabilities", json_incref(json_object_get(from, "capabilities")));
		json_object_foreach(json_object_get(from, "ports"), number, port) {
			json_t *ports = json_object_get(facts, "ports");
			json_t *to = ports ? json_object_get(ports, number) : NULL;
			if (json_is_object(to) && json_is_object(port) &&
			    json_object_update(to, port) < 0)
				alloc_exhausted();
		}
	}
}

static void put_warnings(json_t *userspace, char *text)
{
	json_t *warnings = json_arr(userspace, "warnings");
	char *cursor = text, *line;

	while (cursor && (line = text_next_line(&cursor)))
		if (*text_trim(line))
			json_append_text(warnings, text_trim(line));
}

static void probe_devices(struct observation *o, json_t *userspace, json_t *devices)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_json_ json_t *result = NULL;
	_cleanup_free_ char *text = NULL;
	int rc = host_probe_run(o->host, "verbs", verbs_probe, PROBE_TIMEOUT_MS, &result, &text,
				&err);

	if (text)
		put_warnings(userspace, text);
	if (rc < 0) {
		observe_gap(o, rc, "ibv_devinfo -v shows where it stops", error_text(&err),
			    "/userspace/opened");
		return;
	}
	json_put(userspace, "opened", json_incref(json_object_get(result, "opened")));
	json_put(userspace, "failed", json_incref(json_object_get(result, "failed")));
	merge_devices(devices, json_object_get(result, "devices"));
}

void observe_userspace(struct observation *o)
{
	json_t *userspace = json_obj(o->snapshot, "userspace");
	json_t *devices = json_at(o->snapshot, "/rdma/devices");

	if (put_library(o, userspace) && json_object_size(devices))
		probe_devices(o, userspace, devices);
}
