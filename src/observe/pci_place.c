/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/pci_place.h"

#include <string.h>

#include "base/text.h"

#define HEX "0123456789abcdef"

bool pci_is_bdf(const char *s)
{
	const size_t domain = strspn(s, HEX);

	if (domain < 4 || domain > 8)
		return false;
	s += domain;
	return s[0] == ':' && strspn(s + 1, HEX) == 2 && s[3] == ':' && strspn(s + 4, HEX) == 2 &&
	       s[6] == '.' && s[7] >= '0' && s[7] <= '7' && s[8] == '\0';
}

/* "pci0000:00": the name of a root bus. */
static bool is_root(const char *s)
{
	if (!text_starts_with(s, "pci"))
		return false;
	s += 3;
	const size_t domain = strspn(s, HEX);
	return domain >= 4 && s[domain] == ':' && strspn(s + domain + 1, HEX) == 2 &&
	       s[domain + 3] == '\0';
}

void pci_place_clear(struct pci_place *place)
{
	free(place->root);
	free(place->bdf);
	free(place->parent);
	free(place->rest);
	memset(place, 0, sizeof(*place));
}

void pci_place_parse(struct pci_place *place, const char *target)
{
	memset(place, 0, sizeof(*place));
	while (*target) {
		const size_t n = strcspn(target, "/");
		_cleanup_free_ char *name = xstrndup(target, n);

		target += n;
		target += strspn(target, "/");
		if (is_root(name)) {
			/* A root below a device (VMD, Hyper-V) begins a tree of its own. */
			pci_place_clear(place);
			place->root = xstrdup(name);
		} else if (pci_is_bdf(name)) {
			free(place->parent);
			free(place->rest);
			place->parent = place->bdf;
			place->bdf = xstrdup(name);
			place->rest = xstrdup(target);
		}
	}
}
