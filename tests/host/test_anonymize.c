/* SPDX-License-Identifier: Apache-2.0 */
/* Anonymization: nothing of the original stays, in any notation, and relations do. */
#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "host/anonymize.h"
#include "host/anonymize_text.h"
#include "tree.h"

static void test_siphash(void **state RH_UNUSED)
{
	/* appendix A of the paper: key 00…0f, message 00…0e */
	static const uint64_t key[2] = { 0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull };
	uint8_t message[15];

	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)i;
	assert_true(siphash(key, message, sizeof(message)) == 0xa129ca6149be45e5ull);
	/* first and ninth vector of the authors' reference list */
	assert_true(siphash(key, message, 0) == 0x726fdb47dd0e0e31ull);
	assert_true(siphash(key, message, 8) == 0x93f5f5799a932462ull);
}

/* --- addresses -------------------------------------------------------------------------------- */

static uint32_t map4(struct pseudonyms *p, const char *text)
{
	uint8_t a[4];
	uint32_t value;

	assert_int_equal(inet_pton(AF_INET, text, a), 1);
	pseudonym_ipv4(p, a);
	memcpy(&value, a, 4);
	return ntohl(value);
}

static void learn4(struct pseudonyms *p, const char *text, unsigned length)
{
	uint8_t a[4];

	assert_int_equal(inet_pton(AF_INET, text, a), 1);
	pseudonyms_learn_prefix(p, AF_INET, a, length);
}

static unsigned common_bits(uint32_t a, uint32_t b)
{
	return a == b ? 32 : (unsigned)__builtin_clz(a ^ b);
}

static void test_subnets(void **state RH_UNUSED)
{
	static const char *const addresses[] = {
		"10.20.1.0", "10.20.1.1", "10.20.1.11", "10.20.1.12", "10.20.1.255", "10.20.2.11",
		"10.20.0.0", "10.20.255.255", "10.21.0.1", "172.16.5.4", "192.168.0.11", "192.168.7.11",
		"100.64.1.1", "8.8.8.8", "8.8.4.4", "203.0.113.77", "169.254.3.4",
		/* not private, but next to it */
		"192.0.2.2", "192.169.0.1", "172.32.0.1", "172.200.1.1", "100.1.2.3", "169.1.2.3",
	};

	for (uint64_t key = 0; key < 500; key++) {
		struct pseudonyms p = { .key = { key, ~key }, .collecting = true };
		uint32_t mapped[ARRAY_SIZE(addresses)], original[ARRAY_SIZE(addresses)];

		learn4(&p, "10.20.1.0", 24);
		learn4(&p, "10.20.0.0", 16);
		learn4(&p, "192.168.0.11", 24);
		p.collecting = false;
		for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
			mapped[i] = map4(&p, addresses[i]);
			original[i] = ntohl(inet_addr(addresses[i]));
			for (size_t j = 0; j < i; j++)
				assert_int_equal(common_bits(mapped[i], mapped[j]),
						 common_bits(original[i], original[j]));
			/* in these subnets every address has bits that may change */
			assert_true(mapped[i] != original[i]);
		}
		assert_int_equal(mapped[0] & 0xff, 0);		/* a network address stays one */
		assert_int_equal(mapped[4] & 0xff, 0xff);	/* a broadcast address stays one */
		assert_int_equal(mapped[6] & 0xffff, 0);
		assert_int_equal(mapped[7] & 0xffff, 0xffff);
		assert_int_equal(mapped[0] >> 24, 10);		/* private stays private */
		assert_int_equal(mapped[9] >> 20, 0xac1);
		assert_int_equal(mapped[10] >> 16, 0xc0a8);
		assert_int_equal(mapped[12] >> 22, (100 << 2) | 1);
		assert_int_equal(mapped[16] >> 16, 0xa9fe);
		for (size_t i = 17; i < ARRAY_SIZE(addresses); i++)
			assert_true(mapped[i] >> 20 != 0xac1 && mapped[i] >> 16 != 0xc0a8 &&
				    mapped[i] >> 16 != 0xa9fe &&
				    mapped[i] >> 22 != ((100 << 2) | 1));
		assert_int_equal(mapped[2] & 0xff, 11);		/* the host's number is kept */
		assert_int_equal(map4(&p, "127.0.0.1"), 0x7f000001);
		assert_int_equal(map4(&p, "0.0.0.0"), 0);
		assert_int_equal(map4(&p, "255.255.255.255"), 0xffffffff);
		assert_int_equal(map4(&p, "224.0.0.18"), 0xe0000012);
		pseudonyms_clear(&p);
	}
}

