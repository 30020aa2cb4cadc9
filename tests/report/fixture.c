/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "judge/gate.h"

static const struct gate gates[] = {
	{
		.id = "os.release", .phase = 0, .level = 1, .scope = GATE_NODE,
		.title = "operating system release",
		.proves = "The node runs the release that the site declares.",
		.why = "Drivers, kernel modules and the installer are qualified by release.",
		.fix = "Reinstall, or correct site.yaml:\n\n    os: {id: rhel, version: \"10.2\"}",
		.obtain = "railhead snapshot",
		.source = "os-release(5)",
	},
	{
		.id = "os.memlock", .phase = 5, .level = 1, .scope = GATE_NODE,
		.needs = {"os.release"}, .title = "locked memory",
	},
	{
		.id = "net.bond", .phase = 2, .level = 2, .scope = GATE_BOND,
		.title = "bond mode, LACP and its ports",
	},
	{
		.id = "net.mtu", .phase = 2, .level = 2, .scope = GATE_PORT, .needs = {"net.bond"},
		.title = "MTU of port, bond, VLAN and peer",
	},
	{
		.id = "rdma.device", .phase = 4, .level = 2, .scope = GATE_PORT,
		.needs = {"net.bond", "net.mtu"}, .title = "an RDMA device with an active port",
	},
	{
		.id = "rdma.gid", .phase = 4, .level = 2, .scope = GATE_PORT,
		.needs = {"rdma.device"}, .title = "RoCE v2 GID of the declared address",
	},
	{
		.id = "qos.vlan", .phase = 14, .level = 2, .scope = GATE_PORT,
		.title = "egress map of the VLAN",
	},
	{
		.id = "gdr.topology", .phase = 17, .level = 3, .scope = GATE_PATH,
		.title = "distance between GPU and NIC",
	},
	{
		.id = "proof.host", .phase = 6, .level = 2, .scope = GATE_PAIR,
		.title = "RDMA write and read between two nodes",
	},
	{
		.id = "k8s.rdma-resource", .phase = 11, .level = 2, .scope = GATE_NODE,
		.title = "RDMA resource allocatable",
	},
};

const struct gate *const *fixture_gates(size_t *n)
{
	static const struct gate *list[ARRAY_SIZE(gates)];

	for (size_t i = 0; i < ARRAY_SIZE(gates); i++)
		list[i] = &gates[i];
	*n = ARRAY_SIZE(gates);
	return list;
}

static const struct gate *gate(const char *id)
{
	for (size_t i = 0; i < ARRAY_SIZE(gates); i++) {
		if (!strcmp(gates[i].id, id))
			return &gates[i];
	}
	abort();
}

