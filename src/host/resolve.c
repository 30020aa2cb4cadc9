/* SPDX-License-Identifier: Apache-2.0 */
#include "host/resolve.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <string.h>
#include <sys/wait.h>

#include "host/child.h"

/* A name with more addresses than that is a mistake. */
#define ADDRESSES_MAX 64

/* What the child says first; its addresses follow. */
struct outcome {
	int rc;		/* of getaddrinfo(3) */
	int code;	/* errno of EAI_SYSTEM */
	size_t n;
};

static struct outcome look_up(struct resolved list[ADDRESSES_MAX], const char *host, uint16_t port,
			      int flags)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV };
	struct addrinfo *found = NULL;
	_cleanup_free_ char *service = xasprintf("%u", port);
	struct outcome o = { .rc = getaddrinfo(host, service, &hints, &found) };

	o.code = o.rc == EAI_SYSTEM ? errno : 0;
	for (const struct addrinfo *a = o.rc ? NULL : found; a && o.n < ADDRESSES_MAX;
	     a = a->ai_next) {
		list[o.n] = (struct resolved){ .len = a->ai_addrlen };
		memcpy(&list[o.n++].address, a->ai_addr, a->ai_addrlen);
	}
	if (o.rc == 0)
		freeaddrinfo(found);
	return o;
}

static void RH_NORETURN look_up_in_child(const char *host, uint16_t port, int fd)
{
	struct resolved list[ADDRESSES_MAX];
	struct outcome o = look_up(list, host, port, 0);
	size_t len = o.n * sizeof(*list);

	/* less than a pipe holds: the writes do not wait */
	bool written = write(fd, &o, sizeof(o)) == sizeof(o) &&
		       write(fd, list, len) == (ssize_t)len;
	_exit(written ? 0 : 1);
}

static int ask_child(struct outcome *o, struct resolved list[ADDRESSES_MAX], const char *host,
		     uint16_t port, int64_t deadline_ms, struct error *err)
{
	struct child c = { .streams = { { .max = sizeof(*o) + ADDRESSES_MAX * sizeof(*list) },
					{ .drop = true } } };
	const struct strbuf *said = &c.streams[0].text;
	int64_t left = deadline_ms - clock_now_ms();
	int ends[CHILD_STREAMS];
	int rc = child_start(&c, ends, err);

	if (rc < 0)
		return rc;
	if (rc == 0)
		look_up_in_child(host, port, ends[0]);
	_cleanup_free_ char *what = xasprintf("looking up %s", host);
	rc = child_collect(&c, left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left, what, err);
	if (rc == 0 && said->len >= sizeof(*o))
		memcpy(o, said->s, sizeof(*o));
	if (rc == 0 && (said->len < sizeof(*o) || said->len != sizeof(*o) + o->n * sizeof(*list)))
		rc = error_set(err, -ECHILD, "%s: the resolver ended with status %d", what,
			       c.status);
	if (rc == 0)
		memcpy(list, said->s + sizeof(*o), o->n * sizeof(*list));
	child_clear(&c);
	return rc;
}

int resolve(struct resolved **list, size_t *n, const char *host, uint16_t port,
	    int64_t deadline_ms, struct error *err)
{
	struct resolved found[ADDRESSES_MAX];
	struct outcome o = look_up(found, host, port, AI_NUMERICHOST);

	if (o.rc == EAI_NONAME) {
		int rc = ask_child(&o, found, host, port, deadline_ms, err);
		if (rc < 0)
			return rc;
	}
	if (o.rc == EAI_SYSTEM)
		return error_set_errno(err, -o.code, "looking up %s", host);
	if (o.rc || !o.n)
		return error_set(err, o.rc == EAI_AGAIN ? -EAGAIN : -ENOENT, "looking up %s: %s",
				 host, o.rc ? gai_strerror(o.rc) : "no address");
	*list = xreallocarray(NULL, o.n, sizeof(**list));
	memcpy(*list, found, o.n * sizeof(**list));
	*n = o.n;
	return 0;
}
