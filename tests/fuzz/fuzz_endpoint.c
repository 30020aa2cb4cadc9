/* SPDX-License-Identifier: Apache-2.0 */
/* The description of a peer's endpoint: what is taken must fit into the verbs' fields. */
#include <stdint.h>
#include <stdlib.h>

#include "prove/endpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_json_ json_t *message = NULL;
	struct endpoint_peer peer;

	if (json_parse(&message, (const char *)data, size, "peer", NULL) < 0 ||
	    endpoint_peer_read(&peer, message, NULL) < 0)
		return 0;
	if (!peer.qps || peer.qps > ENDPOINT_QPS_MAX || peer.reads > UINT8_MAX ||
	    peer.mtu_bytes < 256 || peer.mtu_bytes > 4096 || peer.mtu_bytes & (peer.mtu_bytes - 1))
		abort();
	for (unsigned i = 0; i < peer.qps; i++)
		if (peer.qpn[i] < 2 || peer.qpn[i] > 0xffffff || peer.psn[i] > 0xffffff)
			abort();
	return 0;
}
