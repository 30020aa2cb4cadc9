/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "observe/attr.h"
#include "tests/observe/message.h"

enum { A_NONE, A_U8, A_U32, A_TEXT, A_NEST, A_STRUCT, A_FLAG, A_MAX = A_FLAG };

static const struct attr_type types[A_MAX + 1] = {
	[A_U8] = {MNL_TYPE_U8},
	[A_U32] = {MNL_TYPE_U32},
	[A_TEXT] = {MNL_TYPE_STRING, 2},
	[A_NEST] = {MNL_TYPE_NESTED},
	[A_STRUCT] = {MNL_TYPE_BINARY, 6},
	[A_FLAG] = {MNL_TYPE_FLAG},
};

static void test_right(void **state RH_UNUSED)
{
	const struct nlattr *tb[A_MAX + 1], *in[A_MAX + 1];
	struct nlattr *nest;
	struct message m;
	uint64_t v;

	message_start(&m, 16, 4);
	mnl_attr_put_u8(m.nlh, A_U8, 7);
	nest = mnl_attr_nest_start(m.nlh, A_NEST);
	mnl_attr_put_u32(m.nlh, A_U32, 4000000000u);
	mnl_attr_nest_end(m.nlh, nest);
	mnl_attr_put_strz(m.nlh, A_TEXT, "name");
	mnl_attr_put(m.nlh, A_FLAG, 0, NULL);
	mnl_attr_put_u32(m.nlh, A_MAX + 9, 1); /* of a newer kernel */

	assert_int_equal(attr_parse(m.nlh, 4, tb, A_MAX, types), 0);
	assert_true(attr_get_u64(tb[A_U8], &v));
	assert_int_equal(v, 7);
	assert_non_null(tb[A_FLAG]);
	assert_null(tb[A_STRUCT]);
	assert_int_equal(attr_parse_nested(tb[A_NEST], in, A_MAX, types), 0);
	assert_true(attr_get_u64(in[A_U32], &v));
	assert_int_equal(v, 4000000000u);
	_cleanup_free_ char *text = attr_text(tb[A_TEXT]);
	assert_string_equal(text, "name");
}

static void test_wrong_length_is_absent(void **state RH_UNUSED)
{
	const struct nlattr *tb[A_MAX + 1];
	struct message m;

	message_start(&m, 16, 0);
	mnl_attr_put_u16(m.nlh, A_U32, 1);
	mnl_attr_put_u32(m.nlh, A_U8, 1);
	mnl_attr_put(m.nlh, A_TEXT, 1, "x");
	mnl_attr_put(m.nlh, A_STRUCT, 5, "12345");
	mnl_attr_put(m.nlh, A_NEST, 3, "abc");
	mnl_attr_put_u8(m.nlh, A_FLAG, 1);
	assert_int_equal(attr_parse(m.nlh, 0, tb, A_MAX, types), -EBADMSG);
	for (int i = 0; i <= A_MAX; i++)
		assert_null(tb[i]);
}

static void test_lengths_of_containers(void **state RH_UNUSED)
{
	const struct nlattr *tb[A_MAX + 1];
	struct nlattr *attr;
	struct message m;

	message_start(&m, 16, 4);
	m.nlh->nlmsg_len = sizeof(struct nlmsghdr) + 2;
	assert_int_equal(attr_parse(m.nlh, 4, tb, A_MAX, types), -EBADMSG);

	/* an attribute longer than the message, and one shorter than its own header */
	message_start(&m, 16, 4);
	attr = mnl_nlmsg_get_payload_tail(m.nlh);
	mnl_attr_put_u32(m.nlh, A_TEXT, 1);
	attr->nla_len = 9;
	assert_int_equal(attr_parse(m.nlh, 4, tb, A_MAX, types), -EBADMSG);
	assert_null(tb[A_TEXT]);
	attr->nla_len = 3;
	assert_int_equal(attr_parse(m.nlh, 4, tb, A_MAX, types), -EBADMSG);
	attr->nla_len = 8;
	assert_int_equal(attr_parse(m.nlh, 4, tb, A_MAX, types), 0);

	/* trailing bytes that are no attribute */
	mnl_nlmsg_put_extra_header(m.nlh, 1);
	m.nlh->nlmsg_len -= 1;
	assert_int_equal(attr_parse(m.nlh, 4, tb, A_MAX, types), -EBADMSG);
	assert_non_null(tb[A_TEXT]);
}

static void test_text_of_bytes(void **state RH_UNUSED)
{
	const struct nlattr *tb[A_MAX + 1];
	struct message m;

	message_start(&m, 16, 0);
	mnl_attr_put(m.nlh, A_TEXT, 4, "a\x1b\xff" "b"); /* no NUL, not UTF-8, a control character */
	mnl_attr_put(m.nlh, A_STRUCT, 6, "\x02\x00\x5e\x00\x01\xfe");
	assert_int_equal(attr_parse(m.nlh, 0, tb, A_MAX, types), 0);
	_cleanup_free_ char *text = attr_text(tb[A_TEXT]);
	_cleanup_free_ char *mac = attr_mac(tb[A_STRUCT]);
	assert_string_equal(text, "a\\x1b\\xffb");
	assert_string_equal(mac, "02:00:5e:00:01:fe");
	assert_null(attr_ip(tb[A_STRUCT], AF_INET));
	assert_null(attr_ip(tb[A_TEXT], AF_UNIX));
	_cleanup_free_ char *ip = attr_ip(tb[A_TEXT], AF_INET);
	assert_string_equal(ip, "97.27.255.98");
}

static void test_list(void **state RH_UNUSED)
{
	const struct nlattr *tb[A_MAX + 1];
	struct nlattr *nest;
	struct message m;
	int n = 0;

	message_start(&m, 16, 0);
	nest = mnl_attr_nest_start(m.nlh, A_NEST);
	for (uint8_t i = 0; i < 5; i++)
		mnl_attr_put_u8(m.nlh, A_U8, i);
	mnl_attr_nest_end(m.nlh, nest);
	assert_int_equal(attr_parse(m.nlh, 0, tb, A_MAX, types), 0);
	for (const struct nlattr *a = NULL; (a = attr_next_nested(tb[A_NEST], a));)
		assert_int_equal(mnl_attr_get_u8(a), n++);
	assert_int_equal(n, 5);
	assert_null(attr_next_nested(NULL, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right),
		cmocka_unit_test(test_wrong_length_is_absent),
		cmocka_unit_test(test_lengths_of_containers),
		cmocka_unit_test(test_text_of_bytes),
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests_name("observe/attr", tests, NULL, NULL);
}
