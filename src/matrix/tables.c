/* SPDX-License-Identifier: Apache-2.0 */
/* The schema table of the support matrix: what the rows of each data/NAME.yaml may say. */
#include "matrix/tables.h"

#include <string.h>

#include "base/strbuf.h"
#include "matrix/matrix.h"

#define WORDS(...) .kind = SCHEMA_WORD, .words = (const char *const[]){ __VA_ARGS__, NULL }
#define NUMBER(low, high) \
	.kind = SCHEMA_NUMBER, .convert = schema_convert_decimal, .min = low, .max = high
#define KEY(name, type, text) { name, &type, text, SCHEMA_UNBOUND }
#define MUST(name, type, text) { name, &type, text, SCHEMA_UNBOUND, .required = true }
#define ROW(of) \
	static const struct schema_type of##_row = { \
		.kind = SCHEMA_OBJECT, .what = "a map with the keys of a row", .keys = of##_keys, \
		.also = &provenance }
#define IDENTITY(...) (const char *const[]){ __VA_ARGS__, NULL }

static bool all_digits(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < '0' || text[i] > '9')
			return false;
	return len > 0;
}

static const char *check_date(const char *text)
{
	static const unsigned char days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	if (strlen(text) != 10 || text[4] != '-' || text[7] != '-' || !all_digits(text, 4) ||
	    !all_digits(text + 5, 2) || !all_digits(text + 8, 2))
		return "write it as YYYY-MM-DD";
	int year = (text[0] - '0') * 1000 + (text[1] - '0') * 100 + (text[2] - '0') * 10 +
		   (text[3] - '0');
	int month = (text[5] - '0') * 10 + (text[6] - '0');
	int day = (text[8] - '0') * 10 + (text[9] - '0');
	bool leap = !(year % 4) && (year % 100 || !(year % 400));

	if (year < 2000 || month < 1 || month > 12 || day < 1 || day > days[month - 1] ||
	    (month == 2 && day == 29 && !leap))
		return "there is no such day";
	return NULL;
}

/* As it stands in tags of images and packages. */
static const char *check_line(const char *text)
{
	size_t major = strcspn(text, ".");

	if (text[major] != '.' || !all_digits(text, major) ||
	    !all_digits(text + major + 1, strlen(text + major + 1)))
		return "write the release line without 'v' and patch: \"26.3\"";
	return NULL;
}

static const char *check_exact(const char *text)
{
	unsigned dots = 0;

	for (const char *s = text; *s; s++)
		dots += *s == '.';
	if (text[0] != 'v' || dots != 2 || schema_check_version(text))
		return "write the whole version with its 'v': v26.3.3";
	return NULL;
}

static const struct schema_type text = { .kind = SCHEMA_TEXT, .what = "text" };
static const struct schema_type word = {
	.kind = SCHEMA_TEXT, .what = "a name without white space", .check = schema_check_word };
static const struct schema_type date = {
	.kind = SCHEMA_TEXT, .what = "a date", .check = check_date };
static const struct schema_type version = {
	.kind = SCHEMA_TEXT, .what = "a version", .check = schema_check_version };
static const struct schema_type line = {
	.kind = SCHEMA_TEXT, .what = "a release line", .check = check_line };
static const struct schema_type exact = {
	.kind = SCHEMA_TEXT, .what = "an exact release", .check = check_exact };
static const struct schema_type pattern = {
	.kind = SCHEMA_TEXT, .what = "a kernel pattern", .check = schema_check_kernel };
static const struct schema_type pci_id = {
	.kind = SCHEMA_TEXT, .what = "a PCI id", .check = schema_check_pci_id };
static const struct schema_type words = {
	.kind = SCHEMA_LIST, .what = "a list of names", .item = &word };
static const struct schema_type texts = {
	.kind = SCHEMA_LIST, .what = "a list of texts", .item = &text };
static const struct schema_type versions = {
	.kind = SCHEMA_LIST, .what = "a list of versions", .item = &version };
static const struct schema_type lines = {
	.kind = SCHEMA_LIST, .what = "a list of release lines", .item = &line };
static const struct schema_type pci_ids = {
	.kind = SCHEMA_LIST, .what = "a list of PCI ids", .item = &pci_id };
static const struct schema_type bytes = { NUMBER(0, 1 << 30), .what = "a number of bytes" };
static const struct schema_type classes = { NUMBER(0, 8), .what = "a number from 0 to 8" };
static const struct schema_type yes_no = { WORDS("yes", "no", "unknown"), .what = "an answer" };

static const struct schema_type confidence = {
	WORDS("read", "inferred", "unverified"), .what = "a confidence" };
