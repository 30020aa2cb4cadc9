/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the connecting end of a proof says to a listener that knows it: lines of JSON, one message
 * each, and then it is gone. The listener has a provider (a double) and runs what it is told to;
 * it must come back with words, and leave nothing behind. Proposals that are allowed but take long
 * are left out.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "doubles/verbs_double.h"
#include "prove/session.h"
#include "prove/wire_auth.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY_MAX (256u << 10)
#define SECONDS_MAX 0.01
#define LIMIT_MS 5

static const char snapshot[] =
	"{\"node\": {\"hostname\": \"b\"}, \"links\": {\"l\": {\"addresses\": [{\"family\": \"ipv4\","
	" \"address\": \"192.0.2.2\"}]}}, \"routes\": [{\"family\": \"ipv4\", \"destination\":"
	" \"192.0.2.0/24\", \"link\": \"l\", \"table\": \"main\"}], \"rdma\": {\"devices\":"
	" {\"double1\": {\"ports\": {\"1\": {\"state\": \"ACTIVE\", \"link\": \"l\", \"gids\":"
	" [{\"index\": 1, \"gid\": \"::ffff:192.0.2.2\", \"type\": \"RoCE v2\", \"link\": \"l\"}]}}}}}}";

static bool takes_long(json_t *message)
{
	struct session_parameters p;

	return !session_parameters_read(&p, message, NULL) &&
	       (session_memory_bytes(&p) > MEMORY_MAX || p.seconds > SECONDS_MAX || p.qps > 4);
}

/* False: the rest is not said, or nothing of it. */
static bool say(struct wire *wire, const uint8_t *line, size_t len)
{
	_cleanup_json_ json_t *message = NULL;

	if (json_parse(&message, (const char *)line, len, "line", NULL) < 0 ||
	    !json_is_object(message))
		return false;
	return !takes_long(message) && !wire_send(wire, message, 0, NULL);
}

static void say_all(struct wire *wire, const uint8_t *data, size_t size)
{
	while (size) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t len = end ? (size_t)(end - data) : size;

		if (len && !say(wire, data, len))
			break;
		len += end != NULL;
		data += len;
		size -= len;
	}
	shutdown(wire_fd(wire), SHUT_WR);
}

static void listen_to(struct wire *wire, json_t *facts)
{
	/* a tree in which none of the files is */
	const struct host_options options = { .root = "/dev" };
	_cleanup_json_ json_t *records = NULL;
	_cleanup_error_ struct error err = {0};
	struct session_end end = {
		.wire = wire,
		.verbs = verbs_double(),
		.want = { .snapshot = facts, .gid_index = -1 },
		.timeout_ms = LIMIT_MS,
	};

	if (host_open(&end.host, &options, NULL) < 0)
		abort();
	int rc = session_answer(&records, &end, &err);
	if ((rc < 0) != (err.code < 0) || (rc < 0 && !err.message) || (!rc && !records))
		abort();
	host_close(end.host);
	if (verbs_double_objects() || verbs_double_complaint())
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct wire_keys up = { .send = "a", .receive = "b" },
				      down = { .send = "b", .receive = "a" };
	_cleanup_json_ json_t *facts = NULL;
	int ends[2];

	if (json_parse(&facts, snapshot, strlen(snapshot), "snapshot", NULL) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		abort();
	verbs_double_reset(NULL);
	struct wire *connector = wire_new(ends[0], "listener", &up);
	struct wire *listener = wire_new(ends[1], "192.0.2.1", &down);
	say_all(connector, data, size);
	listen_to(listener, facts);
	wire_close(listener);
	wire_close(connector);
	return 0;
}
