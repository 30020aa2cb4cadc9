/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of phases 0 to 6: paper, cluster, host network, NIC, RDMA between hosts. */
#include "render/runbook.h"

#include <string.h>

#include "render/cluster.h"
#include "render/format.h"

#define WORKERS_SHOWN 4	/* in a command */

static const char *kubespray_version(const struct runbook *b)
{
	const char *version = json_string_value(
		json_pointer_get(b->r->site->document, "/kubernetes/kubespray/version"));

	return version ? version : "";
}

/* --- 0 --- */

void runbook_paper_steps(struct runbook *b)
{
	const char *host = json_string_value(
		json_pointer_get(b->r->site->document, "/registry/host"));
	bool kubespray = book_has(b, "mirror/kubespray.sh");

	book_step(b, PHRASE_PAPER_PLAN, NULL);
	book_command(b, "railhead plan site.yaml\nrailhead plan --components site.yaml");
	if (kubespray) {
		book_step(b, PHRASE_PAPER_KUBESPRAY, kubespray_version(b), NULL);
		book_command(b, "mirror/kubespray.sh kubespray");
	}
	if (book_has(b, "mirror/copy.sh")) {
		book_step(b, PHRASE_PAPER_COPY, host ? host : "-", NULL);
		book_command(b, "mirror/copy.sh%s",
			     !kubespray ? "" :
			     "\nmirror/copy.sh --images mirror/images-kubespray.txt --files mirror/files-kubespray.txt");
	}
	if (book_has(b, "mirror/packages.txt"))
		book_step(b, PHRASE_PAPER_PACKAGES, "mirror/packages.txt", NULL);
	if (book_has(b, "mirror/verify.sh")) {
		book_step(b, PHRASE_PAPER_VERIFY, NULL);
		book_command(b, "mirror/verify.sh%s",
			     !kubespray ? "" :
			     "\nmirror/verify.sh --images mirror/images-kubespray.txt --files mirror/files-kubespray.txt");
	}
	book_step(b, PHRASE_PAPER_INSTALL, NULL);
	book_command(b, "./snapshots.sh");
}

/* --- 1 --- */

/* Names of the first workers as words of a command, "NODE..." when there are more. The caller
 * frees. */
static char *workers(const struct runbook *b)
{
	struct strbuf names = {0};
	size_t n = 0;

	for (size_t i = 0; i < b->r->site->n_nodes && n <= WORKERS_SHOWN; i++) {
		const struct site_node *node = &b->r->site->nodes[i];

		if (!cluster_is_worker(b->r, node) || cluster_is_control_plane(b->r, node))
			continue;
		strbuf_printf(&names, "%s%s", n ? " " : "", n < WORKERS_SHOWN ? node->name : "NODE...");
		n++;
	}
	return names.s ? strbuf_steal(&names) : xstrdup("NODE...");
}

void runbook_join_steps(struct runbook *b)
{
	_cleanup_free_ char *names = workers(b);

	book_say(b, PHRASE_JOIN_BEFORE, NULL);
	if (book_has(b, "kubespray/commands.sh")) {
		book_step(b, PHRASE_JOIN_CHECK, kubespray_version(b), NULL);
		book_command(b, "export KUBESPRAY=kubespray\nkubespray/commands.sh check\n"
				"kubespray/commands.sh ping");
		book_step(b, PHRASE_JOIN_ADD, NULL);
		book_command(b, "kubespray/commands.sh --dry-run add %s\nkubespray/commands.sh add %s",
			     names, names);
	} else {
		book_step(b, PHRASE_JOIN_BY_HAND, NULL);
		if (book_has(b, "kubernetes/nodes.sh"))
			book_command(b, "kubernetes/nodes.sh label\nkubernetes/nodes.sh taint %s", names);
	}
	if (b->has.gpus)
		book_say(b, PHRASE_JOIN_TAINT, cluster_unproven_taint(b->r), NULL);
	book_step(b, PHRASE_JOIN_LOOK, NULL);
	book_command(b, "kubectl get nodes -o wide\nkubectl -n kube-system get pods -o wide");
}

void runbook_join_undo(struct runbook *b)
{
	_cleanup_free_ char *names = workers(b);

	if (book_has(b, "kubespray/commands.sh"))
		book_command(b, "kubespray/commands.sh remove %s", names);
	else
		book_command(b, "kubectl drain NODE --ignore-daemonsets --delete-emptydir-data\n"
				"kubectl delete node NODE");
}

/* --- 2 --- */

/* "root@10.0.0.11" of a node, and "-p 2222" where the port is not 22; shell words. */
static char *ssh_target(const struct runbook *b, const struct site_node *node, bool copy)
{
	json_t *ssh = render_declared(b->r, "/nodes/%s/ssh", node->name);
	const char *user = json_get_string(ssh, "user", NULL);
	int64_t port = json_get_int(ssh, "port", 22);
	struct strbuf target = {0};

	if (port != 22)
		strbuf_printf(&target, copy ? "-P %lld " : "-p %lld ", (long long)port);
	if (user)
		strbuf_printf(&target, "%s@", user);
	strbuf_puts(&target, json_get_string(ssh, "address", node->name));
	return strbuf_steal(&target);
}

