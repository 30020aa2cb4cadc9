/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/kernel_release.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "base/text.h"

struct kernel_tag kernel_release_tag(const char *release)
{
	struct kernel_tag tag = { 0, -1 };
	const char *at = release;

	while ((at = strstr(at, ".el"))) {
		at += 3;
		if (!isdigit((unsigned char)*at))
			continue;
		for (; isdigit((unsigned char)*at) && tag.major < 1000; at++)
			tag.major = 10 * tag.major + (*at - '0');
		if (*at == '_' && isdigit((unsigned char)at[1])) {
			tag.minor = 0;
			for (at++; isdigit((unsigned char)*at) && tag.minor < 1000; at++)
				tag.minor = 10 * tag.minor + (*at - '0');
		}
		break;
	}
	return tag;
}

const char *kernel_release_variant(const char *release)
{
	const char *plus = strrchr(release, '+');

	for (const char *s = release; *s; s++) {
		if (*s == '-' && isalpha((unsigned char)s[1]) && strncmp(s, "-rc", 3))
			return s;
	}
	return plus ? plus : release + strlen(release);
}

const char *kernel_release_newer(json_t *installed, const char *running)
{
	const char *variant = kernel_release_variant(running), *newest = NULL;
	json_t *entry;
	size_t i;

	json_array_foreach(installed, i, entry) {
		const char *release = json_string_value(entry);

		if (!release || strcmp(kernel_release_variant(release), variant) ||
		    text_version_compare(release, newest ? newest : running) <= 0)
			continue;
		newest = release;
	}
	return newest;
}

/* Distributions whose kernels carry an elN tag. */
static bool has_el_tag(const char *os_id)
{
	static const char *const ids[] = { "rhel", "centos", "rocky", "almalinux", "ol" };

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		if (!strcmp(os_id, ids[i]))
			return true;
	}
	return false;
}

static const char *fix_reboot(struct judging *g)
{
	return judge_text(g,
			  "drain and reboot the node (`kubectl drain %s --ignore-daemonsets`), then "
			  "check `uname -r`; when the old kernel comes back: `grubby "
			  "--default-kernel`",
			  g->node->name);
}

static const char *newer_of(struct judging *g, const char *running)
{
	return kernel_release_newer(fact(g, "/os/kernel/installed"), running);
}

/* Kernel against distribution release. Returns false when it fails. */
static bool judge_family(struct judging *g, const char *running)
{
	const char *id = fact_string(g, "/os/release/id");
	const char *version = fact_string(g, "/os/release/version_id");
	struct kernel_tag tag = kernel_release_tag(running);
	int64_t major, minor = -1;
	const char *dot, *newer;

	if (!id || !version || !has_el_tag(id))
		return true;
	dot = strchr(version, '.');
	_cleanup_free_ char *text = dot ? xstrndup(version, (size_t)(dot - version)) :
					  xstrdup(version);

	if (text_to_i64(text, 10, &major) < 0 || (dot && text_to_i64(dot + 1, 10, &minor) < 0))
		return true;
	if (!tag.major) {
		judge_warn(g, "kernel-not-distribution",
			   "boot the distribution's kernel, or accept that no support row covers "
			   "this one",
			   "kernel %s carries no el%d tag: it is not a kernel of %s %s", running,
			   (int)major, id, version);
		return true;
	}
	newer = newer_of(g, running);
	struct kernel_tag newer_tag = kernel_release_tag(newer ? newer : "");

	if (tag.major != major) {
		if (newer_tag.major == major)
			judge_fail(g, "kernel-old-running", fix_reboot(g),
				   "the kernel of the release before the update still runs: %s on "
				   "%s %s, while %s is installed", running, id, version, newer);
		else
			judge_fail(g, "kernel-other-release",
				   "install and boot the kernel of this release: `dnf reinstall "
				   "kernel-core`, then reboot",
				   "kernel %s belongs to release %d, the node is %s %s", running,
				   tag.major,
				   id, version);
		return false;
	}
	if (minor >= 0 && tag.minor >= 0 && tag.minor != minor) {
		if (newer && newer_tag.minor == minor)
			judge_fail(g, "kernel-old-running", fix_reboot(g),
				   "the kernel of %d.%d still runs after the update to %s: %s, "
				   "while %s is installed", tag.major, tag.minor, version, running,
				   newer);
		else
			judge_fail(g, "kernel-other-minor",
				   "install the kernel of this minor release (`dnf update kernel`) "
				   "and reboot; when packages are held back, release the hold",
				   "kernel %s is of %d.%d, the node is %s %s, and no kernel of "
				   "that release is installed", running, tag.major, tag.minor, id,
				   version);
		return false;
	}
	return true;
}

