/* SPDX-License-Identifier: Apache-2.0 */
/* Network gates: bond, address, MTU. */
#include <string.h>

#include "judge/net.h"
#include "judge/registry.h"
#include "judge/subject.h"

int64_t roce_mtu_of_link(int64_t link_mtu)
{
	int64_t roce = 4096; /* IB_MTU_4096 is the largest of enum ib_mtu */

	while (roce >= 256 && roce + ROCE_MTU_OVERHEAD_BYTES > link_mtu)
		roce /= 2;
	return roce >= 256 ? roce : 0;
}

void net_explain_missing(struct judging *g, const char *link)
{
	const struct site_vlan *vlan = site_vlan_find(g->node, link);

	/* a VLAN whose parent is there is missing by itself */
	if (vlan && vlan->link) {
		if (!peek(g, "/links/%s", vlan->link))
			net_explain_missing(g, vlan->link);
	} else if (site_bond_find(g->node, link)) {
		judge_explained_by(g, "net.bond", link);
	} else {
		judge_explained_by(g, "nic.driver", link);
	}
}

/* Declared MTU of a link by its own entry, or NULL. */
static const struct site_number *declared_mtu(const struct site_node *node, const char *link,
					      const struct site_where **where)
{
	const struct site_vlan *vlan = site_vlan_find(node, link);
	const struct site_bond *bond = site_bond_find(node, link);
	const struct site_link *plain = site_link_find(node, link);
	const struct site_number *mtu = vlan  ? &vlan->mtu :
					bond  ? &bond->mtu :
					plain ? &plain->mtu :
						NULL;

	*where = vlan ? &vlan->where : bond ? &bond->where : plain ? &plain->where : NULL;
	return mtu && mtu->set ? mtu : NULL;
}

/* One link against what is declared for it; false when its MTU is not known. */
static bool judge_mtu_declared(struct judging *g, const char *link, int64_t *mtu)
{
	const struct site_where *where;
	const struct site_number *want = declared_mtu(g->node, link, &where);

	if (!fact_int(g, mtu, "/links/%s/mtu", link))
		return false;
	if (!want) {
		judge_assume(g, "MTU %lld of %s as it is", (long long)*mtu, link);
		return true;
	}
	fact_declared(g, where, json_integer(want->value), "nodes/%s/%s/mtu", g->node->name, link);
	if (*mtu != want->value)
		judge_fail(g, *mtu < want->value ? "mtu-low" : "mtu-high",
			   judge_text(g,
				      "nmcli connection modify %s mtu %lld && nmcli connection up "
				      "%s (now: ip link set %s mtu %lld); the switch ports need at "
				      "least as much",
				      link, (long long)want->value, link, link,
				      (long long)want->value),
			   "MTU of %s is %lld, declared is %lld: RoCE MTU %lld", link,
			   (long long)*mtu, (long long)want->value,
			   (long long)roce_mtu_of_link(*mtu));
	return true;
}

/* The ports of a bond have the bond's MTU: bond_change_mtu() sets them, so another value came
 * later. */
static void judge_mtu_members(struct judging *g, const char *bond, int64_t bond_mtu)
{
	char **nics = subject_physical_links(g->node, g->snapshot, bond);

	for (char **n = nics; *n; n++) {
		int64_t mtu;

		if (!strcmp(*n, bond) || !peek(g, "/links/%s", *n) ||
		    !fact_int(g, &mtu, "/links/%s/mtu", *n) || mtu == bond_mtu)
			continue;

		const char *fix = judge_text(g,
					     "ip link set %s mtu %lld; look for a profile that "
					     "sets the MTU of the port itself",
					     *n, (long long)bond_mtu);

		if (mtu < bond_mtu)
			judge_fail(g, "mtu-member-low", fix,
				   "MTU of %s is %lld, its bond %s has %lld: larger packets that "
				   "take this port are lost",
				   *n, (long long)mtu, bond, (long long)bond_mtu);
		else
			judge_warn(g, "mtu-member-high", fix,
				   "MTU of %s is %lld, its bond %s has %lld", *n, (long long)mtu,
				   bond, (long long)bond_mtu);
	}
	strings_free(nics);
}

static void judge_mtu(struct judging *g)
{
	const char *link = g->port->link, *base = subject_base_link(g->snapshot, link);
	int64_t mtu, base_mtu;

	if (!fact(g, "/links"))
		return;
	if (!peek(g, "/links/%s", link)) {
		judge_fail(g, "link-missing", "create the link; see gates net.bond and nic.driver",
			   "there is no link %s", link);
		net_explain_missing(g, link);
		return;
	}
	if (!judge_mtu_declared(g, link, &mtu))
		return;
	base_mtu = mtu;
	if (strcmp(base, link) && !judge_mtu_declared(g, base, &base_mtu))
		return;
	if (base_mtu < mtu)
		judge_fail(g, "mtu-below-vlan",
			   judge_text(g, "ip link set %s mtu %lld", base, (long long)mtu),
			   "MTU of %s is %lld, the VLAN %s on it has %lld", base,
			   (long long)base_mtu, link, (long long)mtu);
	judge_mtu_members(g, base, base_mtu);
	judge_pass(g, "MTU %lld, RoCE MTU %lld", (long long)mtu, (long long)roce_mtu_of_link(mtu));
}

