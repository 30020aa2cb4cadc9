/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest of a rendered folder: what is accepted never leads out of the folder. */
#include <stdint.h>
#include <string.h>

#include "render/folder_manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_manifest_ struct manifest manifest = {0};

	if (manifest_parse(&manifest, (const char *)data, size, NULL) < 0)
		return 0;
	for (size_t i = 0; i < manifest.n; i++) {
		const char *path = manifest.entries[i].path;

		if (path[0] == '/' || !strncmp(path, "../", 3) || strstr(path, "/../") ||
		    strlen(manifest.entries[i].sha256) != DIGEST_HEX - 1 ||
		    !manifest_find(&manifest, path))
			__builtin_trap();
	}
	return 0;
}
