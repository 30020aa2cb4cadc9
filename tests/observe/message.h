/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hand-built netlink messages for parser tests. The message is copied to memory of exactly its
 * size before a parser sees it, so that a read past its end is found by the sanitizer.
 */
#pragma once

#include <libmnl/libmnl.h>
#include <string.h>

#include "base/alloc.h"
#include "host/host.h"
#include "observe/observe.h"

struct message {
	_Alignas(struct nlmsghdr) char buffer[8192];
	struct nlmsghdr *nlh;
};

/* A message of `type` with a family header of `len` bytes; returns the header to fill in. */
static inline RH_UNUSED void *message_start(struct message *m, uint16_t type, size_t len)
{
	memset(m, 0, sizeof(*m));
	m->nlh = mnl_nlmsg_put_header(m->buffer);
	m->nlh->nlmsg_type = type;
	return mnl_nlmsg_put_extra_header(m->nlh, len);
}

/* Hand the first `len` bytes (all: 0) to the parser, with nlmsg_len set to them. */
static inline RH_UNUSED int message_parse(const struct message *m, size_t len,
					  host_netlink_cb parse, void *data)
{
	size_t size = len ? len : m->nlh->nlmsg_len;
	_cleanup_free_ struct nlmsghdr *copy = xmalloc(size);

	memcpy(copy, m->nlh, size);
	copy->nlmsg_len = (uint32_t)size;
	return parse(copy, data);
}

/* Every shorter form of the message must be survived; what was read goes to a throw-away snapshot.
 * `data` must hold a pointer to `o`. */
static inline RH_UNUSED void message_parse_cut(const struct message *m, struct observation *o,
					       host_netlink_cb parse, void *data)
{
	json_t *snapshot = o->snapshot;

	for (size_t len = sizeof(struct nlmsghdr); len < m->nlh->nlmsg_len; len++) {
		o->snapshot = json_deep_copy(snapshot);
		message_parse(m, len, parse, data);
		json_decref(o->snapshot);
	}
	o->snapshot = snapshot;
}

static inline RH_UNUSED void observation_start(struct observation *o)
{
	o->host = NULL;
	o->snapshot = json_object();
}

static inline RH_UNUSED void observation_end(struct observation *o)
{
	json_decref(o->snapshot);
}

static inline RH_UNUSED size_t gaps(const struct observation *o)
{
	return json_array_size(json_object_get(o->snapshot, "gaps"));
}

/* The value at `pointer` must equal the JSON text. */
#define assert_fact(o, pointer, text)                                                          \
	do {                                                                                   \
		json_error_t error_;                                                           \
		json_t *want_ = json_loads((text), JSON_DECODE_ANY, &error_);                  \
		json_t *have_ = json_pointer_get((o)->snapshot, (pointer));                    \
		char *dump_ = have_ ? json_dumps(have_, JSON_ENCODE_ANY) : NULL;               \
		if (!want_ || !json_equal(have_, want_))                                       \
			print_error("%s is %s, not %s\n", (pointer), dump_ ? dump_ : "absent", \
				    (text));                                                   \
		assert_true(want_ && json_equal(have_, want_));                                \
		free(dump_);                                                                   \
		json_decref(want_);                                                            \
	} while (0)

#define assert_absent(o, pointer) assert_null(json_pointer_get((o)->snapshot, (pointer)))
