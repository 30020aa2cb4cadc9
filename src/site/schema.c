/* SPDX-License-Identifier: Apache-2.0 */
/* The schema table: the top of a site file, and the sections beside the nodes. */
#include "site/kubernetes_name.h"
#include "site/schema.h"

#define NUMBER(low, high) \
	.kind = SCHEMA_NUMBER, .convert = schema_convert_decimal, .min = low, .max = high
#define WORDS(...) .kind = SCHEMA_WORD, .words = (const char *const[]){ __VA_ARGS__, NULL }
#define OBJECT(of, heading) \
	.kind = SCHEMA_OBJECT, .what = "a map with the keys of " of, .title = heading

static const struct schema_type url = {
	.kind = SCHEMA_TEXT, .what = "a URL", .check = schema_check_url };
static const struct schema_type path = {
	.kind = SCHEMA_TEXT, .what = "a path", .check = schema_check_path };
static const struct schema_type host = {
	.kind = SCHEMA_TEXT, .what = "a host", .check = schema_check_host };
static const struct schema_type node_names = {
	.kind = SCHEMA_LIST, .what = "a list of node names", .item = &schema_node_name };
static const struct schema_type bytes = {
	.kind = SCHEMA_NUMBER, .what = "a size like 64KiB or 1GiB", .convert = schema_convert_bytes,
	.min = 0, .max = INT64_MAX };

/* --- qos --- */

static const struct schema_type share = {
	.kind = SCHEMA_NUMBER, .what = "a share from 1% to 100%", .convert = schema_convert_percent,
	.min = 1, .max = 100 };
static const struct schema_type qos_order = {
	WORDS("before-bond", "after-bond"), .what = "an order" };
static const struct schema_key qos_keys[] = {
	{ "dscp", &schema_dscp, "DSCP of RoCE packets (the IP ToS byte is four times that)",
	  offsetof(struct site_qos, dscp) },
	{ "priority", &schema_priority, "priority that the DSCP maps to",
	  offsetof(struct site_qos, priority) },
	{ "traffic_class", &schema_traffic_class, "traffic class (queue group) of that priority",
	  offsetof(struct site_qos, traffic_class) },
	{ "bandwidth", &share, "lowest ETS share of that traffic class",
	  offsetof(struct site_qos, bandwidth_percent) },
	{ "prio_tc", &schema_priority_to_tc, "traffic class of each priority",
	  offsetof(struct site_qos, prio_tc) },
	{ "tc_bandwidth", &schema_tc_to_percent, "ETS share of each traffic class",
	  offsetof(struct site_qos, tc_bandwidth) },
	{ "pfc", &schema_truth, "PFC on the RoCE priority, and on no other",
	  offsetof(struct site_qos, pfc) },
	{ "ecn", &schema_truth, "ECN for the RoCE class", offsetof(struct site_qos, ecn) },
	{ "ecn_host", &schema_truth,
	  "false: only the switch marks, the hosts are not expected to slow down",
	  SCHEMA_UNBOUND, .fallback_text = "as `ecn`" },
	{ "order", &qos_order, "when DCB is set on ports that are bonded", SCHEMA_UNBOUND,
	  .fallback_text = "`before-bond`, as `render` writes it" },
	{ "dcb", &schema_truth, "false: the NICs of this site have no DCB to judge",
	  offsetof(struct site_qos, dcb) },
	{0}
};
static const struct schema_type qos = {
	OBJECT("the RoCE class", "The RoCE class: `qos`"),
	.text = "The same on every host and on the switch.",
	.keys = qos_keys };

/* --- kubernetes --- */

static const struct schema_key kubespray_keys[] = {
	{ "version", &schema_version, "release of Kubespray", SCHEMA_UNBOUND },
	{0}
};
static const struct schema_type kubespray = {
	OBJECT("the installer", "The installer: `kubernetes/kubespray`"), .keys = kubespray_keys };

static const struct schema_type cni_name = { WORDS("cilium", "calico", "other"), .what = "a CNI" };
static const struct schema_key cni_keys[] = {
	{ "name", &cni_name, "network plugin", SCHEMA_UNBOUND },
	{ "version", &schema_version, "its version", SCHEMA_UNBOUND },
	{0}
};
static const struct schema_type cni = {
	OBJECT("a CNI", "The pod network: `kubernetes/cni`"), .keys = cni_keys };

