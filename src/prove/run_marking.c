/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marking: UD messages of the declared traffic class, and what of it the receiver finds in the
 * header that stands before each.
 *
 *	sink			source
 *	ready		->
 *				(sends)
 *			<-	sent {count}
 *
 * and outcome (run_share()). UD messages may be lost on the way: that is told, and is no fault.
 */
#include <errno.h>
#include <inttypes.h>
#include <sys/param.h>

#include "prove/run_check.h"
#include "prove/run_grh.h"

#define MESSAGES 32u
#define LINE 64u
#define GENERATION 2u
#define ECN_CE 3u	/* RFC 3168 */
/* What is still on the way after the last one was sent. */
#define GRACE_MS 2000

struct marking {
	struct run run;
	size_t size, step;	/* payload, and from one message's area to the next */
	unsigned count;
	uint8_t sent;		/* traffic class */
	uint64_t arrived, missing;
	uint32_t bytes[MESSAGES];	/* as their completions tell */
	bool header[MESSAGES];
	unsigned seen[256];	/* messages by traffic class that arrived */
	unsigned readable, ip_version;
	const char *why;	/* the last unreadable one was so */
	json_t *fault;
};

static int on_receive(void *arg, unsigned qp RH_UNUSED, const struct ibv_wc *wc, struct error *err)
{
	struct marking *m = arg;

	if (m->arrived == m->count)
		return error_set(err, -EPROTO, "more messages arrived than receives were posted");
	m->bytes[m->arrived] = wc->byte_len;
	m->header[m->arrived++] = wc->wc_flags & IBV_WC_GRH;
	if (m->missing)
		m->missing--;
	return 0;
}

/* --- source ----------------------------------------------------------------------------------- */

/* All messages are the same: which of them are lost cannot be known. */
static int send_all(struct marking *m, struct error *err)
{
	const struct pattern pattern = { .seed = m->run.p->seed, .generation = GENERATION };
	struct endpoint_op op = run_op(&m->run, 0, 0, m->size);

	int rc = memory_fill(m->run.end->memory, 0, m->size, 0, &pattern, err);
	if (!rc)
		rc = run_hear(&m->run, "ready", NULL, run_limit_ms(&m->run, 4 * m->run.bytes), err);
	for (unsigned i = 0; i < m->count && !rc; i++) {
		rc = run_make_room(&m->run, 0, err);
		if (!rc)
			rc = run_post(&m->run, &op, err);
	}
	if (!rc)
		rc = run_drain(&m->run, m->count * m->size, err);
	return rc < 0 ? rc : run_say(&m->run, "sent", err);
}

/* --- sink ------------------------------------------------------------------------------------- */

static int receive_all(struct marking *m, struct error *err)
{
	int limit_ms = run_limit_ms(&m->run, m->count * m->size);
	bool told = false;

	int rc = run_check_prepare(&m->run, err);
	for (unsigned i = 0; i < m->count && !rc; i++)
		rc = run_post_receive(&m->run, 0, i * m->step, GRH_BYTES + m->size, err);
	if (!rc)
		rc = run_say(&m->run, "ready", err);
	m->missing = m->count;
	if (!rc)
		rc = run_await(&m->run, &m->missing, limit_ms, true, err);
	if (!rc)
		rc = run_hear(&m->run, "sent", NULL, limit_ms, err);
	told = !rc;
	if (!rc)
		rc = run_await(&m->run, &m->missing, GRACE_MS, false, err);
	if (rc == -ETIMEDOUT && told) {
		error_clear(err);
		rc = 0;
	}
	return rc;
}

static void found(struct marking *m, const char *kind, char *text)
{
	if (!m->fault) {
		m->fault = run_fault(&m->run, kind, NULL);
		json_put_string(m->fault, "text", text);
	}
	free(text);
}

static int look_at_payload(struct marking *m, unsigned i, struct error *err)
{
	const struct pattern pattern = { .seed = m->run.p->seed, .generation = GENERATION };
	struct pattern_fault seen = {0};

	if (m->bytes[i] != GRH_BYTES + m->size)
		found(m, "completion",
		      xasprintf("message %u: the completion tells %u bytes, not %zu", i,
				m->bytes[i], GRH_BYTES + m->size));
	int rc = memory_check(m->run.end->memory, i * m->step + GRH_BYTES, m->size, 0, &pattern,
			      &seen, err);
	if (rc != -EBADMSG)
		return rc;
	found(m, "payload", xasprintf("message %u: %s", i, error_text(err)));
	error_clear(err);
	return 0;
}