static void judge_mtu_pair(struct judging *g)
{
	int64_t own, peer;

	if (!g->port || !g->peer_port)
		return;
	if (!fact_int(g, &own, "/links/%s/mtu", g->port->link) ||
	    !fact_peer_int(g, &peer, "/links/%s/mtu", g->peer_port->link))
		return;
	if (own == peer) {
		judge_pass(g, "MTU %lld on both", (long long)own);
		return;
	}
	judge_fail(g, "mtu-pair",
		   "give both ends, and every switch port between them, the same MTU",
		   "MTU of %s on %s is %lld, of %s on %s %lld: large packets arrive in one "
		   "direction only",
		   g->port->link, g->node->name, (long long)own, g->peer_port->link, g->peer->name,
		   (long long)peer);
}

const struct gate gates_net[] = {
	{
		.id = "net.bond",
		.phase = 2,
		.level = 2,
		.scope = GATE_BOND,
		.title = "bond mode, its ports, LACP",
		.judge = judge_net_bond,
		.proves = "The bond has the declared mode, every declared port is in it and has "
			  "link; with 802.3ad all ports are in one aggregator with a partner, are "
			  "in sync and have one speed.",
		.why = "A bond whose second port stays outside the aggregator works, at half the "
		       "bandwidth and without a spare, and nothing complains. A port that hears no "
		       "LACPDU may have a NIC in Safe Mode: then the switch is not at fault.",
		.fix = "Correct the NetworkManager profile of the bond or the port, the cable, or "
		       "the channel group on the switch, as the cause says. Ports that were split "
		       "at boot come together when the port is set down and up.",
		.obtain = "`railhead snapshot` reads rtnetlink; the churn and partner lines need "
			  "/proc/net/bonding, readable by root",
		.source = "IEEE 802.1AX-2020 6.4; drivers/net/bonding/bond_3ad.c, bond_main.c; "
			  "Documentation/networking/bonding.rst; systemd/systemd issue 11635 "
			  "(split aggregator)",
	},
	{
		.id = "net.address",
		.phase = 2,
		.level = 2,
		.scope = GATE_NODE,
		.title = "declared addresses and the way to the peers",
		.judge = judge_net_address,
		.proves = "Every declared address is on its declared link and on no other, no two "
			  "links share a subnet, and the main routing table sends what goes to the "
			  "peers out by that link.",
		.why = "A RoCE GID is made of the address of a link: a wrong place gives another "
		       "GID or none. Two rails in one subnet send all traffic out by one of them. "
		       "Policy routing rules are not read: where other tables have routes and the "
		       "main one does not lead to a peer, the verdict is unknown.",
		.fix = "Set the address with nmcli on the right profile; give each rail its own "
		       "subnet.",
		.obtain = "`railhead snapshot` on the node; declare addresses in site.yaml",
		.source = "ip-address(8), ip-route(8); Documentation/networking/ip-sysctl.rst "
			  "(arp_ignore, arp_announce)",
	},
	{
		.id = "net.mtu",
		.phase = 2,
		.level = 2,
		.scope = GATE_PORT,
		.title = "MTU of link, bond, VLAN and ports",
		.judge = judge_mtu,
		.judge_pair = judge_mtu_pair,
		.proves = "The link of the RDMA port has the declared MTU, what lies below it "
			  "(VLAN parent, bond, every bond port) carries as much, and the peer has "
			  "the same.",
		.why = "The RoCE MTU is the largest power of two up to 4096 that fits the link MTU "
		       "with its headers: 1500 gives 1024, 4192 and more give 4096. One bond port "
		       "with a lower MTU loses only the flows that hash onto it. The switch is not "
		       "seen from here: `ping -M do -s 8972` proves the way.",
		.fix = "Set one MTU on ports, bond and VLAN in the NetworkManager profiles, and at "
		       "least that on every switch port.",
		.obtain = "`railhead snapshot` on the node, and on the peer for the comparison",
		.source = "iboe_get_mtu in include/rdma/ib_addr.h (96 bytes of headers); "
			  "bond_change_mtu in drivers/net/bonding/bond_main.c; "
			  "NVIDIA/dgx-spark-playbooks issue 103",
	},
};
const size_t n_gates_net = sizeof(gates_net) / sizeof(gates_net[0]);
