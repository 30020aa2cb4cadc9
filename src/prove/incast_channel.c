/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/incast_channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"

/* Records of a session are some hundred KiB. */
#define MESSAGE_MAX_BYTES (32u << 20)
#define READ_BYTES (64u << 10)

int incast_channel_send(struct incast_channel *channel, json_t *message, struct error *err)
{
	_cleanup_strbuf_ struct strbuf line = {0};
	_cleanup_free_ char *text = json_to_text(message, false);

	/* a newline within a text is escaped there */
	strbuf_printf(&line, "%s\n", text);
	for (size_t sent = 0; sent < line.len;) {
		ssize_t n = send(channel->fd, line.s + sent, line.len - sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_errno(err, -ECONNRESET, "process of the incast");
		sent += (size_t)n;
	}
	return 0;
}

/* Read what is there, at least one byte. 0: nothing is. */
static int read_more(struct incast_channel *channel, struct error *err)
{
	_cleanup_free_ char *bytes = xmalloc(READ_BYTES);
	ssize_t n;

	do {
		n = recv(channel->fd, bytes, READ_BYTES, MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return 0;
	if (n <= 0)
		return error_set_errno(err, -ECONNRESET, "process of the incast");
	strbuf_add(&channel->heard, bytes, (size_t)n);
	if (channel->heard.len > MESSAGE_MAX_BYTES)
		return error_set(err, -EBADMSG, "process of the incast: a message of over %u bytes",
				 MESSAGE_MAX_BYTES);
	return 1;
}

int incast_channel_take(struct incast_channel *channel, json_t **message, struct error *err)
{
	struct strbuf *heard = &channel->heard;
	char *end;

	while (!(end = memchr(strbuf_str(heard), '\n', heard->len))) {
		int rc = read_more(channel, err);

		if (rc <= 0)
			return rc;
	}
	const size_t len = (size_t)(end - heard->s);
	int rc = json_parse(message, heard->s, len, "message of the incast", err);

	memmove(heard->s, end + 1, heard->len - len);	/* with its NUL */
	heard->len -= len + 1;
	return rc < 0 ? error_set(err, -EBADMSG, "process of the incast: no message") : 1;
}

void incast_channel_close(struct incast_channel *channel)
{
	if (channel->fd >= 0)
		close(channel->fd);
	channel->fd = -1;
	strbuf_clear(&channel->heard);
}
