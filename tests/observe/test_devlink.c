/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "observe/devlink.h"
#include "tests/observe/message.h"

struct fixture {
	struct observation o;
	struct devlink_context c;
	struct message m;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	observation_start(&f->o);
	f->c = (struct devlink_context){.o = &f->o};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	observation_end(&f->o);
	free(f);
	return 0;
}

static void start(struct fixture *f)
{
	message_start(&f->m, 30, sizeof(struct genlmsghdr));
	mnl_attr_put_strz(f->m.nlh, DEVLINK_ATTR_BUS_NAME, "pci");
	mnl_attr_put_strz(f->m.nlh, DEVLINK_ATTR_DEV_NAME, "0000:01:00.0");
}

static void parse(struct fixture *f, host_netlink_cb cb)
{
	message_parse(&f->m, 0, cb, &f->c);
	message_parse_cut(&f->m, &f->o, cb, &f->c);
}

static void put_version(struct fixture *f, uint16_t group, const char *name, const char *value)
{
	struct nlattr *nest = mnl_attr_nest_start(f->m.nlh, group);

	mnl_attr_put_strz(f->m.nlh, DEVLINK_ATTR_INFO_VERSION_NAME, name);
	mnl_attr_put_strz(f->m.nlh, DEVLINK_ATTR_INFO_VERSION_VALUE, value);
	mnl_attr_nest_end(f->m.nlh, nest);
}

static void test_info(void **state)
{
	struct fixture *f = *state;

	start(f);
	mnl_attr_put_strz(f->m.nlh, DEVLINK_ATTR_INFO_DRIVER_NAME, "ice");
	mnl_attr_put_strz(f->m.nlh, DEVLINK_ATTR_INFO_SERIAL_NUMBER, "00-01-00-ff-ff-00-00-00");
	put_version(f, DEVLINK_ATTR_INFO_VERSION_FIXED, "board.id", "K91258-000");
	put_version(f, DEVLINK_ATTR_INFO_VERSION_RUNNING, "fw.mgmt", "7.5.4");
	put_version(f, DEVLINK_ATTR_INFO_VERSION_RUNNING, "fw.app.name", "ICE OS Default Package");
	put_version(f, DEVLINK_ATTR_INFO_VERSION_STORED, "fw.mgmt", "7.6.0");
	parse(f, devlink_parse_info);
	assert_int_equal(gaps(&f->o), 0);
	assert_fact(&f->o, "/devlink/pci/0000:01:00.0",
		    "{\"driver\": \"ice\", \"serial\": \"00-01-00-ff-ff-00-00-00\", \"versions\": {"
		    "\"fixed\": {\"board.id\": \"K91258-000\"},"
		    "\"running\": {\"fw.mgmt\": \"7.5.4\", \"fw.app.name\": \"ICE OS Default Package\"},"
		    "\"stored\": {\"fw.mgmt\": \"7.6.0\"}}}");
}

static void test_version_without_name(void **state)
{
	struct fixture *f = *state;
	struct nlattr *nest;

	start(f);
	nest = mnl_attr_nest_start(f->m.nlh, DEVLINK_ATTR_INFO_VERSION_FIXED);
	mnl_attr_put_strz(f->m.nlh, DEVLINK_ATTR_INFO_VERSION_VALUE, "1");
	mnl_attr_nest_end(f->m.nlh, nest);
	message_parse(&f->m, 0, devlink_parse_info, &f->c);
	assert_fact(&f->o, "/gaps/0/pointer", "\"/devlink/pci/0000:01:00.0\"");
	assert_fact(&f->o, "/devlink/pci/0000:01:00.0/versions/fixed", "{}");
}

static void test_no_device(void **state)
{
	struct fixture *f = *state;

	message_start(&f->m, 30, sizeof(struct genlmsghdr));
	mnl_attr_put_strz(f->m.nlh, DEVLINK_ATTR_BUS_NAME, "pci");
	message_parse(&f->m, 0, devlink_parse_info, &f->c);
	message_parse(&f->m, 0, devlink_parse_param, &f->c);
	message_parse(&f->m, 0, devlink_parse_handle, &f->c);
	assert_int_equal(gaps(&f->o), 3);
	assert_absent(&f->o, "/devlink");
}

/* NLA_* numbers of the kernel */
enum { U8 = 1, U16 = 2, U32 = 3, U64 = 4, STRING = 5, FLAG = 6, UNKNOWN = 99 };

