/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The doors to the machine. Observers see a host through this context only: files below a root,
 * netlink requests, ethtool ioctls, the kernel log, module metadata, commands and bounded probes.
 *
 * Each door works in three ways. Live: it asks the machine. Record: it also keeps what was asked
 * and answered. Replay: it answers from a recording and touches nothing; a question that the
 * recording does not hold is the error -ENODATA with a message that names it, never an empty
 * answer. Answers include failures: a recorded EACCES is replayed as EACCES.
 *
 * All functions return 0 (or a count) or a negative errno and fill `err`. -ENOENT from the path
 * doors is an ordinary answer ("this machine has no such thing").
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/strbuf.h"
#include "base/strings.h"

struct host;

#define RECORDING_SCHEMA "railhead.recording/1"

struct host_options {
	const char *root;	/* prefix of every path, NULL: "/". With a root no netlink, ioctl,
				 * kernel log, command, probe or host_self() is answered
				 * (-EOPNOTSUPP): they would tell of this machine. */
	const char *replay;	/* recording to answer from, NULL: the machine */
	bool record;		/* keep the answers for host_record_write() */
};

int host_open(struct host **host, const struct host_options *options, struct error *err);
void host_close(struct host *host);
DEFINE_CLEANUP(host, struct host *, host_close)

bool host_is_replay(const struct host *host);
/* True when host_options.root was given: what is seen is a tree of files, not a running machine. */
bool host_is_below_root(const struct host *host);

/* --- path.c: files below the root. Paths are absolute ("/proc/cmdline"), printf style. -------- */

/* Largest file that host_read() accepts; a longer one is -EFBIG. */
#define HOST_FILE_MAX (4u << 20)

/* Whole file as bytes with an added NUL; the caller frees. Returns 0. `len` may be NULL. */
int host_read(struct host *host, char **data, size_t *len, struct error *err, const char *fmt, ...)
	RH_PRINTF(5, 6);
/* As host_read(), white space cut off both ends: the usual sysfs attribute. NULL on any failure,
 * which is told to `err` (may be NULL). The caller frees. */
char *host_read_text(struct host *host, struct error *err, const char *fmt, ...) RH_PRINTF(3, 4);
/* A sysfs number in any base that strtoll(3) knows ("0x8086", "-1"). */
int host_read_int(struct host *host, int64_t *value, struct error *err, const char *fmt, ...)
	RH_PRINTF(4, 5);
/* Only the lines that contain one of `needles` (NULL-terminated list), joined by newlines: for big
 * files of which a recording should keep the facts' sources and no more. */
int host_read_matching(struct host *host, char **data, const char *const *needles,
		       struct error *err, const char *fmt, ...) RH_PRINTF(5, 6);
/* Target of a symbolic link as it is written; the caller frees. */
int host_readlink(struct host *host, char **target, struct error *err, const char *fmt, ...)
	RH_PRINTF(4, 5);
/* Last component of a symbolic link's target ("driver" -> "ice"); NULL when there is none. */
char *host_readlink_base(struct host *host, const char *fmt, ...) RH_PRINTF(2, 3);
/* Entries of a directory without "." and "..", sorted bytewise, as a list of
 * base/strings.h that the caller frees. Returns their number. */
int host_list(struct host *host, char ***names, struct error *err, const char *fmt, ...)
	RH_PRINTF(4, 5);

struct host_stat {
	char type; /* 'f' file, 'd' directory, 'c' character device, 'b', 'l', 'p', 's' */
	uint32_t mode;		/* permission bits */
	uint32_t dev_major, dev_minor;	/* of a device node */
	int usable; /* 0: open(O_RDWR) of a character device worked, else negative errno;
		     * -ENODATA: it was not tried */
};
/* Facts of one path (symbolic links followed). `try_open` also tries to open a character device. */
int host_stat(struct host *host, struct host_stat *st, bool try_open, struct error *err,
	      const char *fmt, ...) RH_PRINTF(5, 6);

/* --- netlink.c: one transport for rtnetlink, generic netlink, NETLINK_RDMA (dcbnl is rtnetlink) */

struct nlmsghdr;

/* Called once for each message of the reply (not for ACK, ERROR, DONE). Return 0, or a negative
 * errno to stop. Every message has been length-checked against the datagram. */
typedef int (*host_netlink_cb)(const struct nlmsghdr *nlh, void *data);

/*
 * Send one request, collect the whole reply, then hand its messages to `cb`.
 * `protocol` is NETLINK_ROUTE, NETLINK_GENERIC or NETLINK_RDMA. nlmsg_seq and nlmsg_pid are set
 * here. A dump that the kernel flags as interrupted (NLM_F_DUMP_INTR) is asked again, five times at
 * most, then -EINTR. An NLMSG_ERROR is returned as its errno, with the kernel's extack text in
 * `err`. -EPROTONOSUPPORT: this kernel has no such netlink family (socket refused). -EBADMSG: the
 * reply's lengths do not fit. -ETIMEDOUT: no reply within two seconds. The reply is collected
 * before `cb` runs, so `cb` never sees half of an interrupted dump. NETLINK_ROUTE is asked with
 * strict checking: a dump request carries the full header of its type (struct ifinfomsg for
 * RTM_GETLINK, not struct rtgenmsg), its fields filter, and the others are 0. NETLINK_RDMA is only
 * asked when ib_core is there, since the socket alone would load it.
 */