static struct pseudonyms *fixed(void)
{
	static struct pseudonyms p;

	p = (struct pseudonyms){ .key = { 1, 2 } };
	return &p;
}

static char *text_of(const char *text)
{
	return anonymize_text(fixed(), text, false);
}

static void expect_same(const char *text)
{
	_cleanup_free_ char *out = text_of(text);

	assert_string_equal(out, text);
}

static void expect_changed(const char *text, const char *gone)
{
	_cleanup_free_ char *out = text_of(text);

	if (strstr(out, gone))
		fail_msg("\"%s\" is still in: %s", gone, out);
	assert_int_equal(strlen(out) > 0, 1);
}

static void test_text(void **state RH_UNUSED)
{
	/* what is no name */
	expect_same("0000:3b:00.0 ice 0000:3b:00.0: PCIe 16.0 GT/s 12:34:56");
	expect_same("ICE OS Default Package version 1.3.36.0, api 1.5");
	expect_same("ice-comms-1.3.45.0 and 1.14.9.1-2.el10 and v1.2.3.4, fw: 4.40.0.1");
	expect_same("1.2.3.4.5 256.1.1.1 1.2.3 01.2.3.4 580.82.07 foo::bar std::dead_beef");
	expect_same("ff:ff:ff:ff:ff:ff 00:00:00:00:00:00 01:80:c2:00:00:02 :: ::1 127.0.0.1 ff02::1");
	expect_same("0000:0000:0000:0000 0000:0000:0000:0000:0000:0000:0000:0000");
	expect_same("srcversion 533BB7E5866E52F63B9ACCB");
	/* what is one */
	expect_changed("hw b4:96:91:d2:12:34 up", "b4:96:91");
	expect_changed("B4-96-91-D2-12-34", "D2-12-34");
	expect_changed("serial b4-96-91-ff-ff-d2-12-34", "d2-12-34");
	expect_changed("fe80:0000:0000:0000:b696:91ff:fed2:1234", "b696");
	expect_changed("b696:91ff:fed2:1234", "fed2");
	expect_changed("via 10.20.1.11 dev bond1", "10.20.1.11");
	expect_changed("10.20.1.11:4791.", "10.20.1.11");
	expect_changed("addr [2001:db8:1:2:b696:91ff:fed2:1234]:80", "2001:db8:1:2");
	expect_changed("::ffff:10.20.1.11", "10.20.1.11");
	expect_changed("root=UUID=f47ac10b-58cc-4372-a567-0e02b2c3d479 ro", "f47ac10b");
	expect_changed("GPU-f47ac10b-58cc-4372-a567-0e02b2c3d479", "0e02b2c3d479");
	expect_changed("7d3c2b1a0f9e8d7c6b5a493827160504", "7d3c2b1a");
	expect_changed("Serial Number: 8XK3402", "8XK3402");
}

