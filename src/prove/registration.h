/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory of a kind the NIC registers as a DMA-BUF, tried with lengths that double: from
 * which length on, at which call, with which errno and which words of the kernel it ends.
 */
#pragma once

#include "host/host.h"
#include "prove/memory.h"

#define REGISTRATION_MAX_BYTES ((size_t)16 << 30)

/* Is memory of this kind given to the NIC as a DMA-BUF ("cuda", "udmabuf")? */
bool registration_applies(const char *kind);

/*
 * Try, for about `limit_ms` at most. `*result` (docs/proof.md, run "register"): largest_bytes,
 * tried, stopped. `*memory`: what a record has to say of the memory before there is any: kind,
 * double, gpu. Both are new references, also when nothing could be tried; what failed is in them.
 */
void registration_try(json_t **result, json_t **memory, const struct memory_request *request,
		      const struct verbs *v, struct ibv_pd *pd, struct host *host, int limit_ms);
