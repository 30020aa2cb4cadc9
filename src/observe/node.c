/* SPDX-License-Identifier: Apache-2.0 */
/* Who this node is, and its operating system: /node, /os/release, /os/kernel, /os/sysctl. */
#include "observe/node.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "observe/sysfs.h"

/* --- os-release ------------------------------------------------------------------------------- */

/* Value of one assignment without its quotes, in a new string. As the shell: nothing is special in
 * single quotes, a backslash in double quotes escapes $ " \ and the backquote only. */
static char *unquote(const char *s)
{
	_cleanup_strbuf_ struct strbuf b = {0};
	char quote = 0;

	for (; *s; s++) {
		if (quote ? *s == quote : (*s == '"' || *s == '\'')) {
			quote = quote ? 0 : *s;
		} else if (*s == '\\' && quote != '\'' && s[1] &&
			   (!quote || strchr("$\"\\`", s[1]))) {
			strbuf_putc(&b, *++s);
		} else if (!quote && (isspace((unsigned char)*s) || *s == '#')) {
			break;
		} else {
			strbuf_putc(&b, *s);
		}
	}
	return xstrdup(strbuf_str(&b));
}

json_t *os_release_parse(const char *text)
{
	_cleanup_free_ char *copy = xstrdup(text);
	json_t *release = json_object_new();
	char *cursor = copy, *line;

	while ((line = text_next_line(&cursor))) {
		line = text_trim(line);
		size_t n = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
		if (!n || line[n] != '=')
			continue;
		line[n] = '\0';
		for (size_t i = 0; i < n; i++)
			line[i] = (char)tolower((unsigned char)line[i]);
		_cleanup_free_ char *value = unquote(line + n + 1);
		json_put_string(release, line, value);
	}
	return release;
}

static void observe_release(struct observation *o, json_t *os)
{
	static const char *const files[] = {"/etc/os-release", "/usr/lib/os-release"};
	static const char *const keys[] = {"id", "version_id", "name", "pretty_name"};
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *text = NULL;
	int rc = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(files) && rc == -ENOENT; i++)
		rc = host_read(o->host, &text, NULL, &err, "%s", files[i]);
	if (rc < 0) {
		observe_gap(o, rc, NULL, error_text(&err), "/os/release");
		return;
	}
	_cleanup_json_ json_t *all = os_release_parse(text);
	json_t *release = json_obj(os, "release");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		json_put_string(release, keys[i], json_get_string(all, keys[i], NULL));
	if (!json_object_size(release))
		observe_gap(o, -EINVAL, NULL, "os-release holds no assignment", "/os/release");
}

/* --- kernel configuration --------------------------------------------------------------------- */

static const char *const config_options[] = {
	"CONFIG_PCI_P2PDMA", "CONFIG_DMA_SHARED_BUFFER", "CONFIG_INFINIBAND",
	"CONFIG_INFINIBAND_USER_ACCESS", "CONFIG_INFINIBAND_IRDMA", "CONFIG_MLX5_INFINIBAND",
	"CONFIG_DCB", "CONFIG_UDMABUF", NULL,
};