static const struct schema_type pod_rdma = {
	WORDS("host-gid", "host-network", "second-network", "none"),
	.what = "a way of RDMA in pods" };
static const struct schema_type api_endpoint = {
	.kind = SCHEMA_TEXT, .what = "host:port", .check = schema_check_host };
static const struct schema_type topology_manager = {
	WORDS("none", "best-effort", "restricted", "single-numa-node"),
	.what = "a policy of kubelet's topology manager" };
static const struct schema_type topology_scope = {
	WORDS("container", "pod"), .what = "a scope of kubelet's topology manager" };
static const struct schema_type resource = {
	.kind = SCHEMA_TEXT, .what = "an extended resource", .check = schema_check_resource };
static const struct schema_type taint = {
	.kind = SCHEMA_TEXT, .what = "a taint", .check = schema_check_taint };
static const struct schema_type pod_network = {
	.kind = SCHEMA_TEXT, .what = "a network of Multus", .check = schema_check_network };
static const struct schema_type namespace = {
	.kind = SCHEMA_TEXT, .what = "a namespace", .check = schema_check_namespace };
static const struct schema_key test_image_keys[] = {
	{ "cuda", &schema_image, "image of the CUDA test pod", SCHEMA_UNBOUND },
	{ "rdma", &schema_image, "image of the RDMA test pods, with perftest", SCHEMA_UNBOUND },
	{ "device_plugin", &schema_image, "image of the RDMA device plugin", SCHEMA_UNBOUND },
	{0}
};
static const struct schema_type test_images = {
	OBJECT("images", "Images of plugin and test pods: `kubernetes/images`"),
	.text = "Upstream names; `registry/mirrors` is applied to them.", .keys = test_image_keys };
static const struct schema_key kubernetes_keys[] = {
	{ "version", &schema_version, "Kubernetes version",
	  offsetof(struct site, kubernetes_version) },
	{ "kubespray", &kubespray, "set when Kubespray installs it", SCHEMA_UNBOUND },
	{ "containerd", &schema_version, "containerd version", SCHEMA_UNBOUND },
	{ "cni", &cni, "network plugin", SCHEMA_UNBOUND },
	{ "control_plane", &node_names, "nodes of this file that run the control plane",
	  SCHEMA_UNBOUND },
	{ "pod_rdma", &pod_rdma,
	  "how pods reach RDMA: raw verbs with the host's GIDs, host network, or a second network",
	  SCHEMA_UNBOUND },
	{ "rdma_cm", &schema_truth, "true: pods use RDMA-CM, which needs a link of their own",
	  SCHEMA_UNBOUND },
	{ "rdma_resource", &resource, "extended resource of RDMA devices", SCHEMA_UNBOUND,
	  .fallback_text = "`rdma/railhead`, as `render` writes it" },
	{ "rdma_network", &pod_network,
	  "with `second-network`: NetworkAttachmentDefinition of the RDMA network, "
	  "`namespace/name`", SCHEMA_UNBOUND },
	{ "images", &test_images, "images of the device plugin and of test pods", SCHEMA_UNBOUND },
	{ "topology_manager", &topology_manager, "policy of kubelet's topology manager",
	  SCHEMA_UNBOUND },
	{ "topology_scope", &topology_scope, "its scope", SCHEMA_UNBOUND },
	{ "unproven_taint", &taint,
	  "taint that a new node keeps until its gates pass, `key=value:effect`", SCHEMA_UNBOUND,
	  .fallback_text = "`railhead/unproven=true:NoSchedule`" },
	{ "api_endpoint", &api_endpoint, "host:port of the API server behind a load balancer",
	  SCHEMA_UNBOUND },
	{0}
};
static const struct schema_type kubernetes = {
	OBJECT("a cluster", "The cluster: `kubernetes`"), .keys = kubernetes_keys };

/* --- NVIDIA operators --- */

static const struct schema_key driver_rdma_keys[] = {
	{ "enabled", &schema_truth,
	  "Helm `driver.rdma.enabled`: loads nvidia-peermem, not needed for DMA-BUF",
	  SCHEMA_UNBOUND },
	{ "use_host_mofed", &schema_truth, "Helm `driver.rdma.useHostMofed`", SCHEMA_UNBOUND },
	{0}
};
static const struct schema_type driver_rdma = {
	OBJECT("nvidia-peermem", "Legacy peer memory: `gpu_operator/driver/rdma`"),
	.keys = driver_rdma_keys };

