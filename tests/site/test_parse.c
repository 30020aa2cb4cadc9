/* SPDX-License-Identifier: Apache-2.0 */
/* Every kind of bad site file: the whole message, with line, column and hint. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "site/site.h"

#define HEAD "schema: railhead.site/1\nname: x\n"
/* For cases about something else than nodes; stands in line 3. */
#define NODES HEAD "nodes: {a: {}}\n"

struct bad {
	const char *text;
	const char *message;
};

static void check_all(const struct bad *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		_cleanup_error_ struct error err = {0};
		_cleanup_site_ struct site *site = NULL;

		if (site_parse(&site, cases[i].text, strlen(cases[i].text), "s.yaml", &err) != -EINVAL)
			fail_msg("accepted: %s", cases[i].text);
		assert_null(site);
		assert_string_equal(error_text(&err), cases[i].message);
	}
}

static void test_not_yaml(void **state RH_UNUSED)
{
	static const struct bad cases[] = {
		{ "", "s.yaml:1:1: the file is empty; a site file begins with 'schema: railhead.site/1'" },
		{ "# nothing\n", "s.yaml:1:1: the file is empty; a site file begins with 'schema: railhead.site/1'" },
		{ "hello\n", "s.yaml:1:1: expected a map with the keys of a site, found 'hello'" },
		{ "- a\n", "s.yaml:1:1: expected a map with the keys of a site, found a list" },
		{ HEAD "nodes:\n  a:\n\tlinks: {}\n",
		  "s.yaml:5:1: found character that cannot start any token while scanning for the next token; "
		  "a tab cannot indent in YAML" },
		{ HEAD "nodes:\n  a: b: c\n",
		  "s.yaml:4:7: mapping values are not allowed in this context; a value with ': ' in it needs "
		  "quotes, and keys of one map begin in one column" },
		{ HEAD "nodes: {a: {}\nqos: 1\n",
		  "s.yaml:4:1: did not find expected ',' or '}' (while parsing a flow mapping that begins in "
		  "line 3)" },
		{ HEAD "nodes:\n  a: {kernel: \"abc\n",
		  "s.yaml:5:1: found unexpected end of stream (while scanning a quoted scalar that begins in "
		  "line 4)" },
		{ HEAD "nodes: {\xc3\xa9: {}, \xc3\xa9\xff: {}}\n", "s.yaml:3:17: byte 0xff is not UTF-8" },
		{ HEAD "nodes: {a: {kernel: \xe2\x82", "s.yaml:3:21: byte 0xe2 is not UTF-8" },
		{ "\xff\xfes\n", "s.yaml:1:1: byte 0xff is not UTF-8" },
		{ HEAD "nodes: \x01\n", "s.yaml:3:8: control characters are not allowed" },
	};

	check_all(cases, ARRAY_SIZE(cases));
}

static void test_yaml_that_a_site_does_not_use(void **state RH_UNUSED)
{
	static const struct bad cases[] = {
		{ NODES "---\na: 1\n", "s.yaml:4:1: a second document; a site file holds one" },
		{ HEAD "nodes: {a: !python/object {}}\n",
		  "s.yaml:3:12: tag '!python/object' is not used in a site file" },
		{ HEAD "nodes: {a: {kernel: ! x}}\n", "s.yaml:3:21: tag '!' is not used in a site file" },
		{ HEAD "nodes: &n\n  a: *n\n", "s.yaml:4:6: alias 'n' stands inside its own anchor (line 3)" },
		{ HEAD "nodes:\n  a: *n\n", "s.yaml:4:6: alias 'n' has no anchor before it" },
		{ HEAD "nodes: {a: &x {}, b: &x {}}\n",
		  "s.yaml:3:22: anchor 'x' stands twice (first in line 3)" },
		{ HEAD "nodes: {? [a] : {}}\n", "s.yaml:3:11: a key must be plain text" },
		{ HEAD "nodes: {&k a: {}, b: {*k : x}}\n", "s.yaml:3:23: a key must be plain text" },
		{ HEAD "nodes: {a: {<<: {}}}\n",
		  "s.yaml:3:13: nodes/a: a site file has no merge keys; use a profile" },
		{ HEAD "nodes: {a: {kernel: \"a\\x1b[31m\"}}\n",
		  "s.yaml:3:21: control character 0x1b in a value" },
		{ HEAD "nodes: {a: {kernel: \"a\\x9b31m\"}}\n",
		  "s.yaml:3:21: control character 0x9b in a value" },
		{ HEAD "nodes: {a: {kernel: \"a\\0\"}}\n", "s.yaml:3:21: control character 0x00 in a value" },
		{ HEAD "nodes:\n  a:\n    kernel: |\n      x\n",
		  "s.yaml:5:13: text of several lines; a value is one line" },
	};

	check_all(cases, ARRAY_SIZE(cases));
}