static void put_value(struct fixture *f, uint8_t mode, const void *value, size_t len)
{
	struct nlattr *nest = mnl_attr_nest_start(f->m.nlh, DEVLINK_ATTR_PARAM_VALUE);

	if (value)
		mnl_attr_put(f->m.nlh, DEVLINK_ATTR_PARAM_VALUE_DATA, len, value);
	mnl_attr_put_u8(f->m.nlh, DEVLINK_ATTR_PARAM_VALUE_CMODE, mode);
	mnl_attr_nest_end(f->m.nlh, nest);
}

static struct nlattr *start_param(struct fixture *f, const char *name, uint8_t type,
				  struct nlattr **list)
{
	struct nlattr *param;

	start(f);
	param = mnl_attr_nest_start(f->m.nlh, DEVLINK_ATTR_PARAM);
	mnl_attr_put_strz(f->m.nlh, DEVLINK_ATTR_PARAM_NAME, name);
	mnl_attr_put(f->m.nlh, DEVLINK_ATTR_PARAM_GENERIC, 0, NULL);
	mnl_attr_put_u8(f->m.nlh, DEVLINK_ATTR_PARAM_TYPE, type);
	*list = mnl_attr_nest_start(f->m.nlh, DEVLINK_ATTR_PARAM_VALUES_LIST);
	return param;
}

static void end_param(struct fixture *f, struct nlattr *param, struct nlattr *list)
{
	mnl_attr_nest_end(f->m.nlh, list);
	mnl_attr_nest_end(f->m.nlh, param);
}

static void test_flag(void **state)
{
	struct fixture *f = *state;
	struct nlattr *param, *list;

	param = start_param(f, "enable_roce", FLAG, &list);
	put_value(f, DEVLINK_PARAM_CMODE_RUNTIME, "", 0);
	put_value(f, DEVLINK_PARAM_CMODE_DRIVERINIT, NULL, 0);
	end_param(f, param, list);
	parse(f, devlink_parse_param);
	assert_int_equal(gaps(&f->o), 0);
	assert_fact(&f->o, "/devlink/pci/0000:01:00.0/parameters/enable_roce",
		    "{\"generic\": true, \"values\": {\"runtime\": true, \"driverinit\": false}}");
}

static void test_numbers_and_text(void **state)
{
	static const struct {
		uint8_t type;
		const char *bytes;
		size_t len;
		const char *want;
	} cases[] = {
		{U8, "\xff", 1, "255"},
		{U16, "\xff\xff", 2, "65535"},
		{U32, "\xff\xff\xff\xff", 4, "4294967295"},
		{U64, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, "\"18446744073709551615\""},
		{U64, "\x01\0\0\0\0\0\0\0", 8, "1"},
		{STRING, "9-layer", 8, "\"9-layer\""},
		{STRING, "", 1, "\"\""},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nlattr *param, *list;

		param = start_param(f, "p", cases[i].type, &list);
		put_value(f, DEVLINK_PARAM_CMODE_PERMANENT, cases[i].bytes, cases[i].len);
		end_param(f, param, list);
		parse(f, devlink_parse_param);
		assert_fact(&f->o, "/devlink/pci/0000:01:00.0/parameters/p/values/permanent",
			    cases[i].want);
	}
	assert_int_equal(gaps(&f->o), 0);
}

static void test_values_of_wrong_form(void **state)
{
	static const struct {
		uint8_t type, mode;
		const char *bytes;
		size_t len;
	} cases[] = {
		{U8, 0, "\0\0", 2},	 {U64, 0, "\0\0\0\0", 4}, {U32, 0, NULL, 0},
		{STRING, 0, NULL, 0},	 {STRING, 0, "", 0},	  {UNKNOWN, 0, "\0", 1},
		{U8, 200, "\0", 1},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nlattr *param, *list;

		param = start_param(f, "p", cases[i].type, &list);
		put_value(f, cases[i].mode, cases[i].bytes, cases[i].len);
		end_param(f, param, list);
		message_parse(&f->m, 0, devlink_parse_param, &f->c);
		assert_int_equal(gaps(&f->o), i + 1);
	}
	assert_fact(&f->o, "/gaps/0/pointer", "\"/devlink/pci/0000:01:00.0/parameters/p/values\"");
	assert_fact(&f->o, "/devlink/pci/0000:01:00.0/parameters/p/values", "{}");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_info),
		TEST(test_version_without_name),
		TEST(test_no_device),
		TEST(test_flag),
		TEST(test_numbers_and_text),
		TEST(test_values_of_wrong_form),
	};

	return cmocka_run_group_tests_name("observe/devlink", tests, NULL, NULL);
}
