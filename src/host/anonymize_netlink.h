/* SPDX-License-Identifier: Apache-2.0 */
/* Names inside netlink messages. */
#pragma once

#include "base/json.h"
#include "host/pseudonym.h"

/*
 * Replace the addresses, GUIDs and serial numbers in a run of messages of `protocol` ("route",
 * "generic", "rdma"), in place. Requests and replies go through the same tables, so that a replay
 * still finds its question. `families` is {"id as text": name} of the generic netlink families; it
 * is filled while collecting. Bytes that are no messages are passed over.
 */
void anonymize_netlink(struct pseudonyms *p, json_t *families, const char *protocol, void *messages,
		       size_t len);