/* One MAC in all of its notations, one address in two: the same replacement in each. */
static void test_notations(void **state RH_UNUSED)
{
	_cleanup_free_ char *mac = text_of("b4:96:91:d2:12:34");
	_cleanup_free_ char *guid = text_of("b696:91ff:fed2:1234");
	_cleanup_free_ char *gid = text_of("fe80:0000:0000:0000:b696:91ff:fed2:1234");
	_cleanup_free_ char *brief = text_of("fe80::b696:91ff:fed2:1234");
	_cleanup_free_ char *serial = text_of("b4-96-91-ff-ff-d2-12-34");
	_cleanup_free_ char *four = text_of("10.20.1.11");
	_cleanup_free_ char *mapped = text_of("0000:0000:0000:0000:0000:ffff:0a14:010b");
	unsigned m[6], g[8];

	assert_int_equal(sscanf(mac, "%x:%x:%x:%x:%x:%x", m, m + 1, m + 2, m + 3, m + 4, m + 5), 6);
	assert_int_equal(m[0], 2);
	_cleanup_free_ char *eui = xasprintf("%02x%02x:%02xff:fe%02x:%02x%02x", m[0] ^ 2, m[1], m[2], m[3],
					     m[4], m[5]);
	assert_string_equal(guid, eui);
	_cleanup_free_ char *full = xasprintf("fe80:0000:0000:0000:%s", eui);
	assert_string_equal(gid, full);
	uint8_t a[16], b[16];
	assert_int_equal(inet_pton(AF_INET6, brief, a), 1);
	assert_int_equal(inet_pton(AF_INET6, full, b), 1);
	assert_memory_equal(a, b, 16);
	_cleanup_free_ char *dashes = xasprintf("%02x-%02x-%02x-ff-ff-%02x-%02x-%02x", m[0], m[1], m[2], m[3],
						m[4], m[5]);
	assert_string_equal(serial, dashes);

	assert_int_equal(sscanf(four, "%u.%u.%u.%u", g, g + 1, g + 2, g + 3), 4);
	_cleanup_free_ char *expected = xasprintf("0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x", g[0], g[1],
						  g[2], g[3]);
	assert_string_equal(mapped, expected);
}

/* --- a whole recording ------------------------------------------------------------------------ */

static const uint8_t mac[6] = { 0xb4, 0x96, 0x91, 0xd2, 0x12, 0x34 };
static const uint8_t partner[6] = { 0x44, 0x38, 0x39, 0xbe, 0xef, 0x01 };
static const uint8_t address[4] = { 10, 20, 1, 11 }, gateway[4] = { 10, 20, 1, 1 },
		     network[4] = { 10, 20, 1, 0 };
static const uint64_t guid = 0xb69691fffed21234ull;
static const uint64_t image_guid = 0xb8cef60300aabbccull;	/* not made from a MAC */

static struct nlmsghdr *start(void *buf, uint16_t type, const void *header, size_t len)
{
	memset(buf, 0, 1024);
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);

	nlh->nlmsg_type = type;
	if (len)
		memcpy(mnl_nlmsg_put_extra_header(nlh, len), header, len);
	return nlh;
}

static void put_answer(json_t *document, const char *protocol, const struct nlmsghdr *request,
		       const struct nlmsghdr *reply)
{
	_cleanup_free_ char *question = base64_encode(request, request->nlmsg_len);
	_cleanup_free_ char *key = xasprintf("%s:%s", protocol, question);
	_cleanup_free_ char *messages = base64_encode(reply, reply->nlmsg_len);

	json_put(json_obj(document, "netlink"), key, json_pack("[{s:s}]", "messages", messages));
}

static void put_link(json_t *document)
{
	_Alignas(struct nlmsghdr) char request[1024], reply[1024];
	struct ifinfomsg link = { .ifi_index = 5 };
	struct nlmsghdr *nlh = start(reply, RTM_NEWLINK, &link, sizeof(link));

	mnl_attr_put_strz(nlh, IFLA_IFNAME, "enxb49691d21234");
	mnl_attr_put(nlh, IFLA_ADDRESS, 6, mac);
	struct nlattr *info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_str(nlh, IFLA_INFO_KIND, "bond");
	struct nlattr *data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
	struct nlattr *ad = mnl_attr_nest_start(nlh, IFLA_BOND_AD_INFO);
	mnl_attr_put(nlh, IFLA_BOND_AD_INFO_PARTNER_MAC, 6, partner);
	mnl_attr_nest_end(nlh, ad);
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, info);
	struct nlmsghdr *ask = start(request, RTM_GETLINK, &link, sizeof(link));
	mnl_attr_put_strz(ask, IFLA_IFNAME, "enxb49691d21234");
	put_answer(document, "route", ask, nlh);
}

