/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/run_grh.h"

#include <netinet/in.h>
#include <stddef.h>

#define IPV4_AT 20u
#define IPV4_WORDS 5u		/* RoCE v2 has no options */
#define IPV6_NEXT_HEADER 6u	/* offset in the header */
#define IPV4_PROTOCOL 9u
#define NEXT_HEADER_GRH 27u	/* InfiniBand, and adapters that keep to its layout */

/* RFC 1071: over a header with its checksum the sum is all ones. */
static bool checksum_is_right(const uint8_t *header)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < 4 * IPV4_WORDS; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

/* NULL: it is an IPv4 header of UDP. */
static const char *ipv4_fault(const uint8_t *header)
{
	if (header[0] != (4u << 4 | IPV4_WORDS))
		return "neither an IPv6 header nor an IPv4 header of 20 bytes";
	if (header[IPV4_PROTOCOL] != IPPROTO_UDP)
		return "an IPv4 header, but not of UDP";
	return checksum_is_right(header) ? NULL : "an IPv4 header with a wrong checksum";
}

static bool is_ipv6(const uint8_t *header)
{
	return header[0] >> 4 == 6 && (header[IPV6_NEXT_HEADER] == IPPROTO_UDP ||
				       header[IPV6_NEXT_HEADER] == NEXT_HEADER_GRH);
}

bool run_grh_read(struct grh *grh, const uint8_t area[GRH_BYTES])
{
	const char *why = ipv4_fault(area + IPV4_AT);
	uint8_t traffic_class;

	*grh = (struct grh){0};
	/* The checksum decides first: 20 bytes of anything may look like IPv6. */
	if (!why) {
		grh->ip_version = 4;
		traffic_class = area[IPV4_AT + 1];
	} else if (is_ipv6(area)) {
		grh->ip_version = 6;
		traffic_class = (uint8_t)(area[0] << 4 | area[1] >> 4);
	} else {
		grh->why = why;
		return false;
	}
	grh->dscp = traffic_class >> 2;
	grh->ecn = traffic_class & 3;
	return true;
}