static void test_keys(void **state RH_UNUSED)
{
	static const struct bad cases[] = {
		{ HEAD "nodes:\n  a:\n    links: {e0: {adress: [10.0.0.1/8]}}\n",
		  "s.yaml:5:18: nodes/a/links/e0: unknown key 'adress'; did you mean 'addresses'?" },
		{ NODES "gpu_operator: {driver: {kernelModuleType: auto}}\n",
		  "s.yaml:4:25: gpu_operator/driver: unknown key 'kernelModuleType'; did you mean "
		  "'kernel_module_type'?" },
		{ NODES "switch: {ecn: {colour: red}}\n",
		  "s.yaml:4:16: switch/ecn: unknown key 'colour'; known here: min, max, probability" },
		{ HEAD "nodes:\n  a: {}\n  b: {}\n  a: {}\n",
		  "s.yaml:6:3: key 'a' stands twice (first in line 4)" },
		{ NODES "name: y\n", "s.yaml:4:1: key 'name' stands twice (first in line 2)" },
		{ "schema: railhead.site/1\n",
		  "s.yaml:1:1: key 'name' is missing\ns.yaml:1:1: key 'nodes' is missing" },
		{ "name: x\nnodes: {a: {}}\n", "s.yaml:1:1: key 'schema' is missing" },
		/* one error, whatever else the other version has */
		{ "schema: railhead.site/9\nnewkey: {}\n",
		  "s.yaml:1:9: schema: 'railhead.site/9' is not a schema that this railhead reads; did you mean "
		  "'railhead.site/1'?" },
		{ HEAD "nodes: {a: {labels: {kubernetes.io/hostname: x}}}\n",
		  "s.yaml:3:22: nodes/a/labels: 'kubernetes.io/hostname' is not a label name: "
		  "kubelet sets this label itself" },
		{ HEAD "nodes:\n  a:\n    bonds: {bond0: {}}\n    vlans: {v: {}}\n    gpus: {B300: {}}\n",
		  "s.yaml:5:20: nodes/a/bonds/bond0: key 'mode' is missing\n"
		  "s.yaml:5:20: nodes/a/bonds/bond0: key 'ports' is missing\n"
		  "s.yaml:6:16: nodes/a/vlans/v: key 'id' is missing\n"
		  "s.yaml:6:16: nodes/a/vlans/v: key 'link' is missing\n"
		  "s.yaml:7:18: nodes/a/gpus/B300: key 'count' is missing" },
	};

	check_all(cases, ARRAY_SIZE(cases));
}

