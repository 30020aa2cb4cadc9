/* SPDX-License-Identifier: Apache-2.0 */
/* The splitting of replies on bytes made by hand, then the transport on the loopback link. */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/netlink_reply.h"

#define SEQ 7
#define PORT 4711

static void put(struct strbuf *b, uint16_t type, uint16_t flags, const void *payload, size_t len)
{
	static const char zeros[4];
	struct nlmsghdr h = { .nlmsg_len = (uint32_t)(sizeof(h) + len), .nlmsg_type = type,
			      .nlmsg_flags = flags, .nlmsg_seq = SEQ, .nlmsg_pid = PORT };

	strbuf_add(b, &h, sizeof(h));
	strbuf_add(b, payload, len);
	strbuf_add(b, zeros, NLMSG_ALIGN(len) - len);
}

/* NLMSG_ERROR with the request's header (or all of it) and an extack text. */
static void put_error(struct strbuf *b, int code, const char *text, size_t echoed)
{
	_cleanup_strbuf_ struct strbuf payload = {0};
	struct nlmsgerr e = { .error = code,
			      .msg.nlmsg_len = (uint32_t)(sizeof(struct nlmsghdr) + echoed) };
	uint16_t flags = NLM_F_ACK_TLVS;

	strbuf_add(&payload, &e, sizeof(e));
	if (echoed)
		for (size_t i = 0; i < NLMSG_ALIGN(echoed); i++)
			strbuf_putc(&payload, 0x5a);
	else
		flags |= NLM_F_CAPPED;
	if (text) {
		struct nlattr offset = { sizeof(offset) + 4, NLMSGERR_ATTR_OFFS };
		struct nlattr a = { (uint16_t)(sizeof(a) + strlen(text) + 1), NLMSGERR_ATTR_MSG };

		strbuf_add(&payload, &offset, sizeof(offset));
		strbuf_add(&payload, "\0\0\0\0", 4);
		strbuf_add(&payload, &a, sizeof(a));
		strbuf_add(&payload, text, strlen(text) + 1);
	}
	put(b, NLMSG_ERROR, flags, payload.s, payload.len);
}

static int add(struct netlink_reply *r, const struct strbuf *b, struct error *err)
{
	/* an exact copy, so that a sanitizer sees a read past the end */
	_cleanup_free_ char *exact = xmalloc(b->len);

	memcpy(exact, b->s, b->len);
	return netlink_reply_add(r, exact, b->len, err);
}

struct seen {
	unsigned n;
	uint32_t lengths[8];
};

static int count_cb(const struct nlmsghdr *nlh, void *data)
{
	struct seen *seen = data;

	assert_int_equal(nlh->nlmsg_seq, 0);
	assert_int_equal(nlh->nlmsg_pid, 0);
	if (seen->n < 8)
		seen->lengths[seen->n] = nlh->nlmsg_len;
	seen->n++;
	return 0;
}

static void test_dump(void **state RH_UNUSED)
{
	struct netlink_reply r = { .seq = SEQ, .portid = PORT, .dump = true };
	_cleanup_strbuf_ struct strbuf one = {0}, two = {0};
	struct seen seen = {0};
	int zero = 0;

	put(&one, 100, NLM_F_MULTI, "abcde", 5);
	put(&one, NLMSG_NOOP, 0, NULL, 0);
	put(&one, 100, NLM_F_MULTI, "", 0);
	put(&two, 100, NLM_F_MULTI, "abcdefgh", 8);
	put(&two, NLMSG_DONE, NLM_F_MULTI, &zero, sizeof(zero));
	assert_int_equal(add(&r, &one, NULL), 0);
	assert_int_equal(add(&r, &two, NULL), 1);
	assert_int_equal(netlink_messages_walk(r.messages.s, r.messages.len, count_cb, &seen, NULL),
			 0);
	assert_int_equal(seen.n, 3);
	assert_int_equal(seen.lengths[0], 21);
	assert_int_equal(seen.lengths[1], 16);
	assert_int_equal(seen.lengths[2], 24);
	netlink_reply_clear(&r);
}

static void test_interrupted(void **state RH_UNUSED)
{
	struct netlink_reply r = { .seq = SEQ, .portid = PORT, .dump = true };
	_cleanup_error_ struct error err = {0};
	_cleanup_strbuf_ struct strbuf b = {0}, end = {0};

	put(&b, 100, NLM_F_MULTI | NLM_F_DUMP_INTR, "abcd", 4);
	put(&end, NLMSG_DONE, NLM_F_MULTI, NULL, 0);
	assert_int_equal(add(&r, &b, &err), 0);		/* the rest is still to come */
	assert_int_equal(add(&r, &end, &err), -EINTR);
	netlink_reply_clear(&r);
	assert_false(r.interrupted);
	assert_int_equal(r.messages.len, 0);

	/* the flag may also come with the end alone */
	_cleanup_strbuf_ struct strbuf last = {0};
	put(&last, NLMSG_DONE, NLM_F_MULTI | NLM_F_DUMP_INTR, NULL, 0);
	assert_int_equal(add(&r, &last, &err), -EINTR);
	netlink_reply_clear(&r);
}

