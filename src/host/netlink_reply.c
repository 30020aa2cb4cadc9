/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splitting of netlink datagrams. Layouts: include/uapi/linux/netlink.h; "Netlink Handbook" in the
 * kernel's Documentation/userspace-api/netlink/intro.rst for the extended ACK.
 */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "host/netlink_reply.h"

/* Largest errno of the kernel (MAX_ERRNO, include/linux/err.h). */
#define ERRNO_MAX 4095

/* Length of the message at `bytes`, or 0 when it does not fit into `len` bytes. */
static size_t message_length(const uint8_t *bytes, size_t len, struct nlmsghdr *header)
{
	if (len < sizeof(*header))
		return 0;
	memcpy(header, bytes, sizeof(*header));
	if (header->nlmsg_len < sizeof(*header) || header->nlmsg_len > len)
		return 0;
	return header->nlmsg_len;
}

/* The extack text among the attributes of an ACK, printable; NULL without one. The caller frees. */
static char *extack_text(const uint8_t *bytes, size_t len)
{
	while (len >= sizeof(struct nlattr)) {
		struct nlattr attr;

		memcpy(&attr, bytes, sizeof(attr));
		if (attr.nla_len < sizeof(attr) || attr.nla_len > len)
			break;
		if ((attr.nla_type & NLA_TYPE_MASK) == NLMSGERR_ATTR_MSG) {
			const char *text = (const char *)bytes + sizeof(attr);

			return text_printable(text, strnlen(text, attr.nla_len - sizeof(attr)));
		}
		size_t step = NLA_ALIGN(attr.nla_len);
		if (step >= len)
			break;
		bytes += step;
		len -= step;
	}
	return NULL;
}

static int kernel_error(int code, const uint8_t *tlvs, size_t tlvs_len, struct error *err)
{
	_cleanup_free_ char *text = extack_text(tlvs, tlvs_len);

	if (code > 0 || code < -ERRNO_MAX)
		return error_set(err, -EBADMSG, "the kernel's reply holds the error number %d",
				 code);
	if (text)
		return error_set(err, code, "%s (%s)", strerror(-code), text);
	return error_set(err, code, "%s", strerror(-code));
}

/* NLMSG_ERROR: 1 for an ACK, else the errno. `payload` follows the message header. */
static int verdict_of_error(uint16_t flags, const uint8_t *payload, size_t len, struct error *err)
{
	struct nlmsgerr e;
	size_t offset = sizeof(e);

	if (len < sizeof(e))
		return error_set(err, -EBADMSG, "the kernel's error message is cut off");
	memcpy(&e, payload, sizeof(e));
	if (!e.error)
		return 1;

	/* without NLM_F_CAPPED the whole request comes back before the attributes */
	if (!(flags & NLM_F_CAPPED) && e.msg.nlmsg_len > sizeof(e.msg))
		offset += NLMSG_ALIGN((size_t)e.msg.nlmsg_len) - sizeof(e.msg);
	if (!(flags & NLM_F_ACK_TLVS) || offset > len)
		offset = len;
	return kernel_error(e.error, payload + offset, len - offset, err);
}

/* NLMSG_DONE: 1, or the errno with which the dump ended. */
static int verdict_of_done(uint16_t flags, const uint8_t *payload, size_t len, struct error *err)
{
	int code;

	if (len < sizeof(code))
		return 1;
	memcpy(&code, payload, sizeof(code));
	if (code >= 0)
		return 1;
	size_t offset = flags & NLM_F_ACK_TLVS ? sizeof(code) : len;
	return kernel_error(code, payload + offset, len - offset, err);
}

static int keep_message(struct netlink_reply *reply, const uint8_t *bytes, struct nlmsghdr header,
			struct error *err)
{
	static const uint8_t zeros[NLMSG_ALIGNTO];
	size_t len = header.nlmsg_len;

	if (len + NLMSG_ALIGNTO > NETLINK_REPLY_MAX - reply->messages.len)
		return error_set(err, -EFBIG, "the kernel's reply is longer than %u bytes",
				 NETLINK_REPLY_MAX);
	header.nlmsg_seq = 0;
	header.nlmsg_pid = 0;
	strbuf_add(&reply->messages, &header, sizeof(header));
	strbuf_add(&reply->messages, bytes + sizeof(header), len - sizeof(header));
	strbuf_add(&reply->messages, zeros, NLMSG_ALIGN(len) - len);
	return 0;
}

static int take_message(struct netlink_reply *reply, const uint8_t *bytes,
			const struct nlmsghdr *header, struct error *err)
{
	const uint8_t *payload = bytes + NLMSG_HDRLEN;
	size_t len = header->nlmsg_len - NLMSG_HDRLEN;

	if (header->nlmsg_flags & NLM_F_DUMP_INTR)
		reply->interrupted = true;
	switch (header->nlmsg_type) {
	case NLMSG_NOOP:
		return 0;
	case NLMSG_OVERRUN:
		return error_set(err, -ENOBUFS, "the kernel lost messages of the reply");
	case NLMSG_ERROR:
		return verdict_of_error(header->nlmsg_flags, payload, len, err);
	case NLMSG_DONE:
		return verdict_of_done(header->nlmsg_flags, payload, len, err);
	default:
		return keep_message(reply, bytes, *header, err);
	}
}

int netlink_reply_add(struct netlink_reply *reply, const void *datagram, size_t len,
		      struct error *err)
{
	const uint8_t *bytes = datagram;
	struct nlmsghdr header;

	while (len) {
		size_t message = message_length(bytes, len, &header);

		if (!message)
			return error_set(err, -EBADMSG,
					 "a message length in the kernel's reply does "
					 "not fit its datagram");
		/* an answer to an earlier request whose time ran out may still be in the queue */
		if (header.nlmsg_seq == reply->seq &&
		    (header.nlmsg_pid == reply->portid || header.nlmsg_pid == 0)) {
			int rc = take_message(reply, bytes, &header, err);

			if (rc < 0)
				return rc;
			if (rc > 0 && reply->dump && reply->interrupted)
				return error_set(err, -EINTR, "the kernel's tables changed during "
							      "the dump");
			if (rc > 0)
				return 1;
		}
		size_t step = NLMSG_ALIGN(message);
		if (step >= len)
			break;
		bytes += step;
		len -= step;
	}
	return 0;
}

int netlink_messages_walk(const void *messages, size_t len, host_netlink_cb cb, void *data,
			  struct error *err)
{
	const uint8_t *bytes = messages;
	struct nlmsghdr header;
	size_t at;

	for (at = 0; at < len; at += NLMSG_ALIGN((size_t)header.nlmsg_len)) {
		size_t message = message_length(bytes + at, len - at, &header);

		if (!message || NLMSG_ALIGN(message) > len - at)
			return error_set(err, -EBADMSG,
					 "a message length in the netlink reply does "
					 "not fit");
	}
	for (at = 0; at < len; at += NLMSG_ALIGN((size_t)header.nlmsg_len)) {
		memcpy(&header, bytes + at, sizeof(header));
		int rc = cb((const void *)(bytes + at), data);

		if (rc < 0)
			return rc;
	}
	return 0;
}

void netlink_reply_clear(struct netlink_reply *reply)
{
	strbuf_clear(&reply->messages);
	reply->interrupted = false;
}
