/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of /userspace. */
#pragma once

#include "observe/observe.h"

/* "libibverbs.so.1.14.44.0" -> "44.0", the version of rdma-core. New string; NULL for other names,
 * as those of the library before it became part of rdma-core ("libibverbs.so.1.0.0"). */
char *rdma_core_version(const char *file);
/* "libirdma-rdmav34.so" -> "irdma"; NULL for other names. New string. */
char *rdma_provider_name(const char *file);

/*
 * Probe for host_probe_run(): opens every RDMA device through libibverbs, which is looked up at run
 * time, and asks for its attributes. Makes {"opened": [name], "failed": {name: text},
 * "devices": {name: {"capabilities": {…}, "ports": {number: {"active_mtu", "max_mtu"}}}}}.
 * -ELIBACC: the library or a function in it is not there.
 */
int verbs_probe(json_t *result, struct error *err);
