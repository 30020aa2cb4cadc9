/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage.path: did RDMA carry the objects? Judged from the record of a run in the client's
 * snapshot, /storage/path. Speed proves nothing either way: a healthy RDMA GET of 1 MiB has been
 * slower than TCP. Four witnesses must agree: the reply header, the server's counters, the NIC's
 * counters, and TCP bytes that are few against the payload.
 */
#include <string.h>

#include "base/text.h"
#include "judge/later.h"

/* Sums over the transfers. */
struct witnesses {
	int64_t payload_bytes;
	size_t transfers;
};

static bool is_success(const char *reply)
{
	return text_starts_with(reply, "200") || text_starts_with(reply, "204") ||
	       text_starts_with(reply, "206");
}

/* One GET or PUT. AIStor sends no reply header on a PUT that went well: 200 and an ETag say it. */
static void judge_transfer(struct judging *g, json_t *t, size_t index, struct witnesses *w)
{
	const char *operation = json_get_string(t, "operation", "transfer");
	const char *reply = json_get_string(t, "rdma_reply", NULL);
	const char *etag = json_get_string(t, "etag", "");
	int64_t body = json_get_int(t, "body_bytes", -1);
	int64_t payload = json_get_int(t, "payload_bytes", 0);
	bool put = !strcasecmp(operation, "PUT") || !strcasecmp(operation, "UploadPart");

	fact(g, "/storage/path/transfers/%zu", index);
	w->transfers++;
	if (payload > 0 && __builtin_add_overflow(w->payload_bytes, payload, &w->payload_bytes))
		w->payload_bytes = INT64_MAX;
	if (json_is_false(json_object_get(t, "hash_ok")))
		judge_fail(g, "object-hash-wrong",
			   "trust no transfer of this path until it is found: compare size and "
			   "ETag, then prove the memory path (proof.gdr)",
			   "%s: the object's hash is wrong", operation);
	if (reply && text_starts_with(reply, "501")) {
		judge_fail(g, "rdma-declined",
			   "read the server's log for the token that it could not serve; client "
			   "and server must use one transport",
			   "%s: the server declined RDMA (x-amz-rdma-reply: %s)", operation, reply);
	} else if (reply && !is_success(reply)) {
		judge_fail(g, "rdma-reply-odd", NULL, "%s: x-amz-rdma-reply is %s", operation,
						      reply);
	} else if (!reply && !(put && *etag && body <= 0)) {
		judge_fail(g, "silent-http",
			   "check that the server is the RDMA build (its banner says so), that its "
			   "RDMA settings are valid (bad ones are ignored), and that the client "
			   "library can use this NIC",
			   "%s: no x-amz-rdma-reply header: the object came by HTTP in silence",
			   operation);
	} else if (reply && body > 0) {
		judge_fail(g, "body-beside-rdma", NULL,
			   "%s: the reply claims RDMA, yet its HTTP body has %lld bytes", operation,
			   (long long)body);
	}
}

/* A counter's growth during the run against the payload. */
static void judge_counter(struct judging *g, const char *pointer, const char *cause,
			  const char *whose, int64_t payload_bytes)
{
	json_t *value = fact_optional(g, "/storage/path/%s", pointer);

	if (!json_is_integer(value))
		judge_unknown(g, NULL, "%s were not observed", whose);
	else if (json_integer_value(value) < payload_bytes)
		judge_fail(g, cause, NULL, "%s grew by %lld bytes, the payload was %lld", whose,
			   (long long)json_integer_value(value), (long long)payload_bytes);
}

/*
 * TCP bytes of the run: headers and signatures are a few KiB per request, so a tenth of the payload
 * is far more than they need; from half on, TCP carried the objects.
 */
static void judge_tcp(struct judging *g, int64_t payload_bytes)
{
	json_t *value = fact_optional(g, "/storage/path/tcp_bytes");
	int64_t tcp = json_integer_value(value);

	if (!json_is_integer(value))
		judge_unknown(g, NULL, "the TCP bytes of the run were not observed");
	else if (tcp >= payload_bytes / 2)
		judge_fail(g, "tcp-carried", "see the cause of the silent fallback",
			   "%lld bytes went over TCP for a payload of %lld: TCP carried the "
			   "objects",
			   (long long)tcp, (long long)payload_bytes);
	else if (tcp >= payload_bytes / 10)
		judge_warn(g, "tcp-share", "find the requests that fell back",
			   "%lld bytes went over TCP for a payload of %lld: a part may have fallen "
			   "back",
			   (long long)tcp, (long long)payload_bytes);
}

void judge_storage_path(struct judging *g)
{
	json_t *path = fact_optional(g, "/storage/path");
	json_t *transfers = json_object_get(path, "transfers"), *t;
	struct witnesses w = {0};
	size_t i;

	if (!json_array_size(transfers)) {
		judge_unknown(g, NULL, "no storage transfer is recorded on this node");
		return;
	}
	json_array_foreach(transfers, i, t)
		judge_transfer(g, t, i, &w);
	if (!w.payload_bytes) {
		judge_unknown(g, NULL, "the record does not tell the payload");
		return;
	}
	judge_counter(g, "server_rdma_bytes", "server-counters-still", "the server's RDMA counters",
		      w.payload_bytes);
	judge_counter(g, "nic_rdma_bytes", "nic-counters-still", "the NIC's RDMA counters",
		      w.payload_bytes);
	judge_tcp(g, w.payload_bytes);
	judge_pass(g, "%zu transfer%s by RDMA, %lld bytes: reply headers, server, NIC and TCP "
		      "counters agree",
		   w.transfers, w.transfers == 1 ? "" : "s", (long long)w.payload_bytes);
}
