/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What modprobe would do with a module, and what the module file says of itself, through libkmod.
 *
 * libkmod resolves paths of this machine. To keep it below the root it is given directories that
 * this program has opened (/proc/self/fd/N), and the module file the same way. Two things of
 * libkmod cannot be kept out: it takes module options and blacklists from this machine's
 * /proc/cmdline as well, and it would follow an index (modules.dep.bin) that is an absolute
 * symbolic link.
 */
#include <errno.h>
#include <fcntl.h>
#include <libkmod.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/text.h"
#include "host/door.h"

/* modprobe.d(5), most important first */
static const char *const config_folders[] = {
	"/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d",
	"/lib/modprobe.d",
};

struct lookup {
	char *folder;		/* "/lib/modules/RELEASE" */
	int folder_fd;
	int config_fds[ARRAY_SIZE(config_folders)];
	struct kmod_ctx *ctx;
	struct kmod_list *found;
};

static void silent(void *data RH_UNUSED, int priority RH_UNUSED, const char *file RH_UNUSED,
		   int line RH_UNUSED, const char *function RH_UNUSED, const char *fmt RH_UNUSED,
		   va_list args RH_UNUSED)
{
}

static char *fd_path(int fd)
{
	return xasprintf("/proc/self/fd/%d", fd);
}

static int kernel_release(struct host *host, char **release, struct error *err)
{
	_cleanup_strbuf_ struct strbuf text = {0};
	struct utsname u;

	if (!host->root) {
		if (uname(&u) < 0)
			return error_set_errno(err, -errno, "uname");
		*release = xstrdup(u.release);
		return 0;
	}
	int rc = path_read(host, "/proc/sys/kernel/osrelease", &text, err);
	if (rc == 0)
		*release = xstrdup(text.s ? text_trim(text.s) : "");
	return rc;
}

static void lookup_close(struct lookup *l)
{
	kmod_module_unref_list(l->found);
	if (l->ctx)
		kmod_unref(l->ctx);
	for (size_t i = 0; i < ARRAY_SIZE(config_folders); i++)
		if (l->config_fds[i] >= 0)
			close(l->config_fds[i]);
	if (l->folder_fd >= 0)
		close(l->folder_fd);
	free(l->folder);
}

static int lookup_open(struct lookup *l, struct host *host, struct error *err)
{
	char *configs[ARRAY_SIZE(config_folders) + 1] = {0};
	_cleanup_free_ char *release = NULL;
	size_t n = 0;
	int rc = kernel_release(host, &release, err);

	l->folder_fd = -1;
	for (size_t i = 0; i < ARRAY_SIZE(config_folders); i++) {
		l->config_fds[i] = path_open(host, config_folders[i], O_PATH | O_DIRECTORY);
		if (l->config_fds[i] >= 0)
			configs[n++] = fd_path(l->config_fds[i]);
	}
	if (rc == 0) {
		l->folder = xasprintf("/lib/modules/%s", release);
		l->folder_fd = path_open(host, l->folder, O_PATH | O_DIRECTORY);
		if (l->folder_fd < 0)
			rc = error_set_errno(err, l->folder_fd, "%s", l->folder);
	}
	if (rc == 0) {
		_cleanup_free_ char *folder = fd_path(l->folder_fd);

		l->ctx = kmod_new(folder, (const char *const *)configs);
		if (!l->ctx)
			rc = error_set_errno(err, errno ? -errno : -ENOMEM, "libkmod");
		else
			kmod_set_log_fn(l->ctx, silent, NULL);
	}
	while (n)
		free(configs[--n]);
	return rc;
}

/* True when `filter` takes the module out of the list. */
static bool filtered(const struct lookup *l, enum kmod_filter filter)
{
	struct kmod_list *left = NULL;
	bool out;

	if (kmod_module_apply_filter(l->ctx, filter, l->found, &left) < 0)
		return false;
	out = left == NULL;
	kmod_module_unref_list(left);
	return out;
}

/* "name:description" or "name:description (type)"; the same name comes again as "parmtype". */
static void put_parameter(json_t *info, const char *value)
{
	size_t len = strcspn(value, ":");
	json_t *names = json_arr(info, "parameters"), *known;
	_cleanup_free_ char *name = xstrndup(value, len);
	size_t i;

	json_array_foreach(names, i, known)
		if (strcmp(json_string_value(known), name) == 0)
			return;
	json_append_text(names, name);
}

