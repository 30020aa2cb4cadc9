/* SPDX-License-Identifier: Apache-2.0 */
/* What a host needs besides its profiles: ARP of rails, modules, locked memory, packages. */
#include <string.h>

#include "base/strings.h"
#include "judge/family.h"
#include "judge/subject.h"
#include "render/cluster.h"
#include "render/format.h"
#include "render/network.h"

static void title(struct strbuf *text, const struct network *net, const char *what)
{
	_cleanup_free_ char *line = xasprintf("%s of %s, rendered for site %s", what,
					      net->node->name, net->r->site->name);

	format_comment(text, line);
}

/* --- ARP -------------------------------------------------------------------------------------- */

/* Documentation/networking/ip-sysctl.rst. Of arp_* and rp_filter the larger of conf/all and the
 * link's own value holds. */
static void arp_file(struct network *net)
{
	if (network_rails(net) < 2)
		return;
	struct strbuf *text = &network_file(net, 0644, "ARP and source checks of several rails",
					    "sysctl.conf", "/etc/sysctl.d/90-railhead.conf")->text;

	title(text, net, "several rails");
	strbuf_puts(text,
		    "# A rail answers ARP for its own address only, and asks with it: else all\n"
		    "# traffic to this node may arrive at one port.\n"
		    "net/ipv4/conf/all/arp_ignore = 1\n"
		    "net/ipv4/conf/all/arp_announce = 2\n"
		    "# Loose: an answer may leave by another rail than the question came by.\n");
	for (size_t i = 0; i < net->n; i++) {
		const struct network_link *link = &net->links[i];

		if (link->rdma && link->addresses && *link->addresses)
			strbuf_printf(text, "net/ipv4/conf/%s/rp_filter = 2\n", link->name);
	}
}

/* --- modules ---------------------------------------------------------------------------------- */

static void modules_file(struct network *net)
{
	char **modules = NULL;
	char **nics = subject_nics_of_node(net->node, NULL);
	bool plugin = net->r->site->kubernetes && cluster_is_worker(net->r, net->node);

	if (!net->node->n_rdma)
		goto out;
	for (char **nic = nics; nic && *nic; nic++) {
		const struct site_link *link = site_link_find(net->node, *nic);
		const struct family *family =
			link && link->driver ? family_of_driver(link->driver) : NULL;

		if (family)
			strings_add_once(&modules, family->rdma_drivers[0]);
	}
	strings_add_once(&modules, "ib_uverbs");
	strings_add_once(&modules, "rdma_ucm");
	if (plugin)
		strings_add_once(&modules, "ib_umad");

	struct strbuf *text = &network_file(net, 0644, "modules of RDMA", "modules-load.conf",
					    "/etc/modules-load.d/railhead.conf")->text;

	title(text, net, "modules of RDMA");
	strbuf_puts(text, "# The RDMA driver of each port, and the devices below /dev/infiniband");
	strbuf_puts(text, plugin ? " (the RDMA\n# device plugin demands ib_umad).\n" : ".\n");
	for (char **module = modules; *module; module++)
		strbuf_printf(text, "%s\n", *module);
out:
	strings_free(modules);
	strings_free(nics);
}

/* Only what the declaration demands and no default gives. */
static void module_options_file(struct network *net)
{
	const struct site_driver *irdma = site_driver_find(net->node, "irdma");
	bool exclusive = net->node->rdma_netns && !strcmp(net->node->rdma_netns, "exclusive");
	bool out_of_tree = irdma && !strcmp(irdma->source, "out-of-tree");
	bool roce = false;

	for (size_t i = 0; i < net->node->n_rdma; i++)
		roce |= !strcmp(net->node->rdma[i].protocol, "roce");
	if (!exclusive && !(out_of_tree && roce))
		return;
	struct strbuf *text = &network_file(net, 0644, "options of modules", "modprobe.conf",
					    "/etc/modprobe.d/railhead.conf")->text;

	title(text, net, "options of modules");
	if (exclusive)
		strbuf_puts(text, "# An RDMA device is in one network namespace. It cannot be changed\n"
				  "# while namespaces exist, so it needs a boot.\n"
				  "options ib_core netns_mode=0\n");
	if (out_of_tree && roce)
		strbuf_puts(text, "# Intel's irdma may come up as iWARP. The kernel's own irdma does not\n"
				  "# know this option, and says so in the log.\n"
				  "options irdma roce_ena=1\n");
}

/* --- locked memory ---------------------------------------------------------------------------- */

static void memlock_files(struct network *net)
{
	const struct site_number *memlock = &net->node->memlock_bytes;
	bool unlimited = !memlock->set || memlock->value < 0;
	struct strbuf *text;

	if (!net->node->n_rdma)
		return;
	if (memlock->set) {
		text = &network_file(net, 0644, "locked memory of logins", "limits.conf",
				     "/etc/security/limits.d/90-railhead.conf")->text;
		title(text, net, "locked memory of logins");
		if (unlimited)
			strbuf_puts(text, "* - memlock unlimited\n");
		else	/* limits.conf(5): KiB */
			strbuf_printf(text, "* - memlock %lld\n",
				      (long long)(memlock->value + 1023) / 1024);
	}
	if (!net->r->site->kubernetes || !cluster_is_worker(net->r, net->node))
		return;
	text = &network_file(net, 0644, "locked memory of pods", "containerd.conf",
			     "/etc/systemd/system/containerd.service.d/90-railhead.conf")->text;
	title(text, net, "locked memory of pods");
	strbuf_puts(text, "# Pods have the limit of containerd. Kubespray's unit is unlimited already,\n"
			  "# that of other packages is not.\n"
			  "[Service]\n");
	if (unlimited)
		strbuf_puts(text, "LimitMEMLOCK=infinity\n");
	else
		strbuf_printf(text, "LimitMEMLOCK=%lld\n", (long long)memlock->value);
}

/* --- packages --------------------------------------------------------------------------------- */

struct os_packages {
	const char *os_id;
	const char *const *names;
};

static const char *const red_hat[] = {
	"NetworkManager", "ethtool",	     "iproute",	 "libibverbs", "libibverbs-utils",
	"librdmacm",	  "librdmacm-utils", "pciutils", "perftest",   "rdma-core", NULL
};

static const char *const debian[] = {
	"ethtool",	   "ibverbs-providers", "ibverbs-utils", "iproute2",	"libibverbs1",
	"network-manager", "pciutils",		"perftest",	 "rdma-core", "rdmacm-utils", NULL
};

static const struct os_packages packages[] = {
	{ "rhel", red_hat },   { "rocky", red_hat },  { "almalinux", red_hat },
	{ "centos", red_hat }, { "fedora", red_hat }, { "debian", debian },
	{ "ubuntu", debian },
};

const char *const *network_packages(const char *os_id)
{
	for (size_t i = 0; os_id && i < ARRAY_SIZE(packages); i++) {
		if (!strcmp(packages[i].os_id, os_id))
			return packages[i].names;
	}
	return NULL;
}

static void packages_file(struct network *net)
{
	const char *const *names = network_packages(net->node->os_id);

	if (!net->node->n_rdma || !names)
		return;
	struct render_file *file = render_file_add(net->r, 0644,
						   "packages that RDMA needs, one on a line",
						   "network/%s/packages.txt", net->node->name);
	for (; *names; names++)
		strbuf_printf(&file->text, "%s\n", *names);
}

void network_host_files(struct network *net)
{
	arp_file(net);
	modules_file(net);
	module_options_file(net);
	memlock_files(net);
	packages_file(net);
}