/* The option that `line` is about, with its value, both in place; false for any other line. */
static bool config_line(char *line, const char **option, const char **value)
{
	static const char not_set[] = " is not set";
	const bool unset = text_starts_with(line, "# ");
	char *start = unset ? line + 2 : line;
	size_t n = strspn(start, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

	if (!text_starts_with(start, "CONFIG_"))
		return false;
	if (unset ? strcmp(start + n, not_set) != 0 : start[n] != '=')
		return false;
	*value = unset ? "n" : start + n + 1;
	start[n] = '\0';
	*option = start;
	return true;
}

json_t *kernel_config_parse(const char *text, const char *const *options)
{
	_cleanup_free_ char *copy = xstrdup(text);
	_cleanup_json_ json_t *config = json_object_new();
	char *cursor = copy, *line;
	bool any = false;

	for (size_t i = 0; options[i]; i++)
		json_put_string(config, options[i], "n");
	while ((line = text_next_line(&cursor))) {
		const char *option, *value;

		if (!config_line(text_trim(line), &option, &value))
			continue;
		any = true;
		if (json_object_get(config, option))
			json_put_string(config, option, value);
	}
	return any ? json_incref(config) : NULL;
}

static void observe_config(struct observation *o, json_t *kernel, const char *release)
{
	static const char hint[] = "the configuration is looked for in /boot/config-RELEASE and "
				   "/lib/modules/RELEASE/config";
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *text = NULL;
	int rc;

	rc = host_read_matching(o->host, &text, config_options, &err, "/boot/config-%s", release);
	if (rc == -ENOENT)
		rc = host_read_matching(o->host, &text, config_options, &err,
					"/lib/modules/%s/config", release);
	if (rc < 0) {
		observe_gap(o, rc, rc == -ENOENT ? hint : NULL, error_text(&err),
			    "/os/kernel/config");
		return;
	}
	json_t *config = kernel_config_parse(text, config_options);
	if (!config)
		observe_gap(o, -EINVAL, hint, "the kernel configuration file has no known option",
			    "/os/kernel/config");
	json_put(kernel, "config", config);
}

/* --- kernel ----------------------------------------------------------------------------------- */

static void observe_installed(struct observation *o, json_t *kernel, const char *release)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_strings_ char **names = NULL;
	struct host_stat st;
	int rc = host_list(o->host, &names, &err, "/lib/modules");

	if (rc < 0) {
		/* A node without any modules is a container rather than a machine. */
		static const char hint[] = "in a container, mount the host's /lib/modules";
		observe_gap(o, rc, hint, error_text(&err), "/os/kernel/installed");
		observe_gap(o, rc, hint, error_text(&err), "/os/kernel/headers");
		return;
	}
	json_t *installed = json_arr(kernel, "installed");
	for (int i = 0; i < rc; i++)
		json_append_text(installed, names[i]);

	if (!release)
		return;
	rc = host_stat(o->host, &st, false, &err, "/lib/modules/%s/build", release);
	if (rc == 0 || rc == -ENOENT)
		json_put_bool(kernel, "headers", rc == 0 && st.type == 'd');
	else
		observe_gap(o, rc, NULL, error_text(&err), "/os/kernel/headers");
}

static void observe_kernel(struct observation *o, json_t *os, json_t *names)
{
	json_t *kernel = json_obj(os, "kernel");
	const struct sysfs_object proc = {o, kernel, "/os/kernel", "/proc"};
	const char *release = json_get_string(names, "release", NULL);

	json_put_string(kernel, "release", release);
	json_put_string(kernel, "version", json_get_string(names, "version", NULL));
	sysfs_put_text(&proc, "cmdline", "cmdline");
	sysfs_put_int(&proc, "tainted", "sys/kernel/tainted");

	if (release && strchr(release, '/'))
		release = NULL;
	if (release)
		observe_config(o, kernel, release);
	else
		observe_gap(o, 0, NULL, "the kernel release is not known", "/os/kernel/config");
	observe_installed(o, kernel, release);
}

static void observe_sysctl(struct observation *o, json_t *os)
{
	static const struct {
		const char *name, *file;
	} table[] = {
		{"net.ipv4.conf.all.arp_ignore", "net/ipv4/conf/all/arp_ignore"},
		{"net.ipv4.conf.all.arp_announce", "net/ipv4/conf/all/arp_announce"},
		{"net.ipv4.conf.all.rp_filter", "net/ipv4/conf/all/rp_filter"},
	};
	const struct sysfs_object sys = {o, json_obj(os, "sysctl"), "/os/sysctl", "/proc/sys"};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		sysfs_put_text(&sys, table[i].name, table[i].file);
}

void observe_node(struct observation *o)
{
	json_t *node = json_obj(o->snapshot, "node");
	json_t *os = json_obj(o->snapshot, "os");
	const struct sysfs_object proc = {o, node, "/node", "/proc/sys/kernel"};
	_cleanup_error_ struct error err = {0};
	_cleanup_json_ json_t *names = NULL;
	int rc = host_uname(o->host, &names, &err);

	if (rc < 0) {
		observe_gap(o, rc, NULL, error_text(&err), "/node");
		observe_gap(o, rc, NULL, error_text(&err), "/os/kernel");
	}
	json_put_string(node, "hostname", json_get_string(names, "nodename", NULL));
	sysfs_put_text(&proc, "boot_id", "random/boot_id");
	json_put_string(node, "machine", json_get_string(names, "machine", NULL));
	observe_release(o, os);
	observe_kernel(o, os, names);
	observe_sysctl(o, os);
}