static bool judge_declared_kernel(struct judging *g, const char *running)
{
	const struct site_node *node = g->node;
	const char *newer;

	if (!node->kernel)
		return true;
	fact_declared(g, &node->where, json_text_new(node->kernel), "nodes/%s/os/kernel",
								    node->name);
	if (!fnmatch(node->kernel, running, 0))
		return true;
	newer = newer_of(g, running);
	if (newer && !fnmatch(node->kernel, newer, 0))
		judge_fail(g, "kernel-old-running", fix_reboot(g),
			   "the old kernel still runs after the update: %s, while the declared one "
			   "(%s) is installed", running, newer);
	else
		judge_fail(g, "kernel-not-declared",
			   "install the declared kernel and boot it, or correct the pattern in the "
			   "site file",
			   "kernel %s does not match the declared %s", running, node->kernel);
	return false;
}

static void judge_role(struct judging *g, const char *running)
{
	for (size_t i = 0; i < g->n_all; i++) {
		const struct judge_node *other = &g->all[i];
		json_t *kernel = json_at(other->snapshot, "/os/kernel");
		const char *release = json_get_string(kernel, "release", NULL);
		const char *name = other->node ? other->node->name : NULL;

		if (!name || other->node == g->node || !(other->node->roles & g->node->roles) ||
		    !release || !strcmp(release, running))
			continue;
		if (g->site->assumed) {
			judge_assume(g, "nodes of one role run one kernel");
			judge_warn(g, "kernel-differs-in-role",
				   "bring both nodes to one kernel, or declare what is wanted in a "
				   "site file",
				   "kernel %s here, %s on %s", running, release, name);
		} else {
			judge_fail(g, "kernel-differs-in-role",
				   "bring the nodes of the role to one kernel, then prove again "
				   "what was proven with the other one",
				   "kernel %s here, %s on %s, which has the same role", running,
				   release,
				   name);
		}
	}
}

void judge_kernel(struct judging *g)
{
	const char *running = fact_string(g, "/os/kernel/release");
	const char *newer;
	bool headers;

	if (!running)
		return;
	if (judge_declared_kernel(g, running) && judge_family(g, running)) {
		newer = newer_of(g, running);
		if (newer)
			judge_warn(g, "kernel-old-running", fix_reboot(g),
				   "old kernel still running after an update: %s, installed is %s",
				   running,
				   newer);
	}
	judge_role(g, running);
	/* only a GPU node builds a module for its kernel */
	if (!(g->node->roles & SITE_ROLE_GPU)) {
		judge_pass(g, "kernel %s", running);
		return;
	}
	if (!fact_bool(g, &headers, "/os/kernel/headers"))
		return;
	if (!headers && json_is_true(fact_optional(g, "/gpu/driver/loaded"))) {
		judge_pass(g, "kernel %s; no headers here, and none needed while the driver is "
			      "loaded",
			   running);
		return;
	}
	if (!headers) {
		judge_warn(g, "kernel-headers-missing",
			   judge_text(g, "RHEL: `dnf install kernel-devel-%s`; with the driver "
					 "container that package must be in the mirror that it "
					 "uses; a precompiled driver needs none", running),
			   "kernel %s has no headers on this node: a driver module cannot be built "
			   "here",
			   running);
		return;
	}
	judge_pass(g, "kernel %s, with headers", running);
}