static const struct schema_key provenance_keys[] = {
	MUST("source", text, "where it was seen: repository, file and version, or document"),
	MUST("date", date, "when the source was looked at, YYYY-MM-DD"),
	MUST("confidence", confidence,
	     "`read`: seen in the source; `inferred`: follows from what was seen; `unverified`: neither"),
	KEY("note", text, "what a reader should know besides"),
	{0}
};
static const struct schema_type provenance = {
	.kind = SCHEMA_OBJECT, .what = "a map with the keys of a row", .keys = provenance_keys };

static const struct schema_key range_keys[] = {
	MUST("min", version, "lowest version"),
	MUST("max", version, "highest version"),
	{0}
};
static const struct schema_type range = {
	.kind = SCHEMA_OBJECT, .what = "a map with min and max", .keys = range_keys };
static const struct schema_key choice_keys[] = {
	MUST("default", version, "version when none is asked for"),
	KEY("newest", versions, "highest patch of each minor version: a newer one is not installed"),
	{0}
};
static const struct schema_type choice = {
	.kind = SCHEMA_OBJECT, .what = "a map with min, max, default and newest", .keys = choice_keys,
	.also = &range };

static const struct schema_key platforms_keys[] = {
	MUST("operator", line, "release line of the GPU Operator"),
	MUST("os", word, "`ID` of os-release"),
	MUST("os_versions", versions, "its versions"),
	MUST("kubernetes", range, "Kubernetes versions, `{min, max}`"),
	{0}
};
ROW(platforms);

static const struct schema_type kernel_module = {
	WORDS("open-only", "both", "closed-only"), .what = "which kernel modules drive it" };
static const struct schema_key gpus_keys[] = {
	MUST("model", text, "name of the model"),
	KEY("pci_ids", pci_ids, "vendor and device; absent when no source has it"),
	MUST("architecture", word, "`blackwell`, `hopper`, …"),
	KEY("driver_min", version, "first driver that knows it"),
	MUST("kernel_module", kernel_module, "kernel modules of NVIDIA that drive it"),
	MUST("operators", lines, "release lines of the GPU Operator that list it"),
	{0}
};
ROW(gpus);

static const struct schema_type module_type = {
	WORDS("open", "proprietary"), .what = "a kernel module type" };
static const struct schema_key gpu_drivers_keys[] = {
	MUST("operator", exact, "GPU Operator"),
	MUST("version", version, "driver that it lists"),
	MUST("default", schema_truth, "the one that its chart names"),
	KEY("auto_module", module_type, "what `kernelModuleType: auto` ends as"),
	{0}
};
ROW(gpu_drivers);

static const struct schema_key gpudirect_keys[] = {
	MUST("operator", line, "release line of the GPU Operator"),
	MUST("os", word, "`ID` of os-release"),
	MUST("os_versions", versions, "its versions"),
	MUST("network_operator", version, "lowest Network Operator of the row"),
	{0}
};
ROW(gpudirect);

static const struct schema_key gpudirect_storage_keys[] = {
	MUST("operator", line, "release line of the GPU Operator"),
	MUST("os", word, "`ID` of os-release"),
	MUST("os_versions", versions, "its versions"),
	{0}
};
ROW(gpudirect_storage);

static const struct schema_key dmabuf_keys[] = {
	MUST("item", word, "`kernel`, `cuda`, `gpu-driver`, `rdma-core`, `provider-kernel`, …"),
	KEY("family", word, "NIC family that it is about; absent: all"),
	MUST("min", version, "lowest version"),
	{0}
};
ROW(dmabuf);

static const struct schema_key network_operator_keys[] = {
	MUST("version", version, "Network Operator"),
	MUST("nics", texts, "NICs that it supports"),
	MUST("os", word, "`ID` of os-release"),
	MUST("os_versions", versions, "its versions"),
	MUST("kubernetes", range, "Kubernetes versions, `{min, max}`"),
	MUST("ofed_conflicts", words, "drivers that must be unloaded before its OFED driver"),
	{0}
};
ROW(network_operator);

static const struct schema_type os_table = {
	.kind = SCHEMA_TABLE, .what = "a map from `ID` of os-release to versions", .name = &word,
	.item = &versions };
static const struct schema_key kubespray_keys[] = {
	MUST("release", version, "tag of Kubespray"),
	MUST("kubernetes", choice, "Kubernetes versions that it can install, `{min, max, default, newest}`"),
	MUST("os", os_table, "systems that it lists, `{rhel: [\"9\", \"10\"]}`"),
	KEY("cilium", version, "its Cilium"),
	KEY("containerd", version, "its containerd"),
	{0}
};
ROW(kubespray);