static void look_at_header(struct marking *m, unsigned i)
{
	const uint8_t *area = memory_pointer(m->run.end->memory, i * m->step);
	struct grh grh;

	if (!m->header[i]) {
		m->why = "a completion without the flag of a header";
	} else if (run_grh_read(&grh, area)) {
		m->seen[grh.dscp << 2 | grh.ecn]++;
		m->ip_version = grh.ip_version;
		m->readable++;
	} else {
		m->why = grh.why;
	}
}

static int look(struct marking *m, struct error *err)
{
	int rc = 0;

	for (unsigned i = 0; i < m->arrived && !rc; i++) {
		look_at_header(m, i);
		rc = look_at_payload(m, i, err);
	}
	return rc;
}

/* Congestion Experienced in place of an ECT is a switch at work, everything else a remark. */
static bool is_remark(const struct marking *m, unsigned traffic_class)
{
	bool marked = (m->sent & 3) && (traffic_class & 3) == ECN_CE;

	return traffic_class >> 2 != m->sent >> 2 ||
	       ((traffic_class & 3) != (m->sent & 3) && !marked);
}

static json_t *class_of(unsigned traffic_class)
{
	json_t *told = json_object_new();

	json_put_int(told, "dscp", traffic_class >> 2);
	json_put_int(told, "ecn", traffic_class & 3);
	return told;
}

static json_t *arrived(struct marking *m, unsigned *ce_marked)
{
	json_t *list = json_array_new();

	for (unsigned class = 0; class < ARRAY_SIZE(m->seen); class++) {
		if (!m->seen[class])
			continue;
		json_t *one = class_of(class);
		json_put_int(one, "messages", m->seen[class]);
		json_append(list, one);
		if (is_remark(m, class))
			found(m, "remarked",
			      xasprintf("DSCP %u and ECN %u were sent, DSCP %u and ECN %u arrived, in %u of %u messages",
					m->sent >> 2, m->sent & 3, class >> 2, class & 3,
					m->seen[class], m->readable));
		else if ((m->sent & 3) != ECN_CE && (class & 3) == ECN_CE)
			*ce_marked += m->seen[class];
	}
	return list;
}

static json_t *result_of(struct marking *m)
{
	json_t *result = json_object_new(), *list;
	unsigned ce_marked = 0;

	list = arrived(m, &ce_marked);
	json_put(result, "verified", m->fault	  ? json_false()
				     : m->readable ? json_true()
						   : json_null());
	json_put_int(result, "size_bytes", (int64_t)m->size);
	json_put_int(result, "messages", m->count);
	json_put_int(result, "messages_arrived", (int64_t)m->arrived);
	json_put_u64(result, "bytes", m->arrived * m->size);
	json_put(result, "sent", class_of(m->sent));
	json_put(result, "arrived", list);
	json_put_int(result, "ce_marked", ce_marked);
	json_put_int(result, "unreadable", (int64_t)m->arrived - m->readable);
	if (m->readable)
		json_put_int(result, "ip_version", m->ip_version);
	json_put_string(result, "why", m->arrived ? m->why : "no message arrived");
	json_put(result, "fault", json_incref(m->fault));
	return result;
}

/* --- both ------------------------------------------------------------------------------------- */

static int marking(struct marking *m, json_t **result, struct error *err)
{
	struct run *run = &m->run;
	unsigned wanted = run->p->iterations ? run->p->iterations : MESSAGES;

	m->size = MIN(run->p->size_min, (size_t)endpoint_mtu_bytes(run->end->endpoint));
	m->step = (GRH_BYTES + m->size + LINE - 1) / LINE * LINE;
	m->count = (unsigned)MIN(MIN(wanted, MESSAGES), MIN(run->depth, run->stride / m->step));
	if (!m->count)
		return error_set(err, -EINVAL, "%zu bytes of memory hold no message of %zu bytes",
				 run->stride, m->size);
	if (run->sink && !memory_pointer(run->end->memory, 0))
		return error_set(err, -EOPNOTSUPP,
				 "the marks are read by the processor, which cannot read this memory");
	int rc = run->sink ? receive_all(m, err) : send_all(m, err);
	if (!rc && run->sink)
		rc = look(m, err);
	if (rc < 0)
		return rc;
	if (run->sink)
		*result = result_of(m);
	return run_share(run, result, err);
}

int run_marking(json_t **result, struct run_end *end, const struct run_parameters *p,
		uint8_t traffic_class, struct error *err)
{
	struct run_parameters send = *p;
	struct marking m = { .sent = traffic_class };

	*result = NULL;
	send.operation = "send";
	int rc = run_begin(&m.run, "marking", end, &send, RUN_LAYOUT_RING, err);
	m.run.on_receive = on_receive;
	m.run.arg = &m;
	if (!rc)
		rc = marking(&m, result, err);
	json_decref(m.fault);
	if (rc < 0) {
		json_decref(*result);
		*result = NULL;
	}
	return rc;
}