static void put_addresses(json_t *document)
{
	_Alignas(struct nlmsghdr) char request[1024], reply[1024];
	struct ifaddrmsg ifa = { .ifa_family = AF_INET, .ifa_prefixlen = 24, .ifa_index = 5 };
	struct rtmsg route = { .rtm_family = AF_INET, .rtm_dst_len = 24 };
	struct nlmsghdr *nlh = start(reply, RTM_NEWADDR, &ifa, sizeof(ifa));

	mnl_attr_put(nlh, IFA_ADDRESS, 4, address);
	mnl_attr_put(nlh, IFA_LOCAL, 4, address);
	put_answer(document, "route", start(request, RTM_GETADDR, &ifa, sizeof(ifa)), nlh);
	nlh = start(reply, RTM_NEWROUTE, &route, sizeof(route));
	mnl_attr_put(nlh, RTA_DST, 4, network);
	mnl_attr_put(nlh, RTA_GATEWAY, 4, gateway);
	/* a question that holds an address must be found under the new one */
	struct nlmsghdr *ask = start(request, RTM_GETROUTE, &route, sizeof(route));
	mnl_attr_put(ask, RTA_DST, 4, address);
	put_answer(document, "route", ask, nlh);
}

static void put_devices(json_t *document)
{
	_Alignas(struct nlmsghdr) char request[1024], reply[1024];
	struct genlmsghdr genl = { .cmd = CTRL_CMD_NEWFAMILY };
	uint16_t nldev = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET);
	struct nlmsghdr *nlh = start(reply, GENL_ID_CTRL, &genl, sizeof(genl));

	mnl_attr_put_u16(nlh, CTRL_ATTR_FAMILY_ID, 21);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, DEVLINK_GENL_NAME);
	put_answer(document, "generic", start(request, GENL_ID_CTRL, &genl, sizeof(genl)), nlh);
	nlh = start(reply, 21, &genl, sizeof(genl));
	mnl_attr_put_strz(nlh, DEVLINK_ATTR_INFO_SERIAL_NUMBER, "b4-96-91-ff-ff-d2-12-34");
	mnl_attr_put_strz(nlh, DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER, "K91258-003X");
	mnl_attr_put_strz(nlh, DEVLINK_ATTR_INFO_VERSION_VALUE, "1.3.36.0");
	put_answer(document, "generic", start(request, 21, &genl, sizeof(genl)), nlh);
	nlh = start(reply, nldev, NULL, 0);
	mnl_attr_put_u64(nlh, RDMA_NLDEV_ATTR_NODE_GUID, guid);
	mnl_attr_put_u64(nlh, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, image_guid);
	put_answer(document, "rdma", start(request, nldev, NULL, 0), nlh);
}

static json_t *recording(void)
{
	json_t *d = json_pack(
		"{s:{s:[{s:s}], s:[{s:s}], s:[{s:s}], s:[{s:s}], s:[{s:s}], s:[{s:{s:s}}]},"
		" s:{s:[{s:[s,s]}]}, s:{s:[{s:s}]}, s:{s:[{s:s, s:s}]}, s:{s:[{s:i, s:s}]}}",
		"read",
		"/sys/class/net/enxb49691d21234/address", "data", "b4:96:91:d2:12:34\n",
		"/sys/class/infiniband/irdma0/ports/1/gids/1", "data",
			"0000:0000:0000:0000:0000:ffff:0a14:010b\n",
		"/proc/net/bonding/bond1", "data", "Partner Mac Address: 44:38:39:be:ef:02\n",
		"/proc/sys/kernel/random/boot_id", "data", "f47ac10b-58cc-4372-a567-0e02b2c3d479\n",
		"/sys/class/dmi/id/product_serial", "data", "8XK3402\n",
		"/sys/bus/pci/devices/0000:3b:00.0/config", "data", "base64",
			/* 00, the PCI Device Serial Number with its last byte first, 00 */
			"ADQS0v//kZa0AA==",
		"list", "/sys/class/net", "names", "enxb49691d21234", "lo",
		"uname", "self", "nodename", "gpu-node-01.rail.example.net",
		"kernel-log", "ice", "text", "gpu-node-01 ice: peer aistor.rail.example.net 10.20.1.12",
			"more", "GPU-Node-01 said hello",
		"ethtool-drvinfo", "lo", "errno", 95, "message", "GPU-NODE-01: no");

	assert_non_null(d);
	put_link(d);
	put_addresses(d);
	put_devices(d);
	return d;
}