static void put_info(json_t *info, const struct kmod_module *mod)
{
	static const char *const wanted[] = { "version", "srcversion", "license", "vermagic" };
	struct kmod_list *list = NULL, *entry;

	/* a module file that cannot be read (no such decompressor) still has its path told */
	if (kmod_module_get_info(mod, &list) < 0)
		return;
	kmod_list_foreach(entry, list) {
		const char *key = kmod_module_info_get_key(entry);
		const char *value = kmod_module_info_get_value(entry);

		if (!key || !value)
			continue;
		if (strcmp(key, "parm") == 0 || strcmp(key, "parmtype") == 0)
			put_parameter(info, value);
		for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
			if (strcmp(key, wanted[i]) == 0 && !json_object_get(info, key))
				json_put_string(info, key, value);
	}
	kmod_module_info_free_list(list);
}

/* The module file through a descriptor of ours, so that a link in the tree stays below the root. */
static void put_file_info(json_t *info, const struct lookup *l, struct host *host, const char *path)
{
	struct kmod_module *file = NULL;
	_cleanup_close_ int fd = path_open(host, path, O_RDONLY | O_NONBLOCK);

	if (fd < 0)
		return;
	_cleanup_free_ char *link = fd_path(fd);
	if (kmod_module_new_from_path(l->ctx, link, &file) < 0)
		return;
	put_info(info, file);
	kmod_module_unref(file);
}

struct module_question {
	const char *name;
	bool open_file;
};

static int describe(json_t *info, const struct lookup *l, struct host *host,
		    const struct module_question *q, struct error *err)
{
	struct kmod_module *mod = kmod_module_get_module(l->found);
	_cleanup_free_ char *prefix = xasprintf("/proc/self/fd/%d/", l->folder_fd);
	const char *path = kmod_module_get_path(mod), *options = kmod_module_get_options(mod);
	bool builtin = filtered(l, KMOD_FILTER_BUILTIN);

	if (!path && !builtin) {
		kmod_module_unref(mod);
		return error_set(err, -ENOENT, "no kernel module \"%s\" below %s", q->name,
				 l->folder);
	}
	if (path) {
		const char *inside = text_starts_with(path, prefix) ? path + strlen(prefix) : path;
		_cleanup_free_ char *real = *inside == '/' ? xstrdup(inside) :
					    xasprintf("%s/%s", l->folder, inside);

		json_put_string(info, "path", real);
		if (q->open_file)
			put_file_info(info, l, host, real);
	} else if (q->open_file) {
		put_info(info, mod);
	}
	json_put_bool(info, "builtin", builtin);
	json_put_bool(info, "blacklisted", filtered(l, KMOD_FILTER_BLACKLIST));
	if (options && *options)
		json_put_string(info, "options", options);
	kmod_module_unref(mod);
	return 0;
}

static int modinfo_live(struct host *host, const void *question, json_t **answer, struct error *err)
{
	_cleanup_json_ json_t *info = json_object_new();
	const struct module_question *q = question;
	struct lookup l = {0};
	int rc = lookup_open(&l, host, err);

	if (rc == 0) {
		rc = kmod_module_new_from_lookup(l.ctx, q->name, &l.found);
		if (rc < 0)
			error_set_errno(err, rc, "lookup of kernel module \"%s\"", q->name);
		else if (!l.found)
			rc = error_set(err, -ENOENT, "no kernel module \"%s\" below %s", q->name,
				       l.folder);
	}
	if (rc == 0)
		rc = describe(info, &l, host, q, err);
	if (rc == 0)
		*answer = door_answer_new("info", json_incref(info));
	lookup_close(&l);
	return rc;
}

static int ask(struct host *host, const char *door, const struct module_question *q, json_t **info,
	       struct error *err)
{
	_cleanup_json_ json_t *answer = NULL;
	int rc = door_ask(host, door, q->name, true, modinfo_live, q, &answer, err);

	*info = NULL;
	if (rc < 0)
		return rc;
	if (!json_is_object(json_object_get(answer, "info")))
		return door_malformed(door, err);
	*info = json_incref(json_object_get(answer, "info"));
	return 0;
}

int host_module_info(struct host *host, const char *name, json_t **info, struct error *err)
{
	const struct module_question q = { .name = name, .open_file = true };

	return ask(host, "module", &q, info, err);
}

int host_module_find(struct host *host, const char *name, json_t **info, struct error *err)
{
	const struct module_question q = { .name = name };

	return ask(host, "module-path", &q, info, err);
}
