/* SPDX-License-Identifier: Apache-2.0 */
/* What the writers for network operating systems share: lists of numbers, lines of verify.txt. */
#include "render/switch.h"

#include <stdarg.h>
#include <string.h>

void switch_heading(struct strbuf *b, const char *text)
{
	strbuf_printf(b, "%s%s\n", b->len ? "\n" : "", text);
	for (size_t i = 0; i < strlen(text); i++)
		strbuf_putc(b, '-');
	strbuf_puts(b, "\n\n");
}

void switch_check(struct strbuf *b, const char *command, const char *expected, ...)
{
	va_list ap;

	va_start(ap, expected);
	_cleanup_free_ char *text = xvasprintf(expected, ap);
	va_end(ap);
	strbuf_printf(b, "  %s\n      %s\n", command, text);
}

int64_t switch_kilobytes(int64_t bytes)
{
	return bytes < 1024 ? 1 : (bytes + 512) / 1024;
}

int64_t switch_mtu(const struct switch_plan *plan, const struct switch_system *system)
{
	return plan->mtu < system->mtu_max ? plan->mtu : system->mtu_max;
}

void switch_other_dscps(struct strbuf *b, const struct switch_class *class, const char *separator,
			bool ranges)
{
	const char *between = "";

	for (int dscp = 0; dscp < 64; dscp++) {
		int last = dscp;

		if (dscp == class->dscp || dscp == class->cnp_dscp)
			continue;
		while (ranges && last < 63 && last + 1 != class->dscp &&
		       last + 1 != class->cnp_dscp)
			last++;
		strbuf_printf(b, "%s%d", between, dscp);
		if (last > dscp)
			strbuf_printf(b, "-%d", last);
		between = separator;
		dscp = last;
	}
}

unsigned *switch_vlans_all(const struct switch_plan *plan, const struct switch_interface *interface,
			   size_t *n)
{
	unsigned *vlans = xcalloc(interface->n_vlans + 1, sizeof(*vlans));
	bool untagged = plan->vlan;

	*n = 0;
	for (size_t i = 0; i < interface->n_vlans; i++) {
		if (untagged && plan->vlan < interface->vlans[i]) {
			vlans[(*n)++] = (unsigned)plan->vlan;
			untagged = false;
		}
		vlans[(*n)++] = interface->vlans[i];
	}
	if (untagged)
		vlans[(*n)++] = (unsigned)plan->vlan;
	return vlans;
}

void switch_vlans(struct strbuf *b, const unsigned *vlans, size_t n)
{
	for (size_t i = 0; i < n; i++)
		strbuf_printf(b, "%s%u", i ? "," : "", vlans[i]);
}

const char *switch_first_port(const struct switch_device *device)
{
	return device->n_interfaces ? device->interfaces[0].members[0].port : "PORT";
}

const struct switch_interface *switch_first_bundle(const struct switch_device *device)
{
	for (size_t i = 0; i < device->n_interfaces; i++)
		if (device->interfaces[i].number)
			return &device->interfaces[i];
	return NULL;
}

bool switch_has_pair(const struct switch_plan *plan)
{
	for (size_t i = 0; i < plan->n_devices; i++)
		for (size_t j = 0; j < plan->devices[i].n_interfaces; j++)
			if (plan->devices[i].interfaces[j].pair)
				return true;
	return false;
}