/* All texts and all decoded bytes of the document, one behind the other. */
static void flatten(struct strbuf *out, const json_t *value, const char *key)
{
	const char *name;
	json_t *member;
	size_t i;

	if (json_is_string(value)) {
		char *bytes;
		size_t len;

		strbuf_puts(out, json_string_value(value));
		if (strcmp(key, "messages") == 0 || strcmp(key, "base64") == 0) {
			assert_int_equal(base64_decode(json_string_value(value),
						       json_string_length(value), &bytes, &len),
					 0);
			strbuf_add(out, bytes, len);
			free(bytes);
		}
		strbuf_putc(out, '\n');
	}
	json_array_foreach(value, i, member)
		flatten(out, member, key);
	json_object_foreach((json_t *)(uintptr_t)value, name, member) {
		const char *colon = strchr(name, ':');
		char *bytes;
		size_t len;

		strbuf_printf(out, "%s\n", name);
		if (colon && base64_decode(colon + 1, strlen(colon + 1), &bytes, &len) == 0) {
			strbuf_add(out, bytes, len);
			free(bytes);
		}
		flatten(out, member, name);
	}
}

static bool holds(const struct strbuf *b, const void *bytes, size_t len)
{
	return memmem(b->s, b->len, bytes, len) != NULL;
}

static void test_document(void **state RH_UNUSED)
{
	static const uint8_t mac_reversed[3] = { 0x34, 0x12, 0xd2 };
	static const char *const texts[] = { "b49691", "b4:96:91", "d2:12:34", "0a14:010b", "10.20.1.",
		"44:38:39", "f47ac10b", "8XK3402", "gpu-node-01", "GPU-Node-01", "GPU-NODE-01",
		"rail.example", "b4-96-91", "K91258" };
	_cleanup_json_ json_t *original = recording(), *document = NULL;
	_cleanup_strbuf_ struct strbuf before = {0}, after = {0};

	assert_int_equal(anonymize_document(&document, original, NULL), 0);
	flatten(&before, original, "");
	flatten(&after, document, "");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_true(holds(&before, texts[i], strlen(texts[i])));
		if (holds(&after, texts[i], strlen(texts[i])))
			fail_msg("%s is still there", texts[i]);
	}
	assert_true(holds(&before, mac, 6) && !holds(&after, mac, 6));
	assert_true(holds(&before, partner, 6) && !holds(&after, partner, 6));
	assert_true(holds(&before, address, 4) && !holds(&after, address, 4));
	assert_true(holds(&before, gateway, 4) && !holds(&after, gateway, 4));
	assert_true(holds(&before, network, 4) && !holds(&after, network, 4));
	assert_true(holds(&before, &guid, 8) && !holds(&after, &guid, 8));
	assert_true(holds(&before, &image_guid, 8) && !holds(&after, &image_guid, 8));
	assert_true(holds(&before, mac_reversed, 3) && !holds(&after, mac_reversed, 3));
	/* what is no name stays */
	assert_true(holds(&after, "1.3.36.0", 8));
	assert_true(holds(&after, "irdma0", 6));
	assert_true(holds(&after, "Partner Mac Address", 19));
}

static const char *only_answer(json_t *document, const char *door, const char *key,
			       const char *member)
{
	json_t *answers = json_object_get(json_object_get(document, door), key);

	return json_get_string(json_array_get(answers, 0), member, "");
}