int host_netlink(struct host *host, int protocol, struct nlmsghdr *request, host_netlink_cb cb,
		 void *data, struct error *err);

/* Family id of a generic netlink family, or -ENOENT when the kernel has none of that name.
 * Cached. */
int host_genl_family(struct host *host, const char *name, struct error *err);

/* Largest request that host_netlink() takes, for the caller's buffer. */
#define HOST_NETLINK_REQUEST_MAX 1024

/* --- ioctl.c: what ethtool netlink does not carry --------------------------------------------- */

struct host_drvinfo {
	char driver[33], version[33], firmware[33], bus_info[33];
};
int host_ethtool_drvinfo(struct host *host, const char *link, struct host_drvinfo *info,
			 struct error *err);
/* Driver statistics (ethtool -S) as a JSON object name -> number. New reference. */
int host_ethtool_stats(struct host *host, const char *link, json_t **stats, struct error *err);

/* --- kmsg.c: the kernel log ------------------------------------------------------------------- */

/* Lines of the kernel log that contain one of `needles`, oldest first, as a JSON array of
 * {"time_us", "level", "text"}. -EPERM or -EACCES when the log may not be read. New reference. */
int host_kernel_log(struct host *host, const char *const *needles, json_t **lines,
		    struct error *err);

/* --- modinfo.c: kernel module metadata through libkmod ---------------------------------------- */

/* {"path", "version", "srcversion", "license", "vermagic", "builtin": bool, "blacklisted": bool,
 *  "options": "text of modprobe.d", "parameters": ["name", …] that the file declares}
 * of the module file that modprobe would load; absent keys were not in the file. -ENOENT: none. */
int host_module_info(struct host *host, const char *name, json_t **info, struct error *err);
/* The same without "version" to "vermagic" and "parameters": the module file, which has to be
 * decompressed as a whole (0.03 s of processor time per MB), is not opened. */
int host_module_find(struct host *host, const char *name, json_t **info, struct error *err);

/* --- exec.c, probe.c: bounded children -------------------------------------------------------- */

/* Run `argv` (looked up in PATH) with no standard input; its standard output up to HOST_FILE_MAX.
 * Returns the exit status (0..255), or -ETIMEDOUT after `timeout_ms`, -ENOENT when there is no such
 * program, -EFBIG, -ECHILD when a signal ended it. What it leaves running in its process group is
 * killed. The caller frees `output`. */
int host_exec(struct host *host, const char *const argv[], int timeout_ms, char **output,
	      struct error *err);

/*
 * Run `probe` in a child and return the JSON document that it makes: for libraries that may hang or
 * crash (NVML, libibverbs with its providers). The child is killed after `timeout_ms` (-ETIMEDOUT);
 * a signal is -ECHILD with its name. What the child wrote to standard error comes back in
 * `*stderr_text` (may be NULL) as text. New reference in `*result`.
 */
typedef int (*host_probe)(json_t *result, struct error *err);
int host_probe_run(struct host *host, const char *name, host_probe probe, int timeout_ms,
		   json_t **result, char **stderr_text, struct error *err);

/* --- clock.c ---------------------------------------------------------------------------------- */

struct host_time {
	int64_t realtime_s;	/* seconds since 1970, UTC */
	int64_t boottime_ns;	/* CLOCK_BOOTTIME */
};
int host_time(struct host *host, struct host_time *t, struct error *err);
/* uname(2), below a root /proc/sys/kernel: {"sysname","nodename","release","version","machine"}.
 * New reference. */
int host_uname(struct host *host, json_t **names, struct error *err);
/* Own limits and rights: {"memlock_soft","memlock_hard" (bytes, -1 = unlimited), "euid", "cap_eff"
 * (hex text)}. New reference. */
int host_self(struct host *host, json_t **self, struct error *err);

/* --- record.c --------------------------------------------------------------------------------- */

struct host_record_options {
	bool anonymize; /* replace MACs, IP addresses, GIDs, GUIDs, serials and host names, the same
			 * everywhere in the file, so that relations stay readable */
	const char *note;	/* free text kept in the recording, may be NULL */
};
/* Write what was asked and answered since host_open() to `path` ("-": standard output), as
 * gzip-compressed JSON, schema "railhead.recording/1" (docs/recording.md). A failed write leaves no
 * half file behind. */
int host_record_write(struct host *host, const char *path,
		      const struct host_record_options *options, struct error *err);
