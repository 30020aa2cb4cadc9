/* SPDX-License-Identifier: Apache-2.0 */
/* /links/NAME/addresses. Attributes: include/uapi/linux/if_addr.h. */
#include "observe/links.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "base/alloc.h"

static const struct attr_type address_types[IFA_MAX + 1] = {
	[IFA_FLAGS] = {MNL_TYPE_U32},
};

/* Words of iproute2 for IFA_F_*; 0x01 is "secondary" for IPv4 and "temporary" for IPv6. */
static const struct {
	uint32_t flag;
	const char *name;
} address_flags[] = {
	{IFA_F_NODAD, "nodad"},
	{IFA_F_OPTIMISTIC, "optimistic"},
	{IFA_F_DADFAILED, "dadfailed"},
	{IFA_F_HOMEADDRESS, "home"},
	{IFA_F_DEPRECATED, "deprecated"},
	{IFA_F_TENTATIVE, "tentative"},
	{IFA_F_PERMANENT, "permanent"},
	{IFA_F_MANAGETEMPADDR, "mngtmpaddr"},
	{IFA_F_NOPREFIXROUTE, "noprefixroute"},
	{IFA_F_MCAUTOJOIN, "autojoin"},
	{IFA_F_STABLE_PRIVACY, "stable-privacy"},
};

const char *links_family_name(int family)
{
	switch (family) {
	case AF_INET:
		return "ipv4";
	case AF_INET6:
		return "ipv6";
	default:
		return NULL;
	}
}

void links_put_scope(json_t *obj, uint8_t scope)
{
	switch (scope) {
	case RT_SCOPE_UNIVERSE:
		json_put_string(obj, "scope", "global");
		break;
	case RT_SCOPE_SITE:
		json_put_string(obj, "scope", "site");
		break;
	case RT_SCOPE_LINK:
		json_put_string(obj, "scope", "link");
		break;
	case RT_SCOPE_HOST:
		json_put_string(obj, "scope", "host");
		break;
	case RT_SCOPE_NOWHERE:
		json_put_string(obj, "scope", "nowhere");
		break;
	default:
		json_put_stringf(obj, "scope", "%u", scope);
	}
}

int links_parse_address(const struct nlmsghdr *nlh, void *data)
{
	struct links_context *c = data;
	const struct ifaddrmsg *ifa = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *tb[IFA_MAX + 1];
	_cleanup_free_ char *address = NULL;
	const struct link_entry *e;
	json_t *entry, *names;
	uint32_t flags;
	bool right;

	if (nlh->nlmsg_type != RTM_NEWADDR || nlh->nlmsg_len < MNL_NLMSG_HDRLEN + sizeof(*ifa))
		return 0;
	if (!links_family_name(ifa->ifa_family))
		return 0;
	right = attr_parse(nlh, sizeof(*ifa), tb, IFA_MAX, address_types) == 0;
	e = link_table_find(c->table, ifa->ifa_index);
	if (!e)
		return 0; /* came after the dump of the links */
	/* IFA_ADDRESS is the peer's on a point-to-point link; IPv6 has IFA_LOCAL only there */
	address = attr_ip(tb[IFA_LOCAL] ? tb[IFA_LOCAL] : tb[IFA_ADDRESS], ifa->ifa_family);
	if (!right || !address) { /* without IFA_LOCAL the peer's would be taken for it */
		observe_gap(c->o, -EBADMSG, NULL, "the kernel sent an address of unknown form",
			    "/links/%s/addresses", e->name);
		return 0;
	}
	entry = json_object_new();
	json_append(json_arr(e->link, "addresses"), entry);
	json_put_string(entry, "family", links_family_name(ifa->ifa_family));
	json_put_string(entry, "address", address);
	json_put_int(entry, "prefix", ifa->ifa_prefixlen);
	links_put_scope(entry, ifa->ifa_scope);
	if (!attr_get_u32(tb[IFA_FLAGS], &flags))
		flags = ifa->ifa_flags; /* its low 8 bits */
	names = json_arr(entry, "flags");
	if (flags & IFA_F_SECONDARY)
		json_append_text(names, ifa->ifa_family == AF_INET ? "secondary" : "temporary");
	for (size_t i = 0; i < ARRAY_SIZE(address_flags); i++)
		if (flags & address_flags[i].flag)
			json_append_text(names, address_flags[i].name);
	return 0;
}
