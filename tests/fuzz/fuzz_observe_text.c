/* SPDX-License-Identifier: Apache-2.0 */
/* Text files of the machine: the whole input goes to each parser, as NUL-terminated text. */
#include <stdint.h>
#include <string.h>

#include "observe/gpu.h"
#include "observe/limits.h"
#include "observe/log.h"
#include "observe/modules.h"
#include "observe/node.h"
#include "observe/pci.h"
#include "observe/pci_place.h"
#include "observe/rdma.h"
#include "observe/userspace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void files(const char *text)
{
	static const char *const options[] = {"CONFIG_DCB", "CONFIG_INFINIBAND", NULL};
	_cleanup_json_ json_t *release = os_release_parse(text);
	_cleanup_json_ json_t *config = kernel_config_parse(text, options);
	_cleanup_json_ json_t *facts = json_object();
	int64_t soft, hard;
	uint64_t bytes;

	limits_memlock_parse(text, &soft, &hard);
	pci_resource_parse(text, &bytes);
	packages_parse(json_obj(facts, "packages"), text);
	nvidia_version_parse(json_obj(facts, "driver"), text);
	nvidia_parameters_parse(json_obj(facts, "parameters"), text);
	nvidia_information_parse(json_obj(facts, "gpu"), text);
	json_put(facts, "release", json_incref(release));
	json_put(facts, "config", json_incref(config));
	/* whatever was made of it can be printed */
	_cleanup_free_ RH_UNUSED char *printed = json_to_text(facts, false);
}

static void values(const char *text)
{
	_cleanup_pci_place_ struct pci_place place = {0};
	_cleanup_free_ RH_UNUSED char *version = rdma_core_version(text);
	_cleanup_free_ RH_UNUSED char *provider = rdma_provider_name(text);
	double number;

	pci_place_parse(&place, text);
	pci_speed_parse(text, &number);
	rdma_rate_parse(text, &number);
	rdma_numbered_parse(text);
	module_path_in_tree(text);
	log_line_relevant(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = xstrndup((const char *)data, size);

	files(text);
	values(text);
	return 0;
}
