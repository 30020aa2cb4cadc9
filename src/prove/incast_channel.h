/* SPDX-License-Identifier: Apache-2.0 */
/* Between a session of an incast and its leader: JSON messages {"type": …}, one a line, over a
 * stream socket that both inherited. Both are this program; what is inside may be a peer's text. */
#pragma once

#include "base/json.h"
#include "base/strbuf.h"

struct incast_channel {
	int fd;			/* -1: closed */
	struct strbuf heard;	/* read and not taken yet */
};

/* -ECONNRESET: the other side is gone. */
int incast_channel_send(struct incast_channel *channel, json_t *message, struct error *err);
/* The next message: 1; 0: none has come yet. -ECONNRESET: the other side is gone; -EBADMSG: what
 * came is no message. Never waits. New reference. */
int incast_channel_take(struct incast_channel *channel, json_t **message, struct error *err);
void incast_channel_close(struct incast_channel *channel);