static const struct schema_type module_type = {
	WORDS("auto", "open", "proprietary"), .what = "a kernel module type" };
static const struct schema_key driver_keys[] = {
	{ "enabled", &schema_truth, "false: the driver is installed on the host", SCHEMA_UNBOUND },
	{ "version", &schema_version, "driver version", SCHEMA_UNBOUND },
	{ "kernel_module_type", &module_type, "Helm `driver.kernelModuleType`", SCHEMA_UNBOUND },
	{ "precompiled", &schema_truth, "Helm `driver.usePrecompiled`", SCHEMA_UNBOUND },
	{ "repo_config", &schema_node_name, "ConfigMap with package repositories", SCHEMA_UNBOUND },
	{ "entitlement", &schema_truth,
	  "true: the subscription paths that the driver pod mounts exist on the hosts",
	  SCHEMA_UNBOUND },
	{ "rdma", &driver_rdma, "legacy peer-memory module", SCHEMA_UNBOUND },
	{0}
};
static const struct schema_type driver = {
	OBJECT("a GPU driver", "The GPU driver: `gpu_operator/driver`"), .keys = driver_keys };

static const struct schema_type chart_values = {
	.kind = SCHEMA_TABLE, .what = "a map from a key of the chart to its value",
	.name = &schema_any_text, .item = &schema_any_text };
static const struct schema_key gpu_operator_keys[] = {
	{ "version", &schema_version, "GPU Operator version", SCHEMA_UNBOUND },
	{ "namespace", &namespace, "its namespace", SCHEMA_UNBOUND,
	  .fallback_text = "`gpu-operator`" },
	{ "driver", &driver, "driver container", SCHEMA_UNBOUND },
	{ "gds", &schema_truth, "GPUDirect Storage (nvidia-fs)", SCHEMA_UNBOUND },
	{ "gdrcopy", &schema_truth, "GDRCopy", SCHEMA_UNBOUND },
	{ "values", &chart_values,
	  "more values of the Helm chart, by dotted key: `dcgmExporter.enabled: false`; lists and "
	  "maps as JSON",
	  SCHEMA_UNBOUND },
	{0}
};
static const struct schema_type gpu_operator = {
	OBJECT("the GPU Operator", "GPU Operator: `gpu_operator`"), .keys = gpu_operator_keys };

static const struct schema_key network_operator_keys[] = {
	{ "version", &schema_version, "Network Operator version", SCHEMA_UNBOUND },
	{ "ofed_driver", &schema_truth, "DOCA-OFED driver container; conflicts with irdma",
	  SCHEMA_UNBOUND },
	{ "rdma_device_plugin", &schema_truth, "shared RDMA device plugin", SCHEMA_UNBOUND },
	{0}
};
static const struct schema_type network_operator = {
	OBJECT("the Network Operator", "Network Operator: `network_operator`"),
	.text = "Leave it out when the site has none.", .keys = network_operator_keys };

/* --- registry --- */

static const struct schema_type mirrors = {
	.kind = SCHEMA_TABLE, .what = "a map from upstream registry to mirror", .name = &host,
	.item = &host };
static const struct schema_key registry_keys[] = {
	{ "host", &host, "registry that the nodes can reach", SCHEMA_UNBOUND },
	{ "air_gapped", &schema_truth, "true: nodes reach nothing outside", SCHEMA_UNBOUND },
	{ "ca_file", &path, "CA certificate of the registry", SCHEMA_UNBOUND },
	{ "mirrors", &mirrors, "mirror of each upstream: `nvcr.io: registry.example.net/nvcr.io`",
	  SCHEMA_UNBOUND },
	{ "images", &schema_texts, "images that the registry holds, with tags", SCHEMA_UNBOUND },
	{ "packages", &schema_texts, "packages that the package repository holds, with versions",
	  SCHEMA_UNBOUND },
	{ "pull_secret", &schema_node_name, "Kubernetes secret for pulling images",
	  SCHEMA_UNBOUND },
	{ "files_url", &url, "server of the binaries that Kubespray downloads", SCHEMA_UNBOUND },
	{ "packages_url", &url, "package repository (BaseOS, AppStream, kernel-devel)",
	  SCHEMA_UNBOUND },
	{0}
};
static const struct schema_type registry = {
	OBJECT("a registry", "Air gap: `registry`"), .keys = registry_keys };

/* --- switch --- */

