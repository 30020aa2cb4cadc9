/* SPDX-License-Identifier: Apache-2.0 */
/* Attribute numbers and layouts: if_link.h, if_addr.h, rtnetlink.h, neighbour.h, rdma_netlink.h and
 * devlink.h of the kernel's UAPI. */
#include <linux/devlink.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "host/anonymize_rules.h"

static const struct rule any_address[] = { { ANY_TYPE, RULE_ADDRESS }, {0} };

static const struct rule bond_ad_rules[] = { { IFLA_BOND_AD_INFO_PARTNER_MAC, RULE_MAC }, {0} };
static const struct rule bond_rules[] = {
	{ IFLA_BOND_AD_INFO, RULE_NEST, bond_ad_rules },
	{ IFLA_BOND_AD_ACTOR_SYSTEM, RULE_MAC },
	{ IFLA_BOND_ARP_IP_TARGET, RULE_NEST, any_address },
	{ IFLA_BOND_NS_IP6_TARGET, RULE_NEST, any_address },
	{0}
};
static const struct rule bond_port_rules[] = { { IFLA_BOND_SLAVE_PERM_HWADDR, RULE_MAC }, {0} };
static const struct rule vxlan_rules[] = {
	{ IFLA_VXLAN_GROUP, RULE_ADDRESS },
	{ IFLA_VXLAN_GROUP6, RULE_ADDRESS },
	{ IFLA_VXLAN_LOCAL, RULE_ADDRESS },
	{ IFLA_VXLAN_LOCAL6, RULE_ADDRESS },
	{0}
};
/* IFLA_INFO_DATA and IFLA_INFO_SLAVE_DATA mean something else for each kind */
static const struct {
	const char *kind;
	bool port;
	const struct rule *rules;
} kinds[] = {
	{ "bond", false, bond_rules },
	{ "bond", true, bond_port_rules },
	{ "vxlan", false, vxlan_rules },
};
static const struct rule link_info_rules[] = {
	{ IFLA_INFO_KIND, RULE_KIND },
	{ IFLA_INFO_DATA, RULE_NEST_KIND },
	{ IFLA_INFO_SLAVE_KIND, RULE_KIND },
	{ IFLA_INFO_SLAVE_DATA, RULE_NEST_KIND },
	{0}
};
static const struct rule vf_rules[] = {
	{ IFLA_VF_MAC, RULE_VF_MAC },
	{ IFLA_VF_BROADCAST, RULE_VF_MAC },
	{0}
};
static const struct rule vf_list_rules[] = { { IFLA_VF_INFO, RULE_NEST, vf_rules }, {0} };
static const struct rule inet6_rules[] = { { IFLA_INET6_TOKEN, RULE_ADDRESS }, {0} };
static const struct rule family_rules[] = { { AF_INET6, RULE_NEST, inet6_rules }, {0} };
const struct rule netlink_link_rules[] = {
	{ IFLA_ADDRESS, RULE_MAC },
	{ IFLA_BROADCAST, RULE_MAC },
	{ IFLA_PERM_ADDRESS, RULE_MAC },
	{ IFLA_IFALIAS, RULE_TEXT },
	{ IFLA_PHYS_PORT_ID, RULE_OPAQUE },
	{ IFLA_PHYS_SWITCH_ID, RULE_OPAQUE },
	{ IFLA_LINKINFO, RULE_NEST, link_info_rules },
	{ IFLA_VFINFO_LIST, RULE_NEST, vf_list_rules },
	{ IFLA_AF_SPEC, RULE_NEST, family_rules },
	{0}
};
const struct rule netlink_address_rules[] = {
	{ IFA_ADDRESS, RULE_NETWORK },
	{ IFA_LOCAL, RULE_NETWORK },
	{ IFA_BROADCAST, RULE_ADDRESS },
	{ IFA_ANYCAST, RULE_ADDRESS },
	{0}
};
const struct rule netlink_route_rules[] = {
	{ RTA_DST, RULE_NETWORK },
	{ RTA_SRC, RULE_ADDRESS },
	{ RTA_GATEWAY, RULE_ADDRESS },
	{ RTA_PREFSRC, RULE_ADDRESS },
	{ RTA_NEWDST, RULE_ADDRESS },
	{ RTA_VIA, RULE_VIA },
	{ RTA_MULTIPATH, RULE_NEXTHOPS },
	{0}
};
const struct rule netlink_neighbour_rules[] = {
	{ NDA_DST, RULE_ADDRESS },
	{ NDA_LLADDR, RULE_MAC },
	{0}
};
static const struct rule resource_rules[] = {
	{ RDMA_NLDEV_ATTR_RES_SRC_ADDR, RULE_SOCKADDR },
	{ RDMA_NLDEV_ATTR_RES_DST_ADDR, RULE_SOCKADDR },
	{0}
};
static const struct rule resource_list_rules[] = {
	{ RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY, RULE_NEST, resource_rules },
	{0}
};
const struct rule netlink_nldev_rules[] = {
	{ RDMA_NLDEV_ATTR_NODE_GUID, RULE_GUID_HOST },
	{ RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, RULE_GUID_HOST },
	{ RDMA_NLDEV_ATTR_RES_CM_ID, RULE_NEST, resource_list_rules },
	{0}
};
static const struct rule port_function_rules[] = {
	{ DEVLINK_PORT_FUNCTION_ATTR_HW_ADDR, RULE_MAC },
	{0}
};
const struct rule netlink_devlink_rules[] = {
	{ DEVLINK_ATTR_INFO_SERIAL_NUMBER, RULE_TEXT },
	{ DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER, RULE_TEXT },
	{ DEVLINK_ATTR_PORT_FUNCTION, RULE_NEST, port_function_rules },
	{0}
};

const struct rule *netlink_rules_of_kind(const char *kind, size_t len, uint16_t attribute)
{
	static const struct rule empty[] = { {0} };
	bool port = attribute == IFLA_INFO_SLAVE_DATA;

	for (size_t i = 0; kind && i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].port == port && strlen(kinds[i].kind) == len &&
		    memcmp(kinds[i].kind, kind, len) == 0)
			return kinds[i].rules;
	return empty;
}
