/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perftest (linux-rdma/perftest: ib_write_bw and its kin), the measure that the field knows: where
 * it is, what it can be asked, and its command lines. Nothing goes through a shell, every word of a
 * command line is made here from values that were checked, and only these programs are started.
 */
#pragma once

#include <stdint.h>

#include "base/strings.h"
#include "host/host.h"

/* How long it runs before and after what it counts. */
#define PERFTEST_MARGIN_S 1u

struct perftest_tool {
	const char *name;	/* "ib_write_bw" */
	char *path;
	char *version;		/* "6.06" */
	char *help;		/* what it prints for --help: its options differ by version */
};

struct perftest_request {
	bool server;		/* waits for the other one */
	const char *address;	/* numeric, of the server's end of the path; IPv4 or IPv6 */
	const char *own_address;	/* of this end of the path */
	uint16_t tcp_port;	/* of perftest's own handshake */
	const char *device;
	unsigned port;
	int gid_index;
	unsigned mtu_bytes;
	int traffic_class;	/* -1: not marked */
	const char *memory;	/* kind at this end: "host", "huge", "cuda" */
	const char *gpu;	/* BDF, of cuda memory */
	size_t size_bytes;
	unsigned qps, depth;	/* of a bandwidth run */
	double seconds;		/* of a bandwidth run; whole ones are what it knows */
	uint64_t iterations;	/* of a latency run: percentiles come without --duration only */
};

/*
 * The program for an operation ("write", "read", "send"), in one of `folders` (NULL-terminated;
 * NULL: those of the system), asked for its version and its options. -ENOENT: it is not installed.
 */
int perftest_find(struct perftest_tool *tool, struct host *host, const char *const *folders,
		  const char *operation, bool latency, struct error *err);
void perftest_tool_clear(struct perftest_tool *tool);
#define _cleanup_perftest_tool_ __attribute__((cleanup(perftest_tool_clear)))

/* Does its --help name the option ("tclass")? */
bool perftest_knows(const struct perftest_tool *tool, const char *option);

/* Words of the command line, NULL-terminated, the caller's. -EOPNOTSUPP: this version of it, or
 * perftest, cannot do what is asked for; -EINVAL: an address that is none. */
int perftest_command(char ***words, const struct perftest_tool *tool, bool latency,
		     const struct perftest_request *r, struct error *err);
