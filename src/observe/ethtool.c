/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /links/NAME/ethtool. What generic netlink carries is asked with one dump for each kind of
 * message, which answers for all links at once: a node with hundreds of virtual functions costs
 * five requests. Driver information (ioctl) is asked of links with a parent device, driver
 * statistics of ports only (link_is_port()).
 *
 * A dump skips the links whose driver does not support the request, but ends with the error of the
 * first link that fails in another way (a device in reset: ENODEV). The ports are then asked one
 * by one, so that one broken adapter does not hide the others.
 */
#include "observe/ethtool.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/text.h"

/* First attribute of every request of the family. */
#define A_HEADER 1

static const struct question {
	uint8_t command;
	uint32_t flags;
	host_netlink_cb parse;
	const char *members[4];	/* that it fills, for the gaps; NULL-terminated */
} questions[] = {
	{ETHTOOL_MSG_LINKMODES_GET, ETHTOOL_FLAG_COMPACT_BITSETS, ethtool_parse_linkmodes,
	 {"speed_mbps", "duplex", "autoneg"}},
	{ETHTOOL_MSG_LINKSTATE_GET, 0, ethtool_parse_linkstate, {"link"}},
	/* since Linux 5.13 */
	{ETHTOOL_MSG_FEC_GET, ETHTOOL_FLAG_COMPACT_BITSETS, ethtool_parse_fec, {"fec"}},
	/* statistics since Linux 5.10 */
	{ETHTOOL_MSG_PAUSE_GET, ETHTOOL_FLAG_STATS, ethtool_parse_pause, {"pause"}},
	/* names are wanted: not compact */
	{ETHTOOL_MSG_PRIVFLAGS_GET, 0, ethtool_parse_privflags, {"private_flags"}},
};

struct asker {
	struct ethtool_context c;
	int family;		/* id of the family, or the negative errno of its absence */
	struct error *err;	/* why there is no family */
};

/* One request about `e`, or about all links when it is NULL. */
static int ask_flags(struct asker *a, const struct question *q, uint32_t flags,
		     const struct link_entry *e, struct error *err)
{
	char buffer[HOST_NETLINK_REQUEST_MAX] = {0};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *genl;
	struct nlattr *header;

	nlh->nlmsg_type = (uint16_t)a->family;
	nlh->nlmsg_flags = NLM_F_REQUEST | (e ? NLM_F_ACK : NLM_F_DUMP);
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = q->command;
	genl->version = ETHTOOL_GENL_VERSION;
	header = mnl_attr_nest_start(nlh, A_HEADER);
	if (e)
		mnl_attr_put_u32(nlh, ETHTOOL_A_HEADER_DEV_INDEX, e->index);
	if (flags)
		mnl_attr_put_u32(nlh, ETHTOOL_A_HEADER_FLAGS, flags);
	mnl_attr_nest_end(nlh, header);
	return host_netlink(a->c.o->host, NETLINK_GENERIC, nlh, q->parse, &a->c, err);
}

static int ask(struct asker *a, const struct question *q, const struct link_entry *e,
	       struct error *err)
{
	int rc = ask_flags(a, q, q->flags, e, err);

	/* a kernel that does not know the flag refuses the request */
	if (q->flags & ETHTOOL_FLAG_STATS && (rc == -EINVAL || rc == -EOPNOTSUPP)) {
		error_clear(err);
		rc = ask_flags(a, q, q->flags & ~(uint32_t)ETHTOOL_FLAG_STATS, e, err);
	}
	return rc;
}

static void note_gaps(struct asker *a, const struct question *q, const struct link_entry *e,
		      int code, const char *reason)
{
	for (size_t i = 0; i < ARRAY_SIZE(q->members) && q->members[i]; i++)
		observe_gap(a->c.o, code, NULL, reason, "/links/%s/ethtool/%s", e->name,
			    q->members[i]);
}

/* The port did not answer the dump: ask it alone, and tell why not. */
static void ask_port(struct asker *a, const struct question *q, const struct link_entry *e)
{
	_cleanup_error_ struct error err = {0};
	int rc = ask(a, q, e, &err);

	if (rc == -EOPNOTSUPP)
		note_gaps(a, q, e, rc, "the driver does not answer this");
	else if (rc == -ENODEV)
		note_gaps(a, q, e, rc, "the link is gone, or its device is not present now");
	else if (rc < 0)
		note_gaps(a, q, e, rc, error_text(&err));
}

static void ask_all(struct asker *a, const struct question *q)
{
	const struct link_table *table = a->c.table;
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ bool *answered = xcalloc(table->n + 1, sizeof(*answered));
	int rc = a->family;

	a->c.answered = answered;
	if (rc >= 0)
		rc = ask(a, q, NULL, &err);
	for (size_t i = 0; i < table->n; i++) {
		const struct link_entry *e = &table->entries[i];

		if (answered[i] || !link_has_parent(e->link))
			continue;
		if (a->family < 0)
			note_gaps(a, q, e, a->family, error_text(a->err));
		else if (rc < 0 && link_is_port(e->link))
			ask_port(a, q, e);
		else if (rc < 0)
			note_gaps(a, q, e, rc, error_text(&err));
		else if (link_is_port(e->link)) /* hundreds of functions: no gap for each of them */
			note_gaps(a, q, e, -EOPNOTSUPP, "the driver does not answer this");
	}
	a->c.answered = NULL;
}

/* Drivers leave empty what they do not know, and end texts with blanks. */
static void put_known(json_t *ethtool, const char *key, char *text)
{
	text = text_trim(text);
	if (*text)
		json_put_string(ethtool, key, text);
}

static void observe_driver(struct observation *o, const struct link_entry *e)
{
	_cleanup_error_ struct error err = {0};
	struct host_drvinfo info = {0};
	int rc = host_ethtool_drvinfo(o->host, e->name, &info, &err);
	json_t *ethtool;

	if (rc < 0) {
		observe_gap(o, rc, NULL, error_text(&err), "/links/%s/ethtool/driver", e->name);
		observe_gap(o, rc, NULL, error_text(&err), "/links/%s/ethtool/firmware", e->name);
		return;
	}
	ethtool = json_obj(e->link, "ethtool");
	put_known(ethtool, "driver", info.driver);
	put_known(ethtool, "driver_version", info.version);
	put_known(ethtool, "firmware", info.firmware);
	put_known(ethtool, "bus_info", info.bus_info);
}

static void observe_statistics(struct observation *o, const struct link_entry *e)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_json_ json_t *statistics = NULL;
	int rc = host_ethtool_stats(o->host, e->name, &statistics, &err);

	if (rc < 0)
		observe_gap(o, rc, NULL,
			    rc == -EOPNOTSUPP ? "the driver has no statistics" : error_text(&err),
			    "/links/%s/ethtool/statistics", e->name);
	else
		json_put(json_obj(e->link, "ethtool"), "statistics", json_incref(statistics));
}

void observe_ethtool(struct observation *o)
{
	_cleanup_link_table_ struct link_table table = {0};
	_cleanup_error_ struct error err = {0};
	struct asker a = {.c = {.o = o, .table = &table}, .err = &err};

	link_table_load(&table, o->snapshot);
	if (!table.n)
		return;
	a.family = host_genl_family(o->host, ETHTOOL_GENL_NAME, &err);
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		ask_all(&a, &questions[i]);
	for (size_t i = 0; i < table.n; i++) {
		if (link_has_parent(table.entries[i].link))
			observe_driver(o, &table.entries[i]);
		if (link_is_port(table.entries[i].link))
			observe_statistics(o, &table.entries[i]);
	}
}