/* The script wants to be root. */
static const char *as_root(const struct runbook *b, const struct site_node *node)
{
	const char *user = json_string_value(render_declared(b->r, "/nodes/%s/ssh/user", node->name));

	return user && strcmp(user, "root") != 0 ? "sudo " : "";
}

void runbook_copy(struct runbook *b, const char *folder, const struct site_node *node,
		  const char *arguments)
{
	_cleanup_free_ char *to = ssh_target(b, node, true), *on = ssh_target(b, node, false);
	const char *sudo = as_root(b, node);

	if (arguments) {
		book_command(b, "ssh %s %srailhead-%s/install.sh %s", on, sudo, folder, arguments);
		return;
	}
	/* what is below: a second time, scp -r of the folder itself would nest */
	book_command(b,
		     "ssh %s mkdir -p railhead-%s\n"
		     "scp -r %s/%s/* %s:railhead-%s/\n"
		     "ssh %s %srailhead-%s/install.sh --dry-run\n"
		     "ssh %s %srailhead-%s/install.sh",
		     on, folder, folder, node->name, to, folder, on, sudo, folder, on, sudo, folder);
}

/* A profile that was rendered for the node. */
static void add_profile(const struct runbook *b, struct strbuf *names, const char *node,
			const char *name)
{
	_cleanup_free_ char *path = xasprintf("network/%s/%s.nmconnection", node, name);

	if (!book_has(b, path))
		return;
	strbuf_putc(names, ' ');
	format_shell(names, name);
}

static void put_profiles(struct runbook *b, const struct site_node *node)
{
	_cleanup_strbuf_ struct strbuf names = {0};
	_cleanup_free_ char *sysctl = xasprintf("network/%s/sysctl.conf", node->name);

	for (size_t i = 0; i < node->n_links; i++)
		add_profile(b, &names, node->name, node->links[i].name);
	for (size_t i = 0; i < node->n_bonds; i++)
		add_profile(b, &names, node->name, node->bonds[i].name);
	for (size_t i = 0; i < node->n_vlans; i++)
		add_profile(b, &names, node->name, node->vlans[i].name);
	if (!names.len)
		return;
	book_step(b, PHRASE_BONDS_UP, node->name, NULL);
	book_command(b, "for profile in%s; do\n\tnmcli connection up \"$profile\"\ndone%s", names.s,
		     book_has(b, sysctl) ? "\nsysctl --system" : "");
}

static void put_copy(struct runbook *b, const struct site_node *node)
{
	_cleanup_free_ char *script = xasprintf("network/%s/install.sh", node->name);

	if (!book_has(b, script)) {
		book_step(b, PHRASE_BONDS_NO_FILES, NULL);
		return;
	}
	book_step(b, PHRASE_BONDS_COPY, node->name, NULL);
	runbook_copy(b, "network", node, NULL);
}

static const struct site_node *node_to_show(const struct runbook *b)
{
	const struct site_node *node = runbook_first(b->r, WHERE_RDMA);

	return node ? node : runbook_first(b->r, WHERE_ALL);
}

/* An RDMA address of the second node with one: where the first looks for a peer. */
static const char *peer_address(const struct runbook *b, const struct site_node *node)
{
	const struct site *site = b->r->site;

	for (size_t i = 0; i < site->n_nodes; i++) {
		const struct site_node *peer = &site->nodes[i];

		if (peer != node && peer->n_rdma && peer->rdma[0].address)
			return peer->rdma[0].address;
	}
	return NULL;
}

/* Payload of an ICMP packet that fills the MTU: 20 bytes of IPv4 and 8 of ICMP. */
static long long ping_payload(const struct site_node *node)
{
	const char *name = node->n_rdma ? node->rdma[0].link : "";
	const struct site_bond *bond = site_bond_find(node, name);
	const struct site_link *link = site_link_find(node, name);
	const struct site_number *mtu = bond ? &bond->mtu : link ? &link->mtu : NULL;

	return (mtu && mtu->set ? mtu->value : 1500) - 28;
}

void runbook_bonds_steps(struct runbook *b)
{
	const struct site_node *node = node_to_show(b);
	const char *peer = peer_address(b, node);
	_cleanup_strbuf_ struct strbuf look = {0};

	book_say(b, PHRASE_BONDS_CONSOLE, NULL);
	put_copy(b, node);
	put_profiles(b, node);
	if (b->has.rdma_bond && b->has.ice && b->has.out_of_tree && b->has.qos)
		book_say(b, PHRASE_BONDS_DCB, NULL);
	if (b->has.rdma_bond && b->has.ice && !b->has.out_of_tree)
		book_say(b, PHRASE_BONDS_RDMA_INBOX, NULL);
	if (b->has.rails)
		book_say(b, PHRASE_BONDS_RAILS, NULL);
	book_step(b, PHRASE_BONDS_LOOK, NULL);
	for (size_t i = 0; i < node->n_bonds; i++) {
		_cleanup_free_ char *name = runbook_quoted(node->bonds[i].name);

		strbuf_printf(&look, "cat /proc/net/bonding/%s\n", name);
	}
	strbuf_puts(&look, "ip -brief address\nip route");
	if (peer && !strchr(peer, ':'))
		strbuf_printf(&look, "\nping -c 3 -M do -s %lld %s", ping_payload(node), peer);
	book_command(b, "%s", look.s);
}

