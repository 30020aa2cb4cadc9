/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pseudonyms: a keyed replacement for each kind of name. The same original gives the same
 * replacement, in whatever notation it is found.
 *
 * Addresses are mapped bit by bit so that two addresses which share their first n bits still share
 * exactly n bits (the method of Crypto-PAn; Xu, Fan, Ammar and Moon, 2002). So subnets, routes and
 * gateways keep their relations without any table. Known prefixes add that a network address stays
 * one (host bits zero) and a broadcast address stays one (host bits one).
 */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"
#include "host/siphash.h"

struct known_prefix {
	int family;
	uint8_t address[16];
	unsigned length;
};

struct pseudonyms {
	uint64_t key[2];
	bool collecting;	/* first pass: learn, change nothing */
	struct known_prefix *prefixes;
	size_t n_prefixes, prefixes_capacity;
	uint8_t (*macs)[6];
	size_t n_macs, macs_capacity;
	uint8_t (*ipv4s)[4];	/* addresses that netlink named as such */
	size_t n_ipv4s, ipv4s_capacity;
	char **hosts;		/* longest first */
	size_t n_hosts, hosts_capacity;
};

void pseudonyms_clear(struct pseudonyms *p);

/* In place; while collecting they only learn. Zero, broadcast, multicast and loopback addresses
 * stay; of link-local and private addresses the prefix that makes them so stays. */
void pseudonym_mac(struct pseudonyms *p, uint8_t mac[6]);
void pseudonym_ipv4(struct pseudonyms *p, uint8_t address[4]);
void pseudonym_ipv6(struct pseudonyms *p, uint8_t address[16]);
/* EUI-64 that was made from a MAC (RFC 4291, appendix A: ff:fe in the middle, or the PCI serial
 * number's ff:ff) follows that MAC; another GUID is replaced whole. */
void pseudonym_guid(struct pseudonyms *p, uint8_t guid[8]);
/* Letters become letters, digits digits, hex digits (`hex`) hex digits; the rest stays. */
void pseudonym_text(const struct pseudonyms *p, char *text, size_t len, bool hex);
/* Host name: label by label as pseudonym_text(), so that a common domain stays common. */
void pseudonym_host(const struct pseudonyms *p, char *name, size_t len);
void pseudonym_bytes(const struct pseudonyms *p, uint8_t *bytes, size_t len);

/* Learn, while collecting. */
void pseudonyms_learn_prefix(struct pseudonyms *p, int family, const uint8_t *address,
			     unsigned length);
void pseudonyms_learn_ipv4(struct pseudonyms *p, const uint8_t address[4]);
/* A host name with or without a domain; the name, its first label and its domain are learnt. */
void pseudonyms_learn_host(struct pseudonyms *p, const char *name);
bool pseudonyms_know_ipv4(const struct pseudonyms *p, const uint8_t address[4]);