static const struct schema_type stack = {
	WORDS("inbox", "out-of-tree"), .what = "where the driver comes from" };
static const struct schema_type bond_rdma = {
	WORDS("no", "conditional", "yes", "unknown"), .what = "an answer" };
static const struct schema_type dcqcn = {
	WORDS("none", "configfs", "module-parameter", "firmware", "unknown"),
	.what = "a way to set DCQCN" };
static const struct schema_type atomics = {
	WORDS("yes", "no", "firmware", "unknown"), .what = "an answer" };
static const struct schema_key nics_keys[] = {
	MUST("family", word, "`ice`, `mlx5`, `bnxt`, `rxe`"),
	MUST("driver", word, "network driver"),
	MUST("rdma_driver", word, "RDMA driver"),
	MUST("stack", stack, "of the distribution's kernel, or built from the vendor's source"),
	KEY("version_min", version, "first out-of-tree version that the row holds for"),
	MUST("nvidia", schema_truth, "true: a NIC of NVIDIA's support rows"),
	MUST("bond_rdma", bond_rdma, "RDMA over a bond"),
	KEY("bond_modes", words, "bond modes that it does so in; absent: all"),
	KEY("bond_conditions", texts, "when `bond_rdma` is conditional: what must hold"),
	KEY("dmabuf_kernel_min", version, "first mainline kernel that registers a DMA-BUF"),
	KEY("dmabuf_rdma_core_min", version, "first rdma-core whose provider does"),
	MUST("dscp", yes_no, "priority by DSCP"),
	MUST("dcb_while_bonded", yes_no, "DCB can be set while the port is in a bond"),
	MUST("dcqcn", dcqcn, "how DCQCN of the host is set"),
	MUST("atomics", atomics, "RDMA atomics; `firmware`: it decides"),
	MUST("dc_transport", schema_truth, "Dynamically Connected transport"),
	KEY("traffic_classes_max", classes, "traffic classes of a port"),
	KEY("pfc_classes_max", classes, "of them with PFC"),
	{0}
};
ROW(nics);

static const struct schema_type library = {
	WORDS("s3rdma", "cuobject", "hipobject", "http"), .what = "a client library" };
static const struct schema_type transport = {
	WORDS("dc", "rc", "tcp"), .what = "a transport" };
static const struct schema_type fallback = {
	WORDS("silent-http", "none"), .what = "what it does without RDMA" };
static const struct schema_type server_build = {
	WORDS("rdma", "any"), .what = "a build of the server" };
static const struct schema_key storage_clients_keys[] = {
	MUST("library", library, "client library"),
	MUST("transport", transport, "what it needs of the NIC"),
	MUST("fallback", fallback, "what it does when RDMA fails"),
	MUST("server_build", server_build, "build of the server that answers it"),
	MUST("store", word, "object store, or `any`"),
	{0}
};
ROW(storage_clients);

static const struct schema_type suffix = {
	WORDS("none", "os-major", "os-major-from-10"), .what = "a suffix rule" };
static const struct schema_type when = {
	WORDS("always", "default", "gds", "gdrcopy", "dcgm", "sandbox", "gpucluster", "optional"),
	.what = "when it is pulled" };
static const struct schema_key images_keys[] = {
	MUST("operator", exact, "GPU Operator"),
	MUST("key", word, "path in values.yaml: `driver.manager`"),
	MUST("repository", word, "registry and path"),
	MUST("image", word, "name"),
	MUST("version", version, "tag before its suffix"),
	MUST("suffix", suffix,
	     "what the operator appends, after id and version of the system: `os-major`: of rhel, rocky "
	     "and ol the major version only (`-rhel9`, `-ubuntu24.04`); `os-major-from-10`: so of rocky, "
	     "and of rhel from 10 on (`-rhel10`, `-rhel9.6`)"),
	MUST("when", when, "component that pulls it"),
	{0}
};
ROW(images);

static const struct schema_type value_type = {
	WORDS("bool", "int", "string", "list", "map"), .what = "a type of Helm values" };
static const struct schema_type value_types = {
	.kind = SCHEMA_TABLE, .what = "a map from dotted key to its type", .name = &word,
	.item = &value_type };
static const struct schema_key chart_keys_keys[] = {
	MUST("chart", word, "name of the chart"),
	MUST("version", exact, "its version"),
	MUST("keys", value_types, "keys that it reads; below a `map` any key is allowed"),
	{0}
};
ROW(chart_keys);

