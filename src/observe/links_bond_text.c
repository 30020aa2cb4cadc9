/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only /proc/net/bonding/BOND tells of a bond's ports. Its format
 * (drivers/net/bonding/bond_procfs.c), as far as it is read here:
 *
 *	Ethernet Channel Bonding Driver: VERSION
 *	… (the bond itself: rtnetlink tells that)
 *	<empty line>
 *	Slave Interface: NAME
 *	MII Status: up
 *	Speed: 100000 Mbps			or "Unknown"
 *	Duplex: full				or "half", "Unknown"
 *	Actor Churn State: none			these four in mode 802.3ad
 *	Partner Churn State: none
 *	Actor Churned Count: 0
 *	Partner Churned Count: 0
 *	details actor lacp pdu:			these two blocks also need CAP_NET_ADMIN
 *	    port key: 21
 *	details partner lacp pdu:
 *	    system mac address: 00:11:22:33:44:55
 *	    oper key: 21
 *	<empty line>
 *	Slave Interface: …
 */
#include "observe/links.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/text.h"

/* Members that this file gives to a port. */
static const char *const common_members[] = {"speed_mbps", "duplex"};
static const char *const lacp_members[] = {
	"actor_churn", "partner_churn", "actor_churned_count", "partner_churned_count",
};
static const char *const pdu_members[] = {"actor_key", "partner_key", "partner_mac"};

enum block { BLOCK_PORT, BLOCK_ACTOR, BLOCK_PARTNER };

static void put_number(json_t *port, const char *key, const char *value)
{
	uint64_t n;

	if (!text_to_u64(value, 10, &n))
		json_put_u64(port, key, n);
}

static void put_speed(json_t *port, char *value)
{
	char *unit = strchr(value, ' ');

	if (!strcasecmp(value, "unknown")) {
		json_put_int(port, "speed_mbps", -1);
	} else if (unit && !strcmp(unit, " Mbps")) {
		*unit = '\0';
		put_number(port, "speed_mbps", value);
	}
}

static void put_duplex(json_t *port, const char *value)
{
	static const char *const words[] = {"full", "half", "unknown"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcasecmp(value, words[i]))
			json_put_string(port, "duplex", words[i]);
}

/* One "key: value" of a port's section. */
static void put_member(json_t *port, enum block block, const char *key, char *value)
{
	if (block == BLOCK_ACTOR) {
		if (!strcmp(key, "port key"))
			put_number(port, "actor_key", value);
	} else if (block == BLOCK_PARTNER) {
		if (!strcmp(key, "oper key"))
			put_number(port, "partner_key", value);
		else if (!strcmp(key, "system mac address"))
			json_put_string(port, "partner_mac", value);
	} else if (!strcmp(key, "Speed")) {
		put_speed(port, value);
	} else if (!strcmp(key, "Duplex")) {
		put_duplex(port, value);
	} else if (!strcmp(key, "Actor Churn State")) {
		json_put_string(port, "actor_churn", value);
	} else if (!strcmp(key, "Partner Churn State")) {
		json_put_string(port, "partner_churn", value);
	} else if (!strcmp(key, "Actor Churned Count")) {
		put_number(port, "actor_churned_count", value);
	} else if (!strcmp(key, "Partner Churned Count")) {
		put_number(port, "partner_churned_count", value);
	}
}

int links_parse_bond_text(json_t *links, char *text)
{
	static const char head[] = "Ethernet Channel Bonding Driver:";
	static const char port_head[] = "Slave Interface: ";
	enum block block = BLOCK_PORT;
	json_t *port = NULL; /* none: in the bond's own section, or of a link that is gone */
	int details = 0;
	char *line;

	if (!text_starts_with(text, head))
		return -EBADMSG;
	while ((line = text_next_line(&text))) {
		char *value;

		if (text_starts_with(line, port_head)) {
			const char *raw = line + strlen(port_head);
			_cleanup_free_ char *name = text_printable(raw, strlen(raw));

			port = json_object_get(json_object_get(links, name), "bond_port");
			block = BLOCK_PORT;
			continue;
		}
		line = text_trim(line);
		if (!*line)
			port = NULL;
		if (!port)
			continue;
		if (!strcmp(line, "details actor lacp pdu:")) {
			block = BLOCK_ACTOR;
		} else if (!strcmp(line, "details partner lacp pdu:")) {
			block = BLOCK_PARTNER;
			details++;
		} else if ((value = strstr(line, ": "))) {
			*value = '\0';
			put_member(port, block, line, value + 2);
		}
	}
	return details;
}

/* Gaps for those of `members` that the port `name` lacks. */
static void note_absent(struct observation *o, const char *name, json_t *port, int code,
			const char *hint, const char *reason, const char *const *members, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!json_object_get(port, members[i]))
			observe_gap(o, code, hint, reason, "/links/%s/bond_port/%s", name,
				    members[i]);
}

/* Gaps for what the ports of `bond` lack after the file was read with the result `rc`. */
static void note_gaps(struct observation *o, const char *bond, json_t *link, int rc,
		      const struct error *err)
{
	bool lacp = !strcmp(json_get_string(json_object_get(link, "bond"), "mode", ""), "802.3ad");
	_cleanup_free_ char *hint = xasprintf("cat /proc/net/bonding/%s", bond);
	const char *reason = rc < 0 ? error_text(err) : "not in the kernel's text of the bond";
	const char *name;
	json_t *other;

	json_object_foreach(json_object_get(o->snapshot, "links"), name, other) {
		json_t *port = json_object_get(other, "bond_port");

		if (!port || strcmp(json_get_string(other, "master", ""), bond) != 0)
			continue;
		note_absent(o, name, port, rc < 0 ? rc : -ENOENT, hint, reason, common_members,
			    ARRAY_SIZE(common_members));
		if (!lacp)
			continue;
		note_absent(o, name, port, rc < 0 ? rc : -ENOENT, hint, reason, lacp_members,
			    ARRAY_SIZE(lacp_members));
		note_absent(o, name, port, rc < 0 ? rc : -EPERM, "run as root",
			    rc < 0 ? reason :
				     "the kernel shows LACPDU details only to CAP_NET_ADMIN",
			    pdu_members, ARRAY_SIZE(pdu_members));
	}
}

void links_observe_bond_text(struct observation *o)
{
	json_t *links = json_object_get(o->snapshot, "links");
	const char *name;
	json_t *link;

	json_object_foreach(links, name, link) {
		_cleanup_error_ struct error err = {0};
		_cleanup_free_ char *text = NULL;
		int rc;

		if (!json_object_get(link, "bond"))
			continue;
		rc = host_read(o->host, &text, NULL, &err, "/proc/net/bonding/%s", name);
		if (!rc) {
			rc = links_parse_bond_text(links, text);
			if (rc < 0)
				error_set(&err, rc, "/proc/net/bonding/%s: not the text of a bond",
					  name);
		}
		note_gaps(o, name, link, rc, &err);
	}
}
