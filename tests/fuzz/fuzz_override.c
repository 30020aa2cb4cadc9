/* SPDX-License-Identifier: Apache-2.0 */
/* Values laid over a site file: each line of the input is a KEY=VALUE. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "base/text.h"
#include "site/site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char file[] =
	"schema: railhead.site/1\n"
	"name: fuzz\n"
	"defaults: {os: {id: rhel, version: \"10.2\"}}\n"
	"profiles:\n"
	"  gpu: {links: &l {ens1f0: {mtu: 9000}, ens1f1: {}}, rdma: {ens1f0: {}}}\n"
	"nodes:\n"
	"  gpu-1: {profile: gpu}\n"
	"  gpu-2.example.net: {links: *l, roles: [gpu, storage]}\n"
	"qos: {prio_tc: {3: 3}}\n"
	"gpu_operator: {version: v26.3.3, driver: {rdma: {enabled: true}}}\n"
	"registry: {mirrors: {nvcr.io: a.example.net}}\n"
	"storage: {nodes: [gpu-1]}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = xstrndup((const char *)data, size);
	_cleanup_error_ struct error err = {0};
	_cleanup_site_ struct site *site = NULL;
	_cleanup_strings_ char **lines = NULL;
	char *cursor = text, *line;

	while ((line = text_next_line(&cursor)))
		strings_add(&lines, xstrdup(line));
	int rc = site_parse_with(&site, file, strlen(file), "fuzz.yaml",
				 (const char *const *)lines, &err);

	if (rc < 0 ? site || !err.message : !json_is_object(site->document))
		abort();
	return 0;
}
