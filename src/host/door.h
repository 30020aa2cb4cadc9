/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam inside host/: every door is a question (door name and key) and an answer (a JSON
 * object).
 *
 * A door writes a live function that makes the answer, and a reader that turns the answer into what
 * its caller wants. door_ask() chooses where the answer comes from, and keeps it when a recording
 * is being made. All three ways go through the same reader, so a replay cannot differ from the
 * machine.
 *
 * A failure is an answer too: {"errno": 2, "message": "/proc/x: No such file or directory"}.
 */
#pragma once

#include "host/clock.h"
#include "host/host.h"

struct door_memory;
struct netlink_socket;

/* NETLINK_ROUTE, NETLINK_GENERIC, NETLINK_RDMA */
#define HOST_NETLINK_PROTOCOLS 3

struct host {
	char *root;		/* as given, without a final slash; NULL: "/" */
	int root_fd;		/* O_PATH; -1 in a replay */
	struct door_memory *recording;	/* what was asked and answered; NULL: not recording */
	struct door_memory *replay;	/* where answers come from; NULL: the machine */
	struct netlink_socket *netlink[HOST_NETLINK_PROTOCOLS];	/* made at first use, kept */
	json_t *genl_families;	/* name -> id, or negative errno */
};

/* Make the live answer of `question` (the door's own structure). Returns 0 with a new reference in
 * `*answer`, or a negative errno with `err` filled. */
typedef int (*door_live)(struct host *host, const void *question, json_t **answer,
			 struct error *err);

/*
 * Answer `key` of `door`. Returns 0 with a new reference in `*answer`, or the negative errno that
 * the machine gave (then or now). -ENODATA: the recording has no such question.
 * `below_root`: the door also works with --root; otherwise that is -EOPNOTSUPP.
 */
int door_ask(struct host *host, const char *door, const char *key, bool below_root, door_live live,
	     const void *question, json_t **answer, struct error *err);

/* An answer with one member; steals `value`. New reference. */
json_t *door_answer_new(const char *key, json_t *value);

/* --- codec: bytes in JSON. A string when they are UTF-8 without NUL, else {"base64": text}. --- */

json_t *door_bytes_new(const void *data, size_t len);
/* The bytes of such a value with an added NUL; the caller frees. -EBADMSG: it is no such value. */
int door_bytes_get(const json_t *value, char **data, size_t *len, struct error *err);

/* Base64 (RFC 4648, padded, no line breaks). Decoding is strict; -EBADMSG otherwise. */
char *base64_encode(const void *data, size_t len);
int base64_decode(const char *text, size_t text_len, char **data, size_t *len);

/* The failure that an answer holds, given to `err`; 0 when it holds none. */
int door_failure(json_t *answer, const char *door, struct error *err);

/* Error for an answer in a recording that is not of the door's form. Returns -EBADMSG. */
int door_malformed(const char *door, struct error *err);

/* --- door_memory: the questions and answers of a recording (memory.c) ------------------------- */

struct door_memory *door_memory_new(void);
void door_memory_free(struct door_memory *m);
/* Steals `answer`. */
void door_memory_keep(struct door_memory *m, const char *door, const char *key, json_t *answer);
/* Next answer to this question, in the order of recording; the last one repeats. Borrowed, or
 * NULL. */
json_t *door_memory_next(struct door_memory *m, const char *door, const char *key);
/* {door: {key: [answer, ...]}} with doors and keys sorted bytewise, repeated last answers dropped.
 * New reference; the answers are shared with the memory. */
json_t *door_memory_document(const struct door_memory *m);
/* Fill an empty memory from such a document, each form checked. */
int door_memory_load(struct door_memory *m, json_t *document, struct error *err);

/* In a function with a last parameter `fmt, ...`: the formatted path. The caller frees. */
#define path_from_format(fmt)                                                                  \
	({                                                                                     \
		va_list ap_;                                                                   \
		va_start(ap_, fmt);                                                            \
		char *path_ = xvasprintf(fmt, ap_);                                            \
		va_end(ap_);                                                                   \
		path_;                                                                         \
	})

/* --- shared by several files of host/ --------------------------------------------------------- */

void netlink_socket_free(struct netlink_socket *s);

/* Open below the root; flags as open(2), O_CLOEXEC is added. Returns the fd or a negative errno
 * without a message. Only for live functions. */
int path_open(struct host *host, const char *path, int flags);
/* Whole file, as host_read() reads it, added to an empty `data`. Only for live functions. */
int path_read(struct host *host, const char *path, struct strbuf *data, struct error *err);