static void test_types(void **state RH_UNUSED)
{
	static const struct bad cases[] = {
		{ HEAD "nodes: {a: {roles: gpu}}\n",
		  "s.yaml:3:20: nodes/a/roles: expected a list of roles, found 'gpu'" },
		{ HEAD "nodes: {a: {roles: [gpus]}}\n",
		  "s.yaml:3:21: nodes/a/roles: 'gpus' is not a role; did you mean 'gpu'?" },
		{ HEAD "nodes: {a: {os: [rhel]}}\n",
		  "s.yaml:3:17: nodes/a/os: expected a map with the keys of an operating system, found a list" },
		{ HEAD "nodes: {a: {kernel: {}}}\n", "s.yaml:3:21: nodes/a/kernel: expected a pattern of kernel releases, found a map" },
		{ HEAD "nodes:\n  a:\n",
		  "s.yaml:4:5: nodes/a: no value; expected a map with the keys of a node ({} when it is empty)" },
		{ HEAD "nodes: {a: {kernel: ~}}\n", "s.yaml:3:21: nodes/a/kernel: no value; expected a pattern of kernel releases" },
		{ HEAD "nodes: {a: {kernel: ''}}\n", "s.yaml:3:21: nodes/a/kernel: '' is not a pattern of kernel releases: a pattern of `uname -r`: letters, digits and any of . _ + ~ - * ? [ ]" },
		{ HEAD "nodes: {a: {gpus: {B300: {count: '8'}}}}\n",
		  "s.yaml:3:34: nodes/a/gpus/B300/count: expected a number of GPUs, found '8'" },
		{ HEAD "nodes: {a: {gpus: {B300: {count: 0x8}}}}\n",
		  "s.yaml:3:34: nodes/a/gpus/B300/count: expected a number of GPUs, found '0x8'" },
		{ NODES "qos: {pfc: yes}\n", "s.yaml:4:12: qos/pfc: expected true or false, found 'yes'" },
		{ NODES "qos: {dscp: 96}\n",
		  "s.yaml:4:13: qos/dscp: 96 is out of range, expected a DSCP from 0 to 63; the DSCP is the upper "
		  "six bits of the IP ToS byte: ToS 96 is DSCP 24" },
		{ NODES "qos: {traffic_class: 24}\n",
		  "s.yaml:4:22: qos/traffic_class: 24 is out of range, expected a traffic class from 0 to 7; this "
		  "is the queue group of the port, not the IP ToS byte" },
		{ NODES "qos: {bandwidth: 0%}\n",
		  "s.yaml:4:18: qos/bandwidth: 0% is out of range, expected a share from 1% to 100%" },
		{ NODES "qos: {prio_tc: {8: 1}}\n",
		  "s.yaml:4:17: qos/prio_tc: expected a key from 0 to 7, found '8'" },
		{ NODES "qos: {dscp: 99999999999999999999}\n",
		  "s.yaml:4:13: qos/dscp: expected a DSCP from 0 to 63, found '99999999999999999999'" },
		{ NODES "registry: {host: https://r.example.net}\n",
		  "s.yaml:4:18: registry/host: 'https://r.example.net' is not a host: without a scheme here: "
		  "registry.example.net:5000" },
		{ NODES "storage: {endpoint: 10.0.0.1:9000}\n",
		  "s.yaml:4:21: storage/endpoint: '10.0.0.1:9000' is not a URL: write it with its scheme: "
		  "https://host/path" },
		{ NODES "storage: {kind: ceph}\n",
		  "s.yaml:4:17: storage/kind: 'ceph' is not a kind of store; one of aistor, minio, other" },
	};

	check_all(cases, ARRAY_SIZE(cases));
}