static void test_errors(void **state RH_UNUSED)
{
	struct netlink_reply r = { .seq = SEQ, .portid = PORT };
	_cleanup_error_ struct error err = {0};
	_cleanup_strbuf_ struct strbuf ack = {0}, capped = {0}, whole = {0}, plain = {0}, odd = {0},
		done = {0}, lost = {0};
	int code = -ENODEV;

	put_error(&ack, 0, NULL, 0);
	assert_int_equal(add(&r, &ack, &err), 1);
	put_error(&capped, -EOPNOTSUPP, "driver does not support it", 0);
	assert_int_equal(add(&r, &capped, &err), -EOPNOTSUPP);
	assert_string_equal(err.message, "Operation not supported (driver does not support it)");
	put_error(&whole, -EINVAL, "behind the echo\x1b", 37);
	assert_int_equal(add(&r, &whole, &err), -EINVAL);
	assert_string_equal(err.message, "Invalid argument (behind the echo\\x1b)");
	put_error(&plain, -EPERM, NULL, 0);
	assert_int_equal(add(&r, &plain, &err), -EPERM);
	assert_string_equal(err.message, "Operation not permitted");
	put_error(&odd, 5, NULL, 0);
	assert_int_equal(add(&r, &odd, &err), -EBADMSG);
	put(&done, NLMSG_DONE, NLM_F_MULTI, &code, sizeof(code));
	assert_int_equal(add(&r, &done, &err), -ENODEV);
	put(&lost, NLMSG_OVERRUN, 0, NULL, 0);
	assert_int_equal(add(&r, &lost, &err), -ENOBUFS);
	netlink_reply_clear(&r);
}

static void test_foreign(void **state RH_UNUSED)
{
	struct netlink_reply r = { .seq = SEQ + 1, .portid = PORT };
	_cleanup_strbuf_ struct strbuf stale = {0};

	put(&stale, 100, 0, "abcd", 4);
	put_error(&stale, -EPERM, NULL, 0);
	assert_int_equal(add(&r, &stale, NULL), 0);	/* an answer to the request before */
	assert_int_equal(r.messages.len, 0);
	r = (struct netlink_reply){ .seq = SEQ, .portid = PORT + 1 };
	assert_int_equal(add(&r, &stale, NULL), 0);
	netlink_reply_clear(&r);
}

static void expect_bad(const void *bytes, size_t len)
{
	struct netlink_reply r = { .seq = SEQ, .portid = PORT };
	struct strbuf b = {0};

	strbuf_add(&b, bytes, len);
	assert_int_equal(add(&r, &b, NULL), -EBADMSG);
	netlink_reply_clear(&r);
	strbuf_clear(&b);
}

static void test_lengths(void **state RH_UNUSED)
{
	struct nlmsghdr h = {
		.nlmsg_len = 15, .nlmsg_type = 100, .nlmsg_seq = SEQ, .nlmsg_pid = PORT
	};
	static const uint32_t nonsense[] = { 0, 1, 15, 17, 0x7fffffff, 0x80000000u, 0xfffffff0u,
					     0xffffffffu };

	for (size_t i = 0; i < ARRAY_SIZE(nonsense); i++) {
		h.nlmsg_len = nonsense[i];
		expect_bad(&h, sizeof(h));
	}
	h.nlmsg_len = sizeof(h);
	expect_bad(&h, sizeof(h) - 1);	/* cut off inside the header */

	/* an error message without its number, one with an echo longer than itself */
	h.nlmsg_type = NLMSG_ERROR;
	expect_bad(&h, sizeof(h));
	_cleanup_strbuf_ struct strbuf lying = {0};
	struct nlmsgerr e = { .error = -EINVAL, .msg.nlmsg_len = 0xfffffff0u };
	struct netlink_reply r = { .seq = SEQ, .portid = PORT };
	put(&lying, NLMSG_ERROR, NLM_F_ACK_TLVS, &e, sizeof(e));
	assert_int_equal(add(&r, &lying, NULL), -EINVAL);
	netlink_reply_clear(&r);
}