static const struct schema_key ecn_keys[] = {
	{ "min", &bytes, "queue length where marking begins", SCHEMA_UNBOUND },
	{ "max", &bytes, "queue length where the probability reaches its highest", SCHEMA_UNBOUND },
	{ "probability", &schema_percent, "highest marking probability", SCHEMA_UNBOUND },
	{0}
};
static const struct schema_type switch_ecn = {
	OBJECT("ECN thresholds", "Marking: `switch/ecn`"), .keys = ecn_keys };
static const struct schema_type metres = { NUMBER(1, 40000), .what = "a cable length in metres" };
static const struct schema_type switch_platform = {
	WORDS("sonic", "nvue", "eos", "nxos", "os10"),
	.what = "a network operating system" };
static const struct schema_type switch_queue = {
	WORDS("tx-queue", "uc-tx-queue"), .what = "a mode of EOS" };
static const struct schema_type switch_buffers = {
	WORDS("traditional", "dynamic"), .what = "a buffer model of SONiC" };
static const struct schema_type switch_domain = { NUMBER(1, 4095), .what = "an MCLAG domain" };
static const struct schema_key switch_keys[] = {
	{ "names", &schema_texts, "the switches, two for a bond across a pair", SCHEMA_UNBOUND },
	{ "model", &schema_any_text, "hardware", SCHEMA_UNBOUND },
	{ "os", &schema_any_text, "network operating system and version", SCHEMA_UNBOUND },
	{ "platform", &switch_platform,
	  "whose configuration is rendered; without it, one of each kind", SCHEMA_UNBOUND },
	{ "vlan", &schema_vlan_id, "untagged VLAN of the host ports", SCHEMA_UNBOUND },
	{ "pfc_watchdog", &schema_truth, "the switch breaks a pause storm", SCHEMA_UNBOUND,
	  .fallback_text = "true" },
	{ "port_speed", &schema_speed, "speed of the host ports", SCHEMA_UNBOUND },
	{ "cable_metres", &metres, "longest cable to a host", SCHEMA_UNBOUND },
	{ "mtu", &schema_mtu, "MTU of the host ports", SCHEMA_UNBOUND },
	{ "cell", &bytes, "size of a buffer cell", SCHEMA_UNBOUND },
	{ "headroom", &bytes, "PFC headroom of a lossless priority, per port", SCHEMA_UNBOUND },
	{ "lacp_rate", &schema_lacp_rate, "LACPDU rate of the host bundles", SCHEMA_UNBOUND },
	{ "dscp", &schema_dscp, "DSCP that the switch treats as RoCE", SCHEMA_UNBOUND },
	{ "priority", &schema_priority, "priority that it maps to", SCHEMA_UNBOUND },
	{ "pfc", &schema_truth, "PFC on that priority, and on no other", SCHEMA_UNBOUND },
	{ "ecn", &switch_ecn, "ECN marking of the RoCE queue", SCHEMA_UNBOUND },
	{ "cnp_dscp", &schema_dscp,
	  "DSCP of congestion notifications; the switch serves their queue first", SCHEMA_UNBOUND },
	{ "port_channel_first", &schema_port_channel,
	  "number of the first host bundle; they are counted in the order of nodes and bonds",
	  SCHEMA_UNBOUND, .fallback_text = "1" },
	{ "mclag_domain", &switch_domain, "SONiC: MCLAG domain of the pair", SCHEMA_UNBOUND,
	  .fallback_text = "1" },
	{ "buffer_model", &switch_buffers, "SONiC: `buffer_model` of the switch",
	  SCHEMA_UNBOUND, .fallback_text = "traditional" },
	{ "tx_queue", &switch_queue,
	  "EOS: `uc-tx-queue` where unicast has its own queues (Trident, Tomahawk)",
	  SCHEMA_UNBOUND, .fallback_text = "tx-queue" },
	{0}
};
static const struct schema_type network_switch = {
	OBJECT("a switch", "The switch: `switch`"), .keys = switch_keys };

/* --- storage and workload --- */

static const struct schema_type storage_kind = {
	WORDS("aistor", "minio", "other"), .what = "a kind of store" };
static const struct schema_type storage_build = {
	WORDS("standard", "rdma"), .what = "a build of the server" };
static const struct schema_type client_library = {
	WORDS("s3rdma", "cuobject", "hipobject", "http"), .what = "a client library" };
