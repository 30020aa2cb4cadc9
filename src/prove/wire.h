/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control channel between the two ends of a proof: TCP, framed JSON messages, each end proves
 * that it knows the token before anything else is read. Format: wire.c.
 *
 * Nobody without the token can make the listener allocate more than a small fixed amount, learn
 * anything of the run, or keep it busy: one peer is served at a time, unauthenticated ones have a
 * short time limit and a small frame limit. Every call has a time limit.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"

#define WIRE_VERSION_MIN 1
#define WIRE_VERSION_MAX 1
#define WIRE_TOKEN_CHARS 26	/* 128 bits in base32, without padding */

struct wire;
struct wire_listener;

/* A new token from getrandom(2), NUL-terminated. */
int wire_token_new(char token[WIRE_TOKEN_CHARS + 1], struct error *err);

/* `address` NULL: all. `port` 0: any. -EINVAL also: not the form of a token. */
int wire_listen(struct wire_listener **listener, const char *address, uint16_t port,
		const char *token, struct error *err);
uint16_t wire_listener_port(const struct wire_listener *listener);
/* Give up waiting for a peer, -ECANCELED, when this descriptor can be read, which the caller owns. */
void wire_listener_watch(struct wire_listener *listener, int fd);
/* Wait for the peer that knows the token; others are refused and forgotten. -ETIMEDOUT. The token
 * is used up by the first success, after which nobody listens: -EKEYEXPIRED. */
int wire_accept(struct wire **wire, struct wire_listener *listener, int timeout_ms,
		struct error *err);
/* Connections that were refused until now; `*last` is why the last one was (the listener's; NULL:
 * none was). */
uint64_t wire_listener_refused(const struct wire_listener *listener, const char **last);
void wire_listener_close(struct wire_listener *listener);

/* -EACCES: the other end does not know the token (or we do not know its). -EPROTONOSUPPORT: no
 * version in common; the message names both. -EBUSY: the listener has its peer. -EINVAL: not the
 * form of a token. -EPROTO: no railhead listens there. -ENOENT: no such host. */
int wire_connect(struct wire **wire, const char *host, uint16_t port, const char *token,
		 int timeout_ms, struct error *err);

/* Send a message {"type": …}; the reference stays the caller's. -EMSGSIZE: over 1 MiB as text. */
int wire_send(struct wire *wire, json_t *message, int timeout_ms, struct error *err);
/* Receive one. A message of type "error" from the peer becomes -EREMOTEIO with its text, also of
 * wire_send() when the peer left one behind. -EPROTO: not `type` (NULL: any), or no message.
 * -ECONNRESET: the peer is gone. -EBADMSG: a frame that is not the peer's, or out of order. After
 * -ETIMEDOUT a later call goes on; after what else breaks the stream all calls are -ENOTCONN. New
 * reference; its texts are the peer's, to be printed with care. */
int wire_receive(struct wire *wire, const char *type, json_t **message, int timeout_ms,
		 struct error *err);
/* Tell the peer why we stop; failures are ignored. */
void wire_send_error(struct wire *wire, const struct error *why);
/* The same, with an object (NULL: none) that goes with the text. */
void wire_send_error_detail(struct wire *wire, const struct error *why, json_t *detail);
/* What went with the peer's error, NULL: nothing. Nothing of it is checked. Borrowed. */
json_t *wire_error_detail(const struct wire *wire);
/* Numeric address of the peer. */
const char *wire_peer(const struct wire *wire);
/* Descriptor, to poll(2) for a peer that goes away. */
int wire_fd(const struct wire *wire);
void wire_close(struct wire *wire);
DEFINE_CLEANUP(wire, struct wire *, wire_close)
DEFINE_CLEANUP(wire_listener, struct wire_listener *, wire_listener_close)
