/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the text of /proc/net/bonding/BOND. */
#include <string.h>

#include "base/alloc.h"
#include "observe/links.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const ports[] = {"reth0", "reth1", "enp7s0", "enp8s0", ""};
	_cleanup_json_ json_t *links = json_object();
	_cleanup_free_ char *text = xmalloc(size + 1);

	for (size_t i = 0; i < ARRAY_SIZE(ports); i++)
		json_obj(json_obj(links, ports[i]), "bond_port");
	memcpy(text, data, size);
	text[size] = '\0'; /* as host_read() does */
	links_parse_bond_text(links, text);

	_cleanup_free_ RH_UNUSED char *printed = json_to_text(links, false);
	return 0;
}