static const struct schema_key storage_client_keys[] = {
	{ "library", &client_library,
	  "what moves the objects; `s3rdma` and `cuobject` need DC transport (mlx5)",
	  SCHEMA_UNBOUND },
	{ "version", &schema_version, "its version", SCHEMA_UNBOUND },
	{0}
};
static const struct schema_type storage_client = {
	OBJECT("a storage client", "The client: `storage/client`"), .keys = storage_client_keys };
static const struct schema_key storage_keys[] = {
	{ "kind", &storage_kind, "the object store", SCHEMA_UNBOUND },
	{ "version", &schema_any_text, "release of the server", SCHEMA_UNBOUND },
	{ "build", &storage_build,
	  "AIStor has a separate RDMA build; the standard one ignores RDMA settings",
	  SCHEMA_UNBOUND },
	{ "endpoint", &url, "S3 endpoint", SCHEMA_UNBOUND },
	{ "nodes", &node_names, "nodes of this file that serve it", SCHEMA_UNBOUND },
	{ "client", &storage_client, "client on the GPU nodes", SCHEMA_UNBOUND },
	{0}
};
static const struct schema_type storage = {
	OBJECT("a store", "The object store: `storage`"), .keys = storage_keys };

static const struct schema_type workload_kind = {
	WORDS("vllm", "other"), .what = "a kind of workload" };
static const struct schema_type small_count = { NUMBER(1, 65536), .what = "a number from 1" };
static const struct schema_key workload_keys[] = {
	{ "kind", &workload_kind, "the workload", SCHEMA_UNBOUND },
	{ "version", &schema_version, "its version", SCHEMA_UNBOUND },
	{ "image", &schema_image, "container image", SCHEMA_UNBOUND },
	{ "namespace", &namespace, "namespace of its pods", SCHEMA_UNBOUND },
	{ "model", &schema_any_text, "model that it serves", SCHEMA_UNBOUND },
	{ "model_url", &url, "where the weights come from, `s3://bucket/prefix`", SCHEMA_UNBOUND },
	{ "replicas", &small_count, "number of replicas", SCHEMA_UNBOUND },
	{ "tensor_parallel", &small_count, "GPUs of one replica", SCHEMA_UNBOUND },
	{0}
};
static const struct schema_type workload = {
	OBJECT("a workload", "The workload: `workload`"), .keys = workload_keys };

/* --- top --- */

static const struct schema_type schema_id = {
	WORDS(SITE_SCHEMA), .what = "a schema that this railhead reads" };
static const struct schema_type profiles = {
	.kind = SCHEMA_TABLE, .what = "a map of profiles by name", .name = &schema_node_name,
	.item = &schema_profile };
static const struct schema_type nodes = {
	.kind = SCHEMA_TABLE, .what = "a map of nodes by name", .name = &schema_node_name,
	.item = &schema_node };

static const struct schema_key site_keys[] = {
	{ "schema", &schema_id, "`" SITE_SCHEMA "`", SCHEMA_UNBOUND, .required = true },
	{ "name", &schema_any_text, "name of the site, for reports", offsetof(struct site, name),
	  .required = true },
	{ "gpudirect", &schema_truth, "GPUDirect RDMA (level 3) is wanted", SCHEMA_UNBOUND,
	  .fallback_text = "true when a node has GPUs" },
	{ "defaults", &schema_node_keys, "what every node has", SCHEMA_UNBOUND },
	{ "profiles", &profiles, "kinds of nodes, by name", SCHEMA_UNBOUND },
	{ "nodes", &nodes, "the nodes, by host name", SCHEMA_UNBOUND, .required = true },
	{ "qos", &qos, "the RoCE class", offsetof(struct site, qos) },
	{ "kubernetes", &kubernetes, "the cluster", 0 },
	{ "gpu_operator", &gpu_operator, "NVIDIA GPU Operator", SCHEMA_UNBOUND },
	{ "network_operator", &network_operator, "NVIDIA Network Operator", SCHEMA_UNBOUND },
	{ "registry", &registry, "registry and mirrors", SCHEMA_UNBOUND },
	{ "switch", &network_switch, "the switch between the nodes", SCHEMA_UNBOUND },
	{ "storage", &storage, "the object store", SCHEMA_UNBOUND },
	{ "workload", &workload, "what runs in the end", SCHEMA_UNBOUND },
	{0}
};
const struct schema_type schema_site = {
	OBJECT("a site", "Top level"), .keys = site_keys };
