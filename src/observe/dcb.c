/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /links/NAME/dcb: RTM_GETDCB of every port (link_is_port()).
 * Messages and structs: include/uapi/linux/dcbnl.h, net/dcb/dcbnl.c.
 */
#include "observe/dcb.h"

#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "observe/link_table.h"

#define DSCP_MAX 63u /* RFC 2474: six bits */

static const struct attr_type dcb_types[DCB_ATTR_MAX + 1] = {
	[DCB_ATTR_IEEE] = {MNL_TYPE_NESTED},
	[DCB_ATTR_DCBX] = {MNL_TYPE_U8},
};

static const struct attr_type ieee_types[DCB_ATTR_IEEE_MAX + 1] = {
	[DCB_ATTR_IEEE_ETS] = {MNL_TYPE_BINARY, sizeof(struct ieee_ets)},
	[DCB_ATTR_IEEE_PFC] = {MNL_TYPE_BINARY, sizeof(struct ieee_pfc)},
	[DCB_ATTR_IEEE_APP_TABLE] = {MNL_TYPE_NESTED},
	[DCB_ATTR_IEEE_PEER_ETS] = {MNL_TYPE_BINARY, sizeof(struct ieee_ets)},
	[DCB_ATTR_IEEE_PEER_PFC] = {MNL_TYPE_BINARY, sizeof(struct ieee_pfc)},
	[DCB_ATTR_IEEE_PEER_APP] = {MNL_TYPE_NESTED},
};

static void put_bytes(json_t *obj, const char *key, const uint8_t *bytes, size_t n)
{
	json_t *array = json_arr(obj, key);

	for (size_t i = 0; i < n; i++)
		json_append(array, json_integer_new(bytes[i]));
}

static void put_selection(json_t *tsa, uint8_t algorithm)
{
	_cleanup_free_ char *number = NULL;

	switch (algorithm) {
	case IEEE_8021QAZ_TSA_STRICT:
		json_append_text(tsa, "strict");
		break;
	case IEEE_8021QAZ_TSA_CB_SHAPER:
		json_append_text(tsa, "cbs");
		break;
	case IEEE_8021QAZ_TSA_ETS:
		json_append_text(tsa, "ets");
		break;
	case IEEE_8021QAZ_TSA_VENDOR:
		json_append_text(tsa, "vendor");
		break;
	default:
		number = xasprintf("%u", algorithm);
		json_append_text(tsa, number);
	}
}

static void put_ets(json_t *obj, const struct nlattr *a)
{
	struct ieee_ets ets;
	json_t *j, *tsa;

	if (!attr_get_struct(a, &ets, sizeof(ets)))
		return;
	j = json_obj(obj, "ets");
	json_put_bool(j, "willing", ets.willing);
	json_put_int(j, "max_tcs", ets.ets_cap);
	json_put_bool(j, "cbs", ets.cbs);
	put_bytes(j, "tc_tx_bw", ets.tc_tx_bw, ARRAY_SIZE(ets.tc_tx_bw));
	tsa = json_arr(j, "tc_tsa");
	for (size_t i = 0; i < ARRAY_SIZE(ets.tc_tsa); i++)
		put_selection(tsa, ets.tc_tsa[i]);
	put_bytes(j, "prio_tc", ets.prio_tc, ARRAY_SIZE(ets.prio_tc));
}

static void put_counters(json_t *obj, const char *key, const __u64 *counters, size_t n)
{
	json_t *array = json_arr(obj, key);

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *text = NULL;

		if (counters[i] <= INT64_MAX) {
			json_append(array, json_integer_new((int64_t)counters[i]));
		} else {
			text = xasprintf("%llu", (unsigned long long)counters[i]);
			json_append_text(array, text);
		}
	}
}

static void put_pfc(json_t *obj, const struct nlattr *a)
{
	struct ieee_pfc pfc;
	json_t *j, *enabled;

	if (!attr_get_struct(a, &pfc, sizeof(pfc)))
		return;
	j = json_obj(obj, "pfc");
	json_put_int(j, "max_tcs", pfc.pfc_cap);
	enabled = json_arr(j, "enabled");
	for (int i = 0; i < IEEE_8021Q_MAX_PRIORITIES; i++)
		if (pfc.pfc_en >> i & 1)
			json_append(enabled, json_integer_new(i));
	json_put_bool(j, "mbc", pfc.mbc);
	json_put_int(j, "delay", pfc.delay);
	put_counters(j, "requests", pfc.requests, ARRAY_SIZE(pfc.requests));
	put_counters(j, "indications", pfc.indications, ARRAY_SIZE(pfc.indications));
}