static void test_walk_lengths(void **state RH_UNUSED)
{
	struct nlmsghdr h[2] = { { .nlmsg_len = 16 }, { .nlmsg_len = 20 } };
	struct seen seen = {0};

	assert_int_equal(netlink_messages_walk(h, sizeof(h), count_cb, &seen, NULL), -EBADMSG);
	assert_int_equal(seen.n, 0);	/* nothing is handed out when a later message is bad */
	h[1].nlmsg_len = 16;
	assert_int_equal(netlink_messages_walk(h, sizeof(h), count_cb, &seen, NULL), 0);
	assert_int_equal(seen.n, 2);
	assert_int_equal(netlink_messages_walk(h, 16 + 8, count_cb, &seen, NULL), -EBADMSG);
}

/* --- live ------------------------------------------------------------------------------------- */

struct link_seen {
	unsigned n;
	bool lo;
};

static int link_attr_cb(const struct nlattr *attr, void *data)
{
	struct link_seen *seen = data;

	if (mnl_attr_get_type(attr) == IFLA_IFNAME && strcmp(mnl_attr_get_str(attr), "lo") == 0)
		seen->lo = true;
	return MNL_CB_OK;
}

static int link_cb(const struct nlmsghdr *nlh, void *data)
{
	struct link_seen *seen = data;

	assert_int_equal(nlh->nlmsg_type, RTM_NEWLINK);
	mnl_attr_parse(nlh, sizeof(struct ifinfomsg), link_attr_cb, seen);
	seen->n++;
	return 0;
}

static int stop_cb(const struct nlmsghdr *nlh RH_UNUSED, void *data)
{
	++*(int *)data;
	return -ECANCELED;
}

static struct nlmsghdr *link_request(void *buf, uint16_t flags, int index)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *link;

	nlh->nlmsg_type = RTM_GETLINK;
	nlh->nlmsg_flags = flags;
	link = mnl_nlmsg_put_extra_header(nlh, sizeof(*link));
	link->ifi_index = index;
	return nlh;
}

static void test_live(void **state RH_UNUSED)
{
	_Alignas(struct nlmsghdr) char buf[HOST_NETLINK_REQUEST_MAX] = {0};
	_cleanup_error_ struct error err = {0};
	_cleanup_(host) struct host *host = NULL;
	struct link_seen all = {0}, one = {0};
	int calls = 0;

	assert_int_equal(host_open(&host, NULL, NULL), 0);
	struct nlmsghdr *nlh = link_request(buf, NLM_F_DUMP, 0);
	assert_int_equal(host_netlink(host, NETLINK_ROUTE, nlh, link_cb, &all, &err), 0);
	assert_true(all.lo);
	assert_true(all.n >= 1);
	assert_int_equal(host_netlink(host, NETLINK_ROUTE, nlh, stop_cb, &calls, &err), -ECANCELED);
	assert_int_equal(calls, 1);

	nlh = link_request(buf, 0, 1);
	assert_int_equal(host_netlink(host, NETLINK_ROUTE, nlh, link_cb, &one, &err), 0);
	assert_int_equal(one.n, 1);
	nlh = link_request(buf, 0, 0x7ffffff0);
	assert_int_equal(host_netlink(host, NETLINK_ROUTE, nlh, link_cb, &one, &err), -ENODEV);
	assert_non_null(strstr(err.message, "No such device"));

	/* strict checking: a dump with a filter that the kernel does not know is refused in
	 * words */
	nlh = link_request(buf, NLM_F_DUMP, 0);
	((struct ifinfomsg *)mnl_nlmsg_get_payload(nlh))->ifi_flags = 1;
	assert_int_equal(host_netlink(host, NETLINK_ROUTE, nlh, link_cb, &one, &err), -EINVAL);
	assert_non_null(strstr(err.message, "Invalid values in header"));

	nlh->nlmsg_len = HOST_NETLINK_REQUEST_MAX + 1;
	assert_int_equal(host_netlink(host, NETLINK_ROUTE, nlh, link_cb, &one, &err), -EINVAL);
	nlh->nlmsg_len = NLMSG_HDRLEN;
	assert_int_equal(host_netlink(host, NETLINK_KOBJECT_UEVENT, nlh, link_cb, &one, &err),
			 -EINVAL);
}

static void test_families(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_(host) struct host *host = NULL;

	assert_int_equal(host_open(&host, NULL, NULL), 0);
	assert_int_equal(host_genl_family(host, "nlctrl", &err), GENL_ID_CTRL);
	assert_int_equal(host_genl_family(host, "nlctrl", &err), GENL_ID_CTRL);
	assert_int_equal(host_genl_family(host, "no-such-family", &err), -ENOENT);
	assert_int_equal(host_genl_family(host, "no-such-family", &err), -ENOENT);
	assert_string_equal(err.message, "the kernel has no generic netlink family \"no-such-family\"");
	assert_int_equal(host_genl_family(host, "a-name-that-is-too-long", &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_walk_lengths),
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_families),
	};

	return cmocka_run_group_tests_name("host/netlink", tests, NULL, NULL);
}