/* The same name in the names list, the path below it, and the netlink question. */
static void test_relations(void **state RH_UNUSED)
{
	_cleanup_json_ json_t *original = recording(), *document = NULL;
	_cleanup_strbuf_ struct strbuf flat = {0};
	json_t *names;

	assert_int_equal(anonymize_document(&document, original, NULL), 0);
	flatten(&flat, document, "");
	names = json_at(document, "/list/%s/0/names", "/sys/class/net");
	const char *link = json_string_value(json_array_get(names, 0));
	assert_int_equal(strncmp(link, "enx02", 5), 0);
	_cleanup_free_ char *path = xasprintf("/sys/class/net/%s/address", link);
	const char *text = only_answer(document, "read", path, "data");
	unsigned m[6];
	assert_int_equal(sscanf(text, "%x:%x:%x:%x:%x:%x", m, m + 1, m + 2, m + 3, m + 4, m + 5), 6);
	_cleanup_free_ char *same = xasprintf("enx%02x%02x%02x%02x%02x%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
	assert_string_equal(link, same);

	/* in the netlink bytes: as the link's name in question and answer, as address, as GUID */
	uint8_t bytes[6], serial[8];
	for (size_t i = 0; i < 6; i++)
		bytes[i] = (uint8_t)m[i];
	assert_true(holds(&flat, bytes, 6));
	uint64_t eui = (uint64_t)(m[0] ^ 2) << 56 | (uint64_t)m[1] << 48 | (uint64_t)m[2] << 40 |
		       0xfffeull << 24 | m[3] << 16 | m[4] << 8 | m[5];
	assert_true(holds(&flat, &eui, 8));
	serial[0] = bytes[5];
	serial[1] = bytes[4];
	serial[2] = bytes[3];
	serial[3] = serial[4] = 0xff;
	serial[5] = bytes[2];
	serial[6] = bytes[1];
	serial[7] = bytes[0];
	assert_true(holds(&flat, serial, 8));
	_cleanup_free_ char *nul_name = xasprintf("%s", link);
	const char *first = memmem(flat.s, flat.len, nul_name, strlen(nul_name) + 1);
	assert_non_null(first);
	assert_non_null(memmem(first + 1, flat.len - (size_t)(first + 1 - flat.s), nul_name,
			       strlen(nul_name) + 1));

	/* the GID holds the address that netlink holds */
	const char *gid = only_answer(document, "read", "/sys/class/infiniband/irdma0/ports/1/gids/1", "data");
	unsigned high, low;
	assert_int_equal(sscanf(gid, "0000:0000:0000:0000:0000:ffff:%4x:%4x", &high, &low), 2);
	uint8_t ip[4] = { (uint8_t)(high >> 8), (uint8_t)high, (uint8_t)(low >> 8), (uint8_t)low };
	assert_true(holds(&flat, ip, 4));
	assert_int_equal(ip[0], 10);
	assert_int_equal(ip[3], 11);

	/* short name, other case and full name agree; two hosts share their domain */
	const char *node = only_answer(document, "uname", "self", "nodename");
	const char *line = only_answer(document, "kernel-log", "ice", "text");
	const char *dot = strchr(node, '.');
	assert_non_null(dot);
	assert_int_equal(strncmp(line, node, (size_t)(dot - node)), 0);
	assert_non_null(strstr(line, dot));
}

/* The machine of this test, through all the way to the file. */
static void test_file(void **state)
{
	struct tree *t = *state;
	struct host_options options = { .record = true };
	struct host_record_options how = { .anonymize = true, .note = "a note" };
	_cleanup_free_ char *path = xasprintf("%s/r.gz", t->path), *text = xmalloc(1 << 20), *mac_text = NULL;
	_cleanup_error_ struct error err = {0};
	_cleanup_(host) struct host *host = NULL, *replay = NULL;
	_cleanup_json_ json_t *names = NULL, *replayed = NULL;
	static const char address_text[] = "52:54:00:ab:cd:ef\n";

	tree_write(t, "address", address_text, sizeof(address_text) - 1);
	assert_int_equal(host_open(&host, &options, &err), 0);
	assert_int_equal(host_uname(host, &names, &err), 0);
	mac_text = host_read_text(host, &err, "%s/address", t->path);
	assert_int_equal(host_record_write(host, path, &how, &err), 0);

	gzFile gz = gzopen(path, "rb");
	assert_non_null(gz);
	int n = gzread(gz, text, (1 << 20) - 1);
	gzclose(gz);
	assert_true(n > 0);
	text[n] = '\0';
	assert_null(strstr(text, mac_text));
	assert_non_null(strstr(text, "\"anonymized\": true"));
	assert_non_null(strstr(text, "\"note\": \"a note\""));
	options = (struct host_options){ .replay = path };
	assert_int_equal(host_open(&replay, &options, &err), 0);
	assert_int_equal(host_uname(replay, &replayed, &err), 0);
	if (strcmp(json_get_string(names, "nodename", ""), "localhost") != 0)
		assert_string_not_equal(json_get_string(replayed, "nodename", ""),
					json_get_string(names, "nodename", ""));
	assert_string_equal(json_get_string(replayed, "release", ""), json_get_string(names, "release", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_siphash),
		cmocka_unit_test(test_subnets),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_notations),
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_relations),
		cmocka_unit_test_setup_teardown(test_file, tree_setup, tree_teardown),
	};

	return cmocka_run_group_tests_name("host/anonymize", tests, NULL, NULL);
}