static int by_value(const void *a, const void *b)
{
	const struct dcb_app *x = a, *y = b;

	if (x->selector != y->selector)
		return x->selector < y->selector ? -1 : 1;
	if (x->protocol != y->protocol)
		return x->protocol < y->protocol ? -1 : 1;
	return x->priority < y->priority ? -1 : x->priority > y->priority;
}

/* The entries of the table, sorted: the kernel keeps them in the order in which they were added,
 * which says nothing. -EBADMSG when one is too short. */
static int collect_apps(const struct nlattr *table, struct dcb_app **apps, size_t *n)
{
	size_t capacity = 0;

	*apps = NULL;
	*n = 0;
	for (const struct nlattr *a = NULL; (a = attr_next_nested(table, a));) {
		struct dcb_app app;

		if (mnl_attr_get_type(a) != DCB_ATTR_IEEE_APP)
			continue;
		if (!attr_get_struct(a, &app, sizeof(app)))
			return -EBADMSG;
		array_reserve(*apps, *n, capacity);
		(*apps)[(*n)++] = app;
	}
	if (*n)
		qsort(*apps, *n, sizeof(**apps), by_value);
	return 0;
}

/* dscp[DSCP] = priority, or a list of them. */
static void put_dscp(json_t *dscp, const struct dcb_app *app)
{
	_cleanup_free_ char *key = xasprintf("%u", app->protocol);
	json_t *old = json_object_get(dscp, key);

	if (json_is_integer(old)) {
		json_t *list = json_array_new();

		json_append(list, json_integer_new(json_integer_value(old)));
		json_put(dscp, key, list);
		old = list;
	}
	if (old)
		json_append(old, json_integer_new(app->priority));
	else
		json_put_int(dscp, key, app->priority);
}

static int put_apps(json_t *obj, const struct nlattr *table, bool with_dscp)
{
	_cleanup_free_ struct dcb_app *apps = NULL;
	json_t *list, *dscp;
	size_t n;

	if (!table)
		return 0;
	if (collect_apps(table, &apps, &n) < 0)
		return -EBADMSG;
	list = json_arr(obj, "app");
	dscp = with_dscp ? json_obj(obj, "dscp") : NULL;
	for (size_t i = 0; i < n; i++) {
		json_t *entry = json_object_new();

		json_put_int(entry, "selector", apps[i].selector);
		json_put_int(entry, "protocol", apps[i].protocol);
		json_put_int(entry, "priority", apps[i].priority);
		json_append(list, entry);
		if (dscp && apps[i].selector == IEEE_8021QAZ_APP_SEL_DSCP &&
		    apps[i].protocol <= DSCP_MAX)
			put_dscp(dscp, &apps[i]);
	}
	return 0;
}

static void put_dcbx(json_t *dcb, const struct nlattr *a)
{
	uint32_t mode;
	json_t *j;

	if (!attr_get_u32(a, &mode))
		return;
	j = json_obj(dcb, "dcbx");
	json_put_bool(j, "host", mode & DCB_CAP_DCBX_HOST);
	json_put_bool(j, "lld_managed", mode & DCB_CAP_DCBX_LLD_MANAGED);
	json_put_bool(j, "cee", mode & DCB_CAP_DCBX_VER_CEE);
	json_put_bool(j, "ieee", mode & DCB_CAP_DCBX_VER_IEEE);
	json_put_bool(j, "static", mode & DCB_CAP_DCBX_STATIC);
}

static int put_ieee(json_t *dcb, const struct nlattr *ieee)
{
	const struct nlattr *tb[DCB_ATTR_IEEE_MAX + 1];
	int rc = attr_parse_nested(ieee, tb, DCB_ATTR_IEEE_MAX, ieee_types);

	put_ets(dcb, tb[DCB_ATTR_IEEE_ETS]);
	put_pfc(dcb, tb[DCB_ATTR_IEEE_PFC]);
	if (put_apps(dcb, tb[DCB_ATTR_IEEE_APP_TABLE], true) < 0)
		rc = -EBADMSG;
	if (tb[DCB_ATTR_IEEE_PEER_ETS] || tb[DCB_ATTR_IEEE_PEER_PFC] ||
	    tb[DCB_ATTR_IEEE_PEER_APP]) {
		json_t *peer = json_obj(dcb, "peer");

		put_ets(peer, tb[DCB_ATTR_IEEE_PEER_ETS]);
		put_pfc(peer, tb[DCB_ATTR_IEEE_PEER_PFC]);
		if (put_apps(peer, tb[DCB_ATTR_IEEE_PEER_APP], false) < 0)
			rc = -EBADMSG;
	}
	return rc;
}