static const struct schema_key kernels_keys[] = {
	MUST("os", word, "`ID` of os-release"),
	MUST("os_version", version, "`VERSION_ID`"),
	MUST("kernel", pattern, "shell pattern of `uname -r`"),
	{0}
};
ROW(kernels);

static const struct schema_type quanta = { NUMBER(1, 65535), .what = "a number of pause quanta" };
static const struct schema_key pause_quanta_keys[] = {
	MUST("speed", schema_speed, "speed of the port"),
	MUST("quanta", quanta, "quanta of 512 bit times that a peer may take to react"),
	{0}
};
ROW(pause_quanta);

static const struct schema_key buffers_keys[] = {
	MUST("item", word, "`mac-phy-delay`"),
	MUST("bytes", bytes, "its size"),
	{0}
};
ROW(buffers);

static const struct schema_key ecn_keys[] = {
	MUST("speed", schema_speed, "speed of the port; other speeds are taken in proportion"),
	MUST("min", bytes, "length of the queue where marking begins"),
	MUST("max", bytes, "length where the probability is highest"),
	MUST("probability", schema_percent, "that probability"),
	{0}
};
ROW(ecn);

static const struct schema_key other_images_keys[] = {
	MUST("what", word, "`device-plugin`, `cuda-test`, `rdma-test`"),
	MUST("image", schema_image, "image with registry and tag"),
	{0}
};
ROW(other_images);

const struct matrix_table matrix_table_list[] = {
	{ "platforms", "A system and the Kubernetes versions on it that a GPU Operator supports.",
	  &platforms_row, IDENTITY("operator", "os", "os_versions") },
	{ "gpus", "A GPU model.", &gpus_row, IDENTITY("model") },
	{ "gpu-drivers", "A driver that a GPU Operator lists.", &gpu_drivers_row,
	  IDENTITY("operator", "version") },
	{ "gpudirect", "A row of the GPUDirect RDMA table of the GPU Operator.", &gpudirect_row,
	  IDENTITY("operator", "os", "os_versions", "network_operator") },
	{ "gpudirect-storage", "A row of the GPUDirect Storage table of the GPU Operator.",
	  &gpudirect_storage_row, IDENTITY("operator", "os", "os_versions") },
	{ "dmabuf", "What DMA-BUF needs.", &dmabuf_row, IDENTITY("item", "family") },
	{ "network-operator", "What a Network Operator supports.", &network_operator_row,
	  IDENTITY("version", "os", "os_versions") },
	{ "kubespray", "A release of Kubespray.", &kubespray_row, IDENTITY("release") },
	{ "nics", "What a NIC family can do with a driver stack.", &nics_row,
	  IDENTITY("family", "stack") },
	{ "storage-clients", "A client library of an object store.", &storage_clients_row,
	  IDENTITY("library", "transport", "store") },
	{ "images", "An image that a GPU Operator pulls.", &images_row,
	  IDENTITY("operator", "key") },
	{ "chart-keys", "What a version of a Helm chart reads.", &chart_keys_row,
	  IDENTITY("chart", "version") },
	{ "kernels", "The kernel of a system.", &kernels_row,
	  IDENTITY("os", "os_version", "kernel") },
	{ "pause-quanta", "How fast a peer reacts to a pause.", &pause_quanta_row,
	  IDENTITY("speed") },
	{ "buffers", "A size that the headroom formula needs.", &buffers_row, IDENTITY("item") },
	{ "ecn", "Where marking begins when a site does not say.", &ecn_row, IDENTITY("speed") },
	{ "other-images", "An image that is not the GPU Operator's.", &other_images_row,
	  IDENTITY("what") },
	{0}
};

char *matrix_tables_markdown(void)
{
	struct strbuf b = {0};

	strbuf_puts(&b, "### Every row\n\nBesides the keys of its table:\n\n");
	schema_markdown_keys(&b, &provenance);
	for (const struct matrix_table *table = matrix_table_list; table->name; table++) {
		strbuf_printf(&b, "\n### `%s`\n\n%s One row for each", table->name, table->text);
		for (size_t i = 0; table->identity[i]; i++)
			strbuf_printf(&b, "%s `%s`", i ? "," : "", table->identity[i]);
		strbuf_puts(&b, ".\n\n");
		schema_markdown_keys(&b, table->row);
	}
	return strbuf_steal(&b);
}

size_t matrix_table_count(void)
{
	return sizeof(matrix_table_list) / sizeof(matrix_table_list[0]) - 1;
}

const char *const *matrix_tables(void)
{
	static const char *names[sizeof(matrix_table_list) / sizeof(matrix_table_list[0])];

	for (size_t i = 0; matrix_table_list[i].name; i++)
		names[i] = matrix_table_list[i].name;
	return names;
}
