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

#include "base/error.h"
#include "base/json.h"

#define WIRE_VERSION_MIN 1
#define WIRE_VERSION_MAX 1
#define WIRE_TOKEN_CHARS 26	/* 128 bits in base32, without padding */

struct wire;
struct wire_listener;

/* A new token from getrandom(2), NUL-terminated. */
int wire_token_new(char token[WIRE_TOKEN_CHARS + 1], struct error *err);

/* `address` NULL: all. `port` 0: any. */
int wire_listen(struct wire_listener **listener, const char *address, uint16_t port,
		const char *token, struct error *err);
uint16_t wire_listener_port(const struct wire_listener *listener);
/* Wait for the peer that knows the token; others are refused and forgotten. -ETIMEDOUT. The token
 * is used up by the first success. */
int wire_accept(struct wire **wire, struct wire_listener *listener, int timeout_ms,
		struct error *err);
void wire_listener_close(struct wire_listener *listener);

/* -EACCES: the other end does not know the token (or we do not know its). -EPROTONOSUPPORT: no
 * version in common; the message names both. */
int wire_connect(struct wire **wire, const char *host, uint16_t port, const char *token,
		 int timeout_ms, struct error *err);

/* Send a message {"type": …}; the reference stays the caller's. */
int wire_send(struct wire *wire, json_t *message, int timeout_ms, struct error *err);
/* Receive one. A message of type "error" from the peer becomes -EREMOTEIO with its text. -EPROTO:
 * not `type` (NULL: any). -ECONNRESET: the peer is gone. New reference. */
int wire_receive(struct wire *wire, const char *type, json_t **message, int timeout_ms,
		 struct error *err);
/* Tell the peer why we stop; failures are ignored. */
void wire_send_error(struct wire *wire, const struct error *why);
/* Descriptor, to poll(2) for a peer that goes away. */
int wire_fd(const struct wire *wire);
void wire_close(struct wire *wire);