int dcb_parse(const struct nlmsghdr *nlh, void *data)
{
	struct dcb_context *c = data;
	const struct nlattr *tb[DCB_ATTR_MAX + 1];
	json_t *dcb;
	int rc;

	if (nlh->nlmsg_type != RTM_GETDCB && nlh->nlmsg_type != RTM_SETDCB)
		return 0;
	rc = attr_parse(nlh, sizeof(struct dcbmsg), tb, DCB_ATTR_MAX, dcb_types);
	if (tb[DCB_ATTR_IEEE] || tb[DCB_ATTR_DCBX]) {
		dcb = json_obj(c->link, "dcb");
		put_dcbx(dcb, tb[DCB_ATTR_DCBX]);
		if (put_ieee(dcb, tb[DCB_ATTR_IEEE]) < 0)
			rc = -EBADMSG;
	}
	if (rc < 0)
		observe_gap(c->o, rc, NULL, "the kernel's answer has an attribute of unknown form",
			    "/links/%s/dcb", c->name);
	return 0;
}

static int ask(struct dcb_context *c, uint8_t command, struct error *err)
{
	char buffer[HOST_NETLINK_REQUEST_MAX] = {0};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct dcbmsg *msg;

	nlh->nlmsg_type = RTM_GETDCB;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	msg = mnl_nlmsg_put_extra_header(nlh, sizeof(*msg));
	msg->dcb_family = AF_UNSPEC;
	msg->cmd = command;
	mnl_attr_put_strz(nlh, DCB_ATTR_IFNAME, c->name);
	return host_netlink(c->o->host, NETLINK_ROUTE, nlh, dcb_parse, c, err);
}

static void note_refusal(struct dcb_context *c, int code, const struct error *err)
{
	const char *dcb = json_string_value(
		json_at(c->o->snapshot, "/os/kernel/config/CONFIG_DCB"));

	if (code == -EOPNOTSUPP && dcb && !strcmp(dcb, "n"))
		observe_gap(c->o, code, NULL, "this kernel is built without CONFIG_DCB",
			    "/links/%s/dcb", c->name);
	else if (code == -EOPNOTSUPP)
		observe_gap(c->o, code, NULL, "the driver has no dcbnl operations",
			    "/links/%s/dcb", c->name);
	else
		observe_gap(c->o, code, NULL, error_text(err), "/links/%s/dcb", c->name);
}

static void observe_port(struct dcb_context *c)
{
	static const char *const members[] = {"ets", "pfc", "app"};
	_cleanup_error_ struct error err = {0};
	int rc = ask(c, DCB_CMD_IEEE_GET, &err);
	json_t *dcb;

	if (rc < 0) {
		note_refusal(c, rc, &err);
		return;
	}
	dcb = json_object_get(c->link, "dcb");
	/* with IEEE_GET the kernel usually tells the mode too */
	if (!json_object_get(dcb, "dcbx")) {
		error_clear(&err);
		rc = ask(c, DCB_CMD_GDCBX, &err);
		if (rc < 0)
			observe_gap(c->o, rc, NULL,
				    rc == -EOPNOTSUPP ? "the driver does not tell its DCBX mode" :
							error_text(&err),
				    "/links/%s/dcb/dcbx", c->name);
		dcb = json_object_get(c->link, "dcb");
	}
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (!json_object_get(dcb, members[i]))
			observe_gap(c->o, -EOPNOTSUPP, NULL, "the driver does not answer this",
				    "/links/%s/dcb/%s", c->name, members[i]);
}

void observe_dcb(struct observation *o)
{
	json_t *links = json_object_get(o->snapshot, "links");
	const char *name;
	json_t *link;

	json_object_foreach(links, name, link) {
		struct dcb_context c = {.o = o, .name = name, .link = link};

		if (link_is_port(link))
			observe_port(&c);
	}
}
