/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netlink replies: the input is a chain of datagrams, each behind its length as 16 bits (little
 * endian), for request number 7 of port 0. What is collected is walked, and anonymized both ways.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/anonymize_netlink.h"
#include "host/netlink_reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int walk_cb(const struct nlmsghdr *nlh, void *data)
{
	const uint8_t *bytes = (const uint8_t *)nlh;
	unsigned *sum = data;

	/* every byte of the message may be read */
	for (uint32_t i = 0; i < nlh->nlmsg_len; i++)
		*sum += bytes[i];
	return 0;
}

static void anonymize(const struct netlink_reply *reply)
{
	static const char *const protocols[] = { "route", "generic", "rdma" };
	_cleanup_json_ json_t *families = json_object();

	for (size_t i = 0; i < 2 * ARRAY_SIZE(protocols); i++) {
		struct pseudonyms p = { .key = { 1, 2 }, .collecting = i < ARRAY_SIZE(protocols) };
		_cleanup_free_ char *copy = xmalloc(reply->messages.len + 1);

		memcpy(copy, strbuf_str(&reply->messages), reply->messages.len);
		anonymize_netlink(&p, families, protocols[i % ARRAY_SIZE(protocols)], copy,
				  reply->messages.len);
		pseudonyms_clear(&p);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct netlink_reply reply = { .seq = 7, .dump = size & 1 };
	struct error err = {0};
	unsigned sum = 0;
	int rc = 0;

	while (size >= 2 && rc == 0) {
		size_t len = data[0] | (size_t)data[1] << 8;

		data += 2;
		size -= 2;
		if (len > size)
			len = size;
		_cleanup_free_ uint8_t *exact = xmalloc(len);
		if (len)
			memcpy(exact, data, len);
		rc = netlink_reply_add(&reply, exact, len, &err);
		if ((rc < 0) != (err.code < 0))
			abort();
		data += len;
		size -= len;
	}
	/* what was collected is whole, whatever came */
	if (netlink_messages_walk(reply.messages.s, reply.messages.len, walk_cb, &sum, &err) < 0)
		abort();
	anonymize(&reply);
	netlink_reply_clear(&reply);
	error_clear(&err);
	return 0;
}