/* What a link may say, one wrong value each; the value stands in line 3, column 29. */
static void test_link_values(void **state RH_UNUSED)
{
	static const struct {
		const char *value, *message;
	} cases[] = {
		{ "mtu: big", "/mtu: expected an MTU in bytes (68 to 65536), found 'big'" },
		{ "mtu: 67", "/mtu: 67 is out of range, expected an MTU in bytes (68 to 65536)" },
		{ "mtu: 9000.0", "/mtu: expected an MTU in bytes (68 to 65536), found '9000.0'" },
		{ "mtu: -1", "/mtu: -1 is out of range, expected an MTU in bytes (68 to 65536)" },
		{ "speed: 100", "/speed: expected a speed with its unit, like 100G or 25000M, found '100'" },
		{ "speed: 100Gb", "/speed: expected a speed with its unit, like 100G or 25000M, found '100Gb'" },
		{ "speed: 9223372036854775807G",
		  "/speed: expected a speed with its unit, like 100G or 25000M, found '9223372036854775807G'" },
		{ "pci: 1b:00.0",
		  "/pci: '1b:00.0' is not a PCI address: write it with its domain: 0000:1b:00.0" },
		{ "pci: 0000:1B:00.0", "/pci: '0000:1B:00.0' is not a PCI address: write it as in "
				       "/sys/bus/pci/devices, in lower case: 0000:1b:00.0" },
		{ "pci: 0000:1b:00.8", "/pci: '0000:1b:00.8' is not a PCI address: write it as in "
				       "/sys/bus/pci/devices, in lower case: 0000:1b:00.0" },
		{ "addresses: 10.0.0.1/8", "/addresses: expected a list of addresses with prefix length, found "
					   "'10.0.0.1/8'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = xasprintf(HEAD "nodes: {a: {links: {e0: {%s}}}}\n", cases[i].value);
		size_t column = 26 + (size_t)(strchr(cases[i].value, ' ') + 1 - cases[i].value);
		_cleanup_free_ char *message =
			xasprintf("s.yaml:3:%zu: nodes/a/links/e0%s", column, cases[i].message);
		const struct bad bad = { text, message };

		check_all(&bad, 1);
	}
}

static void test_addresses_and_names(void **state RH_UNUSED)
{
	static const struct bad cases[] = {
		{ HEAD "nodes: {a: {links: {e0: {addresses: [10.0.0.1]}}}}\n",
		  "s.yaml:3:38: nodes/a/links/e0/addresses: '10.0.0.1' is not an address with its prefix length: "
		  "its prefix length is missing: 10.10.1.11/24" },
		{ HEAD "nodes: {a: {links: {e0: {addresses: [10.0.0.1/33]}}}}\n",
		  "s.yaml:3:38: nodes/a/links/e0/addresses: '10.0.0.1/33' is not an address with its prefix "
		  "length: the prefix length is out of range" },
		{ HEAD "nodes: {a: {links: {e0: {addresses: [10.0.0.256/8]}}}}\n",
		  "s.yaml:3:38: nodes/a/links/e0/addresses: '10.0.0.256/8' is not an address with its prefix "
		  "length: write it as 10.10.1.11/24 or fd00::11/64" },
		{ HEAD "nodes: {a: {links: {e0: {}}, rdma: {e0: {address: 10.0.0.1/8}}}}\n",
		  "s.yaml:3:51: nodes/a/rdma/e0/address: '10.0.0.1/8' is not an address: without prefix length "
		  "here: 10.10.1.11" },
		{ HEAD "nodes: {a: {links: {this-is-too-long: {}}}}\n",
		  "s.yaml:3:21: nodes/a/links: 'this-is-too-long' is not a link name: 1 to 15 characters, as the "
		  "kernel allows" },
		{ HEAD "nodes: {a: {links: {e/0: {}}}}\n",
		  "s.yaml:3:21: nodes/a/links: 'e/0' is not a link name: no '/', ':' or white space, as the "
		  "kernel allows" },
		{ HEAD "nodes: {Node_1: {}}\n",
		  "s.yaml:3:9: nodes: 'Node_1' is not a node name: lower-case letters, digits, '-' and '.', as "
		  "in Kubernetes" },
		{ HEAD "nodes: {-a: {}}\n",
		  "s.yaml:3:9: nodes: '-a' is not a node name: must begin and end with a letter or digit" },
		{ HEAD "nodes: {a: {links: {e0: {}}, rdma: {e0: {roce_mtu: 9000}}}}\n",
		  "s.yaml:3:52: nodes/a/rdma/e0/roce_mtu: expected a RoCE MTU: 256, 512, 1024, 2048 or 4096, "
		  "found '9000'" },
		{ HEAD "nodes: {a: {memlock: 64K}}\n",
		  "s.yaml:3:22: nodes/a/memlock: expected unlimited, or a size like 64KiB or 1GiB, found '64K'" },
		{ HEAD "nodes: {a: {gpus: {B300: {count: 8, pci_id: 10DE:3182}}}}\n",
		  "s.yaml:3:45: nodes/a/gpus/B300/pci_id: '10DE:3182' is not a PCI id: write vendor:device in "
		  "lower-case hex: 10de:3182" },
	};

	check_all(cases, ARRAY_SIZE(cases));
}

static void test_references(void **state RH_UNUSED)
{
	static const struct bad cases[] = {
		{ HEAD "nodes:\n  a:\n    links: {ens1f0: {}}\n"
		       "    bonds: {bond0: {mode: 802.3ad, ports: [ens1f0, ens1f1]}}\n",
		  "s.yaml:6:52: nodes/a/bonds/bond0: port 'ens1f1' is not declared in links; did you mean "
		  "'ens1f0'?" },
		{ HEAD "nodes:\n  a:\n    links: {e0: {}}\n    bonds:\n"
		       "      bond0: {mode: 802.3ad, ports: [e0]}\n      bond1: {mode: 802.3ad, ports: [e0]}\n",
		  "s.yaml:8:38: nodes/a/bonds/bond1: port 'e0' is in bond 'bond0' already" },
		{ HEAD "nodes:\n  a:\n    links: {e0: {}}\n    bonds: {bond0: {mode: 802.3ad, ports: [e0, e0]}}\n",
		  "s.yaml:6:48: nodes/a/bonds/bond0: port 'e0' is in bond 'bond0' already" },
		{ HEAD "nodes: {a: {bonds: {b: {mode: 802.3ad, ports: []}}}}\n",
		  "s.yaml:3:47: nodes/a/bonds/b: a bond without ports" },
		{ HEAD "nodes:\n  a:\n    links: {e0: {}}\n"
		       "    bonds: {b: {mode: active-backup, ports: [e0], lacp_rate: fast}}\n",
		  "s.yaml:6:62: nodes/a/bonds/b: lacp_rate belongs to mode 802.3ad, this one is active-backup" },
		{ HEAD "nodes: {a: {links: {e0: {}}, vlans: {v1: {link: e1, id: 1}}}}\n",
		  "s.yaml:3:49: nodes/a/vlans/v1: link 'e1' is not declared; did you mean 'e0'?" },
		{ HEAD "nodes: {a: {vlans: {v1: {link: v1, id: 1}}}}\n",
		  "s.yaml:3:32: nodes/a/vlans/v1: the VLAN stands on itself" },
		{ HEAD "nodes: {a: {vlans: {v1: {link: v2, id: 1}, v2: {link: v1, id: 2}}}}\n",
		  "s.yaml:3:32: nodes/a/vlans/v1: the VLAN stands on itself\n"
		  "s.yaml:3:55: nodes/a/vlans/v2: the VLAN stands on itself" },
		/* the ninth; and one that leads into a circle without being in it */
		{ HEAD "nodes:\n  a:\n    links: {e: {}}\n    vlans:\n      v0: {link: e, id: 1}\n"
		       "      v1: {link: v0, id: 1}\n      v2: {link: v1, id: 1}\n"
		       "      v3: {link: v2, id: 1}\n      v4: {link: v3, id: 1}\n"
		       "      v5: {link: v4, id: 1}\n      v6: {link: v5, id: 1}\n"
		       "      v7: {link: v6, id: 1}\n      v8: {link: v7, id: 1}\n",
		  "s.yaml:15:18: nodes/a/vlans/v8: more than 8 VLANs on one another" },
		{ HEAD "nodes: {a: {vlans: {v0: {link: v1, id: 1}, v1: {link: v1, id: 2}}}}\n",
		  "s.yaml:3:32: nodes/a/vlans/v0: more than 8 VLANs on one another\n"
		  "s.yaml:3:55: nodes/a/vlans/v1: the VLAN stands on itself" },
		{ HEAD "nodes: {a: {links: {bond1: {}}, rdma: {bond11: {}}}}\n",
		  "s.yaml:3:40: nodes/a/rdma: link 'bond11' is not declared; did you mean 'bond1'?" },
		{ HEAD "nodes:\n  a:\n    links: {e0: {addresses: [10.0.0.1/8]}}\n"
		       "    rdma: {e0: {address: 10.0.0.2}}\n",
		  "s.yaml:6:26: nodes/a/rdma/e0: address 10.0.0.2 is none of the link's (line 5)" },
		{ HEAD "nodes:\n  a: {links: {e0: {addresses: [fd00::1/64]}}}\n"
		       "  b: {links: {e0: {addresses: [\"fd00:0::01/64\"]}}}\n",
		  "s.yaml:5:32: nodes/b/links/e0: address fd00::1 belongs to a/e0 (line 4) already" },
		{ HEAD "nodes:\n  a: {links: {e0: {addresses: [10.0.0.1/8]}}}\n"
		       "  b: {links: {e0: {}}, rdma: {e0: {address: 10.0.0.1}}}\n",
		  "s.yaml:5:45: nodes/b/rdma/e0: address 10.0.0.1 belongs to a/e0 (line 4) already" },
		{ HEAD "nodes:\n  a: {links: {e0: {}}, vlans: {e0: {link: e0, id: 5}}}\n",
		  "s.yaml:4:32: nodes/a/vlans: 'e0' is declared as another kind of link in line 4\n"
		  "s.yaml:4:43: nodes/a/vlans/e0: the VLAN stands on itself" },
		{ HEAD "nodes:\n  a: {links: {e0: {pci: 0000:01:00.0}, e1: {pci: 0000:01:00.0}}}\n",
		  "s.yaml:4:50: nodes/a/links/e1: 0000:01:00.0 is the port of 'e0' already" },
		{ NODES "storage: {nodes: [a, aistor-1]}\nkubernetes: {control_plane: [cp]}\n",
		  "s.yaml:4:22: storage/nodes: there is no node 'aistor-1'\n"
		  "s.yaml:5:30: kubernetes/control_plane: there is no node 'cp'" },
	};

	check_all(cases, ARRAY_SIZE(cases));
}

static void test_networks(void **state RH_UNUSED)
{
	static const struct bad cases[] = {
		{ HEAD "nodes:\n  a: {links: {e: {addresses: [10.0.0.1/24]}}}\n  b: {node_ip: 10.0.0.1}\n",
		  "s.yaml:5:16: nodes/b/node_ip: 10.0.0.1 is an address of a" },
		{ HEAD "nodes:\n  a: {node_ip: \"fd00:0::1\"}\n  b: {node_ip: \"fd00::1\"}\n",
		  "s.yaml:5:16: nodes/b/node_ip: fd00::1 belongs to a (line 4) already" },
		{ HEAD "nodes:\n  a: {ssh: {address: h}}\n  b: {ssh: {address: h, port: 2222}}\n"
		       "  c: {ssh: {address: h, port: 22}}\n",
		  "s.yaml:6:22: nodes/c/ssh/address: the login at h belongs to a (line 4) already" },
		{ HEAD "nodes:\n  a: {links: {e: {addresses: [10.0.0.1/24, \"fd00::1/64\"], gateway: 10.0.1.9}}}\n",
		  "s.yaml:4:68: nodes/a/links/e: gateway 10.0.1.9 is in none of the link's networks" },
		/* the mistake is in the profile: told once, for the first node that has it */
		{ HEAD "profiles:\n  p: {links: {e: {gateway: 10.0.1.9}}}\nnodes:\n"
		       "  a: {profile: p, links: {e: {addresses: [10.0.0.1/24]}}}\n"
		       "  b: {profile: p, links: {e: {addresses: [10.0.0.2/24]}}}\n",
		  "s.yaml:4:28: nodes/a/links/e: gateway 10.0.1.9 is in none of the link's networks" },
		{ HEAD "nodes:\n  a: {links: {e: {addresses: [10.0.0.1/24], gateway: 10.0.0.1}}}\n",
		  "s.yaml:4:54: nodes/a/links/e: gateway 10.0.0.1 is the link's own address" },
		{ HEAD "nodes:\n  a: {links: {e: {addresses: [\"fd00::1/60\"], gateway: \"fd00:0:0:10::1\"}}}\n",
		  "s.yaml:4:55: nodes/a/links/e: gateway fd00:0:0:10::1 is in none of the link's networks" },
		{ HEAD "nodes:\n  a:\n    links:\n      e:\n        addresses: [10.0.0.1/24]\n        routes:\n"
		       "          - {to: 10.1.0.0/16, via: 10.2.0.1}\n          - {to: 10.1.0.0/16, via: \"fd00::9\"}\n",
		  "s.yaml:9:36: nodes/a/links/e: next hop 10.2.0.1 is in none of the link's networks\n"
		  "s.yaml:10:36: nodes/a/links/e: the next hop fd00::9 is of another family than 10.1.0.0/16" },
		{ HEAD "nodes:\n  a:\n    links:\n      e: {addresses: [10.0.0.1/24], gateway: 10.0.0.9}\n"
		       "      f: {addresses: [10.1.0.1/24], routes: [{to: 0.0.0.0/0, via: 10.1.0.9}]}\n",
		  "s.yaml:7:67: nodes/a/links/f: the node has a default route of IPv4 already, by 10.0.0.9 (line 6)" },
		{ HEAD "nodes:\n  a: {links: {e: {addresses: [10.0.1.0/23, 10.0.0.0/23, 10.0.1.255/23, 10.9.0.0/31]}}}\n",
		  "s.yaml:4:44: nodes/a/links/e: 10.0.0.0/23 is the name of its network\n"
		  "s.yaml:4:57: nodes/a/links/e: 10.0.1.255/23 is the broadcast address of its network" },
		{ HEAD "nodes:\n  a:\n    links: {e: {mtu: 1500}, f: {}}\n    vlans:\n      v: {link: e, id: 5, mtu: 9000}\n"
		       "      w: {link: f, id: 5}\n      x: {link: e, id: 5}\n",
		  "s.yaml:7:32: nodes/a/vlans/v: MTU 9000 is larger than that of 'e', 1500 (line 5)\n"
		  "s.yaml:9:24: nodes/a/vlans/x: VLAN 5 of 'e' is 'v' already" },
		{ HEAD "nodes:\n  a:\n    links: {e: {mtu: 1500, addresses: [10.0.0.1/24]}, f: {}}\n"
		       "    bonds: {b: {mode: 802.3ad, ports: [e, f], mtu: 9000}}\n",
		  "s.yaml:5:22: nodes/a/links/e: MTU 1500 is not that of bond 'b', 9000 (line 6), which its ports "
		  "take\n"
		  "s.yaml:5:39: nodes/a/links/e: a port of bond 'b' has no addresses of its own" },
		{ HEAD "nodes:\n  a: {links: {e: {switch: s1, switch_port: p1}}}\n"
		       "  b: {links: {e: {switch: s1, switch_port: p1}, f: {switch: s2, switch_port: p1}}}\n",
		  "s.yaml:5:44: nodes/b/links/e: port p1 of s1 belongs to a/e (line 4) already" },
		{ HEAD "nodes:\n  a: {links: {e: {switch_port: p1}, f: {switch_port: p1}}}\nswitch: {names: [s1]}\n",
		  "s.yaml:4:54: nodes/a/links/f: port p1 of s1 belongs to a/e (line 4) already" },
		{ HEAD "nodes:\n  a: {links: {e: {switch: s3}}}\nswitch: {names: [s1, s2, s1]}\n",
		  "s.yaml:5:26: switch/names: 's1' stands here already" },
		{ HEAD "nodes:\n  a: {links: {e: {switch: s3}}}\nswitch: {names: [s1, s2]}\n",
		  "s.yaml:4:27: nodes/a/links/e: switch 's3' is not one of switch/names (line 5)" },
		{ NODES "kubernetes: {control_plane: [a, a]}\n",
		  "s.yaml:4:33: kubernetes/control_plane: 'a' stands here already" },
	};

	check_all(cases, ARRAY_SIZE(cases));
}

/* Looks odd and works: several families, a gateway of IPv6's link scope, an address without a network. */
static void test_networks_that_work(void **state RH_UNUSED)
{
	static const char text[] = HEAD
		"nodes:\n"
		"  a:\n"
		"    node_ip: 10.0.0.1\n"
		"    links:\n"
		"      e: {addresses: [10.0.0.1/24, \"fd00::1/64\"], gateway: 10.0.0.9}\n"
		"      f: {addresses: [\"fd01::1/64\"], gateway: \"fe80::1\"}\n"
		"      g: {addresses: [192.0.2.1/32], routes: [{to: 10.8.0.0/16, via: 198.51.100.1}]}\n"
		"      h: {routes: [{to: 10.9.0.0/16, via: 198.51.100.2}]}\n"
		"      i: {switch_port: p1}\n"
		"      j: {switch_port: p1}\n";
	_cleanup_error_ struct error err = {0};
	_cleanup_site_ struct site *site = NULL;

	assert_int_equal(site_parse(&site, text, strlen(text), "s.yaml", &err), 0);
}

static void test_profiles(void **state RH_UNUSED)
{
	static const struct bad cases[] = {
		{ HEAD "profiles: {gpu-node: {}}\nnodes: {a: {profile: gpu-nod}}\n",
		  "s.yaml:4:22: nodes/a: there is no profile 'gpu-nod'; did you mean 'gpu-node'?" },
		{ HEAD "nodes: {a: {profile: p}}\n", "s.yaml:3:22: nodes/a: there is no profile 'p'" },
		{ HEAD "profiles:\n  p: {extends: p}\nnodes: {a: {profile: p}}\n",
		  "s.yaml:4:16: profiles/p: the profile extends itself through 'p'" },
		{ HEAD "profiles:\n  p: {extends: q}\n  q: {extends: p}\nnodes: {a: {}}\n",
		  "s.yaml:5:16: profiles/q: the profile extends itself through 'p'" },
		/* the mistake is in the profile: told once, for the first node that has it */
		{ HEAD "profiles:\n  p: {bonds: {b: {mode: 802.3ad, ports: [e0]}}}\n"
		       "nodes: {a: {profile: p}, b: {profile: p}}\n",
		  "s.yaml:4:42: nodes/a/bonds/b: port 'e0' is not declared in links" },
	};

	check_all(cases, ARRAY_SIZE(cases));
}

static void test_file_errors(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	struct site *site;

	assert_int_equal(site_load(&site, "/nonexistent/site.yaml", &err), -ENOENT);
	assert_string_equal(error_text(&err), "/nonexistent/site.yaml: No such file or directory");
	assert_null(site);
	assert_int_equal(site_load(&site, "/", &err), -EISDIR);
	assert_string_equal(error_text(&err), "/: Is a directory");
	/* without an error object only the code travels */
	assert_int_equal(site_parse(&site, "", 0, "s.yaml", NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_not_yaml),
		cmocka_unit_test(test_yaml_that_a_site_does_not_use),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_link_values),
		cmocka_unit_test(test_addresses_and_names),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_networks),
		cmocka_unit_test(test_networks_that_work),
		cmocka_unit_test(test_profiles),
		cmocka_unit_test(test_file_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