void runbook_bonds_undo(struct runbook *b)
{
	if (book_has(b, "network/"))
		runbook_copy(b, "network", node_to_show(b), "--rollback");
}

/* --- 3 --- */

static char *out_of_tree_drivers(const struct site_node *node)
{
	struct strbuf names = {0};

	for (size_t i = 0; i < node->n_drivers; i++) {
		const struct site_driver *driver = &node->drivers[i];

		if (!driver->source || strcmp(driver->source, "out-of-tree") != 0)
			continue;
		strbuf_printf(&names, "%s%s%s%s", names.len ? ", " : "", driver->name,
			      driver->version ? " " : "", driver->version ? driver->version : "");
	}
	return names.s ? strbuf_steal(&names) : xstrdup("");
}

void runbook_nic_steps(struct runbook *b)
{
	const struct site_node *node = runbook_first(b->r, WHERE_RDMA);
	const struct site_link *nic = runbook_nic(node);
	_cleanup_free_ char *ports = runbook_nics(node);

	if (!b->has.out_of_tree) {
		book_step(b, PHRASE_NIC_INBOX, NULL);
	} else {
		_cleanup_free_ char *drivers = out_of_tree_drivers(node);

		book_step(b, PHRASE_NIC_OUT_OF_TREE, drivers, NULL);
		if (nic && nic->ddp) {
			book_step(b, PHRASE_NIC_DDP, nic->ddp, NULL);
			book_command(b, "ls -l /lib/firmware/updates/intel/ice/ddp /lib/firmware/intel/ice/ddp\n"
					"dracut -f");
		}
		book_step(b, PHRASE_NIC_READ, NULL);
	}
	book_command(b, "for port in %s; do\n\tethtool -i \"$port\"\ndone", ports);
	if (nic && nic->pci)
		book_command(b, "devlink dev info pci/%s\nlspci -s %s -vv | grep LnkSta:", nic->pci,
			     nic->pci);
}

void runbook_nic_undo(struct runbook *b)
{
	if (!b->has.out_of_tree) {
		book_say(b, PHRASE_NIC_UNDO_INBOX, NULL);
		return;
	}
	book_say(b, PHRASE_NIC_UNDO, NULL);
	book_command(b, "dracut -f\nreboot");
}

/* --- 4 --- */

static const char *rdma_module(const struct runbook *b)
{
	return b->has.ice ? "irdma" : b->has.mlx5 ? "mlx5_ib" : NULL;
}

void runbook_rdma_steps(struct runbook *b)
{
	const char *module = rdma_module(b);

	if (module) {
		book_step(b, PHRASE_RDMA_LOAD, NULL);
		book_command(b, "systemctl restart systemd-modules-load.service\nlsmod | grep %s", module);
	}
	book_step(b, PHRASE_RDMA_LOOK, NULL);
	book_command(b, "rdma link show\nibv_devinfo -v");
	if (b->has.rdma_bond && b->has.ice && b->has.out_of_tree)
		book_say(b, PHRASE_RDMA_PRIMARY, NULL);
}

void runbook_rdma_undo(struct runbook *b)
{
	const char *module = rdma_module(b);

	if (module)
		book_command(b, "rdma resource show qp\nmodprobe -r %s", module);
}

/* --- 5 --- */

void runbook_userspace_steps(struct runbook *b)
{
	const struct site_node *node = runbook_first(b->r, WHERE_RDMA);
	bool debian = node->os_id && !strcmp(node->os_id, "debian");
	_cleanup_free_ char *packages = xasprintf("network/%s/packages.txt", node->name);

	book_step(b, PHRASE_USER_PACKAGES, NULL);
	if (book_has(b, packages))
		book_command(b, "xargs -r %s install <~/railhead-network/packages.txt",
			     debian ? "apt-get -y" : "dnf -y");
	else
		book_command(b, debian ? "apt-get install rdma-core ibverbs-providers ibverbs-utils "
					 "rdmacm-utils perftest" :
					 "dnf install rdma-core libibverbs-utils librdmacm-utils perftest");
	if (b->has.kubernetes) {
		book_step(b, PHRASE_USER_MEMLOCK, NULL);
		book_command(b, "systemctl daemon-reload\nsystemctl restart containerd\n"
				"systemctl show -p LimitMEMLOCK containerd");
	}
	book_step(b, PHRASE_USER_LOOK, NULL);
	book_command(b, "ls -l /dev/infiniband\nibv_devinfo\nulimit -l");
}

void runbook_userspace_undo(struct runbook *b)
{
	if (b->has.kubernetes)
		book_command(b, "systemctl daemon-reload\nsystemctl restart containerd");
}

/* --- 6 --- */

void runbook_hosts_steps(struct runbook *b)
{
	runbook_prove(b, PHRASE_PROVE_PAIR, "", 1);
	runbook_prove_judge(b);
}