static char *copy(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

static void add_string(char ***list, const char *s)
{
	size_t n = 0;

	while (*list && (*list)[n])
		n++;
	*list = xreallocarray(*list, n + 2, sizeof(char *));
	(*list)[n] = xstrdup(s);
	(*list)[n + 1] = NULL;
}

static struct verdict *add(struct ladder *l, const char *id, const char *node, const char *subject,
			   enum verdict_status status, const char *summary)
{
	struct verdict *v;

	l->verdicts = xreallocarray(l->verdicts, l->n_verdicts + 1, sizeof(*l->verdicts));
	v = &l->verdicts[l->n_verdicts++];
	*v = (struct verdict){
		.gate = gate(id),
		.phase = gate(id)->phase,
		.node = copy(node),
		.subject = copy(subject),
		.status = status,
		.summary = copy(summary),
	};
	return v;
}

static void cause(struct verdict *v, const char *id, bool candidate, const char *text,
		  const char *fix)
{
	v->causes = xreallocarray(v->causes, v->n_causes + 1, sizeof(*v->causes));
	v->causes[v->n_causes++] = (struct cause){
		.id = copy(id), .text = copy(text), .fix = copy(fix), .candidate = candidate,
	};
}

static void saw(struct verdict *v, const char *node, const char *pointer, json_t *value,
		const char *missing)
{
	v->evidence = xreallocarray(v->evidence, v->n_evidence + 1, sizeof(*v->evidence));
	v->evidence[v->n_evidence++] = (struct evidence){
		.node = copy(node), .pointer = copy(pointer), .value = value,
		.missing = copy(missing),
	};
}

static struct ladder *ladder(const char *site, const char *path, const char *a, const char *b)
{
	struct ladder *l = xcalloc(1, sizeof(*l));

	l->site_name = copy(site);
	l->site_path = copy(path);
	l->taken = copy("2026-08-20T10:15:30Z");
	for (const char **n = (const char *[]){a, b, NULL}; *n; n++) {
		add_string(&l->nodes, *n);
		add_string(&l->sources, "live");
	}
	return l;
}

/* What the engine does when all verdicts are there. */
static struct ladder *closed(struct ladder *l)
{
	l->stopped_at = l->n_verdicts;
	for (size_t i = l->n_verdicts; i-- > 0;) {
		enum verdict_status s = l->verdicts[i].status;

		l->counts[s]++;
		if (s == VERDICT_FAIL || s == VERDICT_BLOCKED || s == VERDICT_UNKNOWN)
			l->stopped_at = i;
	}
	return l;
}

static void site_phase_2(struct ladder *l)
{
	struct verdict *v;

	v = add(l, "os.release", "gpu-node-01", NULL, VERDICT_PASS, "rhel 10.2, as declared");
	saw(v, "gpu-node-01", "/os/release/id", json_string("rhel"), NULL);
	saw(v, "site.yaml:12", "nodes/gpu-node-01/os/version", json_string("10.2"), NULL);
	add(l, "os.release", "aistor-01", NULL, VERDICT_PASS, "rhel 10.2, as declared");
	add(l, "net.bond", "gpu-node-01", "bond1", VERDICT_PASS,
	    "802.3ad, ens1f0 and ens1f1 in aggregator 1, partner 02:1c:73:00:00:01");
	v = add(l, "net.bond", "aistor-01", "bond1", VERDICT_WARN,
		"802.3ad, both ports in aggregator 1, LACP rate slow");
	cause(v, "lacp-slow", false, "802.3ad, both ports in aggregator 1, LACP rate slow",
	      "ip link set bond1 type bond lacp_rate fast");
	v = add(l, "net.mtu", "gpu-node-01", "bond1", VERDICT_PASS, "MTU 9000");
	add_string(&v->assumed, "the same MTU on all ports of a rail");
	saw(v, "gpu-node-01", "/links/bond1/mtu", json_integer(9000), NULL);
	add(l, "net.mtu", "aistor-01", "bond1", VERDICT_PASS, "MTU 9000");
}

static struct ladder *site_ladder(void)
{
	struct ladder *l = ladder("e810-b300", "site.yaml", "gpu-node-01", "aistor-01");
	struct verdict *v;

	free(l->sources[1]);
	l->sources[1] = xstrdup("handmade");
	site_phase_2(l);
	v = add(l, "rdma.device", "gpu-node-01", "bond1", VERDICT_FAIL,
		"no RDMA device belongs to bond1 or to its ports ens1f0 and ens1f1");
	cause(v, "bond-in-tree-ice", false,
	      "ens1f0 and ens1f1 are members of bond1, and the in-tree ice driver removes the RDMA "
	      "device of every port that is in a bond",
	      "Take the ports out of the bond and use two rails:\n\n"
	      "    ip link set ens1f0 nomaster\n"
	      "    ip link set ens1f1 nomaster\n\n"
	      "or install the out-of-tree pair of ice and irdma with the LAG DDP package.");
	cause(v, "irdma-not-loaded", true,
	      "irdma is not loaded; `lsmod | grep irdma` would tell", "modprobe irdma");
	saw(v, "gpu-node-01", "/rdma/devices", json_object(), NULL);
	saw(v, "gpu-node-01", "/os/modules/ice/in_tree", json_true(), NULL);
	saw(v, "gpu-node-01", "/links/ens1f0/master", json_string("bond1"), NULL);
	saw(v, "gpu-node-01", "/os/modules/irdma/file", NULL, "/lib/modules is not readable");
	v = add(l, "rdma.device", "aistor-01", "bond1", VERDICT_PASS, "rocep1s0f0, port 1 ACTIVE");
	v->double_used = true;
	v = add(l, "rdma.gid", "gpu-node-01", "bond1", VERDICT_BLOCKED,
		"needs rdma.device (bond1), which did not pass, and others");
	add_string(&v->blocked_by, "rdma.device (bond1)");
	add_string(&v->blocked_by, "net.address (bond1)");
	v = add(l, "rdma.gid", "aistor-01", "bond1", VERDICT_FAIL,
		"no RoCE v2 GID for 10.10.0.21: only link-local ones (index 0 and 1)");
	cause(v, "gid-link-local-only", false,
	      "no RoCE v2 GID for 10.10.0.21: only link-local ones (index 0 and 1)",
	      "ip addr add 10.10.0.21/24 dev bond1");
	v->explained_by = xstrdup("net.address (bond1)");
	v = add(l, "os.memlock", "gpu-node-01", NULL, VERDICT_WARN, "8 MiB for containerd");
	cause(v, "memlock-low", false, "containerd runs with LimitMEMLOCK=8388608",
	      "systemctl edit containerd, then LimitMEMLOCK=infinity");
	add_string(&v->assumed, "memlock unlimited for containerd");
	v = add(l, "os.memlock", "aistor-01", NULL, VERDICT_UNKNOWN,
		"not observed: /os/memlock/services/containerd (permission denied)");
	v->obtain = xstrdup("run `railhead check` as root, or grant CAP_SYS_PTRACE");
	v = add(l, "proof.host", "gpu-node-01", "gpu-node-01 ↔ aistor-01", VERDICT_UNKNOWN,
		"not observed yet: RDMA write and read between two nodes");
	v->obtain = xstrdup("railhead prove gpu-node-01 aistor-01");
	add(l, "qos.vlan", "gpu-node-01", "bond1", VERDICT_NA, "bond1 is not a VLAN");
	add(l, "qos.vlan", "aistor-01", "bond1", VERDICT_NA, "bond1 is not a VLAN");
	return closed(l);
}

static struct ladder *paths_ladder(void)
{
	struct ladder *l = ladder("e810-b300", "site.yaml", "gpu-node-01", NULL);

	add(l, "os.release", "gpu-node-01", NULL, VERDICT_PASS, "rhel 10.2, as declared");
	for (unsigned gpu = 0; gpu < 8; gpu++) {
		for (unsigned port = 0; port < 8; port++) {
			_cleanup_free_ char *bdf = xasprintf("0000:%02x:00.0", 0x1b + 0x10 * gpu);
			_cleanup_free_ char *nic = xasprintf("ens%uf%u", 1 + port / 2, port % 2);
			_cleanup_free_ char *subject = xasprintf("%s → %s", bdf, nic);
			_cleanup_free_ char *summary =
				gpu == port ? xasprintf("PIX: %s and %s below one switch", bdf, nic) :
					      xasprintf("SYS: %s and %s on different sockets", bdf, nic);
			struct verdict *v = add(l, "gdr.topology", "gpu-node-01", subject,
						gpu == port ? VERDICT_PASS : VERDICT_WARN, summary);

			if (gpu != port)
				cause(v, "path-crosses-sockets", false, summary,
				      "use the nearest port of this GPU");
		}
	}
	return closed(l);
}

static struct ladder *nothing_ladder(void)
{
	struct ladder *l = ladder("(none declared)", NULL, "gpu-node-01", NULL);
	struct verdict *v = add(l, "os.release", "gpu-node-01", NULL, VERDICT_UNKNOWN,
				"not observed: /os/release (no such file)");

	l->assumed = true;
	v->obtain = xstrdup("railhead snapshot on the node itself");
	add(l, "net.bond", "gpu-node-01", "bond1", VERDICT_PASS, "802.3ad");
	v = add(l, "net.mtu", "gpu-node-01", "bond1", VERDICT_FAIL, "MTU 1500, as its port ens1f0");
	v->explained_by = xstrdup("rdma.device (bond1)");
	v = add(l, "rdma.device", "gpu-node-01", "bond1", VERDICT_FAIL, "no RDMA device");
	cause(v, "irdma-blacklisted", false, "irdma is on the blacklist",
	      "remove it from /etc/modprobe.d");
	return closed(l);
}

static struct ladder *hostile_ladder(void)
{
	struct ladder *l = ladder("<script>alert(1)</script>", "\033]0;title\007site.yaml",
				  "node\"onmouseover=\"x", "b\xff\xfe");
	struct verdict *v = add(l, "os.release", "node\"onmouseover=\"x",
				"</li><script>alert('x')</script>", VERDICT_FAIL,
				"\033[2J\033[31mred\033[0m & <b>bold</b> ]]> \x9b" "31m \xc2\x9b" "31m");
	_cleanup_free_ char *long_word = xmalloc(5001);

	memset(long_word, 'x', 5000);
	long_word[5000] = '\0';
	cause(v, "c", false, long_word, "\r\nline\r\n\ttabbed\b\b\b\x01");
	cause(v, "d", true, "right-to-left \xe2\x80\xae" "txt.exe and \xef\xbf\xbf", "--><!-- ' \" `");
	saw(v, "b\xff\xfe", "/a~1b/\033[5m", json_pack("{s:[s,i,n,f]}", "k<e>y", "v\033[7m", 1, 0.5),
	    NULL);
	v->explained_by = xstrdup("javascript:alert(1) (x)");
	add_string(&v->assumed, "&amp; is not &");
	v = add(l, "net.bond", "b\xff\xfe", "</style></script><!--", VERDICT_UNKNOWN, "");
	v->obtain = xstrdup("$(reboot) `reboot` \\\n\\x");
	return closed(l);
}

static struct ladder *korean_ladder(void)
{
	struct ladder *l = ladder("서울-1", "현장.yaml", "지피유-노드-일", "저장소-01");
	struct verdict *v;

	add(l, "os.release", "지피유-노드-일", NULL, VERDICT_PASS, "rhel 10.2, 선언한 대로");
	add(l, "os.release", "저장소-01", NULL, VERDICT_PASS, "rhel 10.2, 선언한 대로");
	v = add(l, "net.mtu", "지피유-노드-일", "bond1", VERDICT_FAIL,
		"이 노드의 MTU는 1500이고 저장소-01의 MTU는 9000이다, 두 노드가 같아야 큰 프레임이 지나간다");
	cause(v, "mtu-low", false, "한쪽 포트만 바뀌었다 é (U+0301 결합 문자)",
	      "ip link set bond1 mtu 9000");
	return closed(l);
}

static struct ladder *many_ladder(void)
{
	struct ladder *l = ladder("many", "site.yaml", "n0", "n1");

	for (unsigned i = 0; i < 5000; i++) {
		_cleanup_free_ char *subject = xasprintf("port%u", i);
		_cleanup_free_ char *summary = xasprintf("%u frames", i);
		struct verdict *v = add(l, "net.mtu", i % 2 ? "n1" : "n0", subject,
					i % 7 ? VERDICT_PASS : VERDICT_WARN, summary);

		saw(v, i % 2 ? "n1" : "n0", "/links/x/mtu", json_integer(i), NULL);
	}
	return closed(l);
}

static struct ladder *complete_ladder(void)
{
	struct ladder *l = ladder("e810-b300", "site.yaml", "gpu-node-01", "aistor-01");

	site_phase_2(l);
	add(l, "qos.vlan", "gpu-node-01", "bond1", VERDICT_NA, "bond1 is not a VLAN");
	return closed(l);
}

struct ladder *fixture_ladder(const char *name)
{
	static const struct {
		const char *name;
		struct ladder *(*make)(void);
	} fixtures[] = {
		{"site", site_ladder},	     {"paths", paths_ladder},   {"complete", complete_ladder},
		{"nothing", nothing_ladder}, {"hostile", hostile_ladder}, {"korean", korean_ladder},
		{"many", many_ladder},
	};

	for (size_t i = 0; i < ARRAY_SIZE(fixtures); i++) {
		if (!strcmp(name, fixtures[i].name))
			return fixtures[i].make();
	}
	return strcmp(name, "empty") ? NULL : closed(ladder("empty", NULL, NULL, NULL));
}
