/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/prove.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "prove/endpoint.h"
#include "prove/incast.h"
#include "prove/record.h"

#define WAIT_S 600u	/* a listener for its peer: time to walk to the other console */
#define ANSWER_S 30u	/* a look at the whole machine is part of an answer */
#define TIMEOUT_MAX_S 86400u
#define DEPTH 64u
#define DEPTH_MIN 4u
#define ECT0 2u	/* RFC 3168 */
#define IN_FLIGHT_BYTES ((size_t)4 << 20)	/* 800 Gb/s times 40 us */

static int number(uint64_t *value, const char *text, const char *option, uint64_t min,
		  uint64_t max, struct error *err)
{
	if (text && (text_to_u64(text, 10, value) < 0 || *value < min || *value > max)) {
		_cleanup_free_ char *safe = text_printable(text, strlen(text));
		return error_set(err, -EINVAL, "%s takes a number from %" PRIu64 " to %" PRIu64
				 ", not '%s'", option, min, max, safe);
	}
	return 0;
}

/* "4096", "64K", "1M" */
static int size(size_t *bytes, const char *text, size_t len, const char *option, struct error *err)
{
	_cleanup_free_ char *digits = xstrndup(text, len);
	unsigned shift = 0;
	uint64_t value;

	if (len > 1 && strchr("kKmM", digits[len - 1])) {
		shift = strchr("kK", digits[len - 1]) ? 10 : 20;
		digits[len - 1] = '\0';
	}
	if (!len || text_to_u64(digits, 10, &value) < 0 || !value ||
	    value > SESSION_SIZE_MAX >> shift) {
		_cleanup_free_ char *safe = text_printable(text, len);
		return error_set(err, -EINVAL, "%s takes bytes, from 1 to 64M, not '%s'", option,
				 safe);
	}
	*bytes = (size_t)value << shift;
	return 0;
}

static int sizes_read(struct session_parameters *p, const struct cmd_prove_args *a,
		      struct error *err)
{
	if (a->size && a->sizes)
		return error_set(err, -EINVAL, "--size and --sizes exclude each other");
	if (a->size) {
		int rc = size(&p->size_min, a->size, strlen(a->size), "--size", err);

		p->size_max = p->size_min;
		return rc;
	}
	if (!a->sizes)
		return 0;
	const char *dots = strstr(a->sizes, "..");
	if (!dots)
		return error_set(err, -EINVAL, "--sizes takes two sizes as in 1..1M");
	int rc = size(&p->size_min, a->sizes, (size_t)(dots - a->sizes), "--sizes", err);
	return rc < 0 ? rc : size(&p->size_max, dots + 2, strlen(dots + 2), "--sizes", err);
}

static int memory_read(struct session_parameters *p, const char *text, struct error *err)
{
	static const char *const kinds[] = { "host", "huge", "udmabuf", "cuda" };
	const char *comma = strchr(text, ',');
	const char *words[2] = { text, comma ? comma + 1 : text };

	for (int i = 0; i < 2; i++) {
		size_t len = i && comma ? strlen(words[i]) : strcspn(words[i], ",");
		size_t k = 0;

		while (k < ARRAY_SIZE(kinds) &&
		       (strlen(kinds[k]) != len || strncmp(kinds[k], words[i], len)))
			k++;
		if (k == ARRAY_SIZE(kinds)) {
			_cleanup_free_ char *safe = text_printable(words[i], len);
			return error_set(err, -EINVAL,
					 "--memory: '%s' is no kind of memory (there are host, "
					 "huge, udmabuf and cuda)",
					 safe);
		}
		memcpy(p->memory[i], kinds[k], len + 1);
	}
	return 0;
}

static int seconds_read(double *seconds, const char *text, struct error *err)
{
	char *end;

	if (!text)
		return 0;
	*seconds = strtod(text, &end);
	if (end == text || *end || !isfinite(*seconds) || *seconds < 0 ||
	    *seconds > SESSION_SECONDS_MAX) {
		_cleanup_free_ char *safe = text_printable(text, strlen(text));
		return error_set(err, -EINVAL, "--duration takes seconds, from 0 to %g, not '%s'",
				 SESSION_SECONDS_MAX, safe);
	}
	return 0;
}

static int suite_read(enum session_suite *suite, const char *text, struct error *err)
{
	*suite = SESSION_NO_SUITE;
	if (!text)
		return 0;
	for (size_t i = 0; i < SESSION_SUITES; i++) {
		if (session_suite_names[i] && !strcmp(session_suite_names[i], text))
			*suite = (enum session_suite)i;
	}
	if (*suite)
		return 0;
	_cleanup_free_ char *safe = text_printable(text, strlen(text));
	return error_set(err, -EINVAL, "--suite takes baseline, pfc, ecn or gdr, not '%s'", safe);
}

/* Which marking: of the site where it is not named. Before QoS there is none. */
static int marking_read(struct session_parameters *p, const struct cmd_prove_args *a,
			const struct site *site, struct error *err)
{
	uint64_t dscp = 0, tclass = 0;

	if (p->suite == SESSION_BASELINE) {
		if (a->dscp || a->ecn || a->tclass)
			return error_set(err, -EINVAL,
					 "suite baseline is of packets without marks: --dscp, --ecn and --tclass do not go with it");
		return 0;
	}
	int rc = number(&dscp, a->dscp, "--dscp", 0, 63, err);
	if (!rc)
		rc = number(&tclass, a->tclass, "--tclass", 0, 255, err);
	if (rc < 0)
		return rc;
	if (a->tclass && (a->dscp || a->ecn))
		return error_set(err, -EINVAL,
				 "--tclass is --dscp and --ecn in one byte: it excludes both");
	if (a->tclass && (tclass & 1))
		return error_set(err, -EINVAL,
				 "--tclass %u: its ECN bits say %s; a sender says not ECN "
				 "capable (0) or ECT(0) (2)",
				 (unsigned)tclass, tclass & ECT0 ? "CE" : "ECT(1)");
	bool ecn = a->ecn || p->suite == SESSION_ECN || tclass & ECT0;
	if (a->dscp || a->tclass) {
		p->dscp = (int)(a->dscp ? dscp : tclass >> 2);
		p->ecn = ecn;
	} else if (site && site->qos.dscp.set) {
		p->dscp = (int)site->qos.dscp.value;
		/* PFC alone comes before ECN */
		p->ecn = ecn || (p->suite != SESSION_PFC && site->qos.ecn.set &&
				 site->qos.ecn.value);
	} else if (a->ecn) {
		return error_set(err, -EINVAL,
				 "--ecn goes with --dscp, or with a site that has one");
	}
	return 0;
}

static int compare_read(struct session_parameters *p, const char *text, struct error *err)
{
	if (!text)
		return 0;
	if (strcmp(text, "perftest")) {
		_cleanup_free_ char *safe = text_printable(text, strlen(text));
		return error_set(err, -EINVAL, "--compare takes perftest, not '%s'", safe);
	}
	if (!(p->seconds > 0))
		return error_set(err, -EINVAL, "--compare is of speed runs: --duration 0 has none");
	p->compare = true;
	return 0;
}

/* More in flight than fills any path only delays the completions that speed is told from. */
static unsigned default_depth(size_t bytes)
{
	size_t depth = IN_FLIGHT_BYTES / bytes;

	return depth > DEPTH ? DEPTH : depth < DEPTH_MIN ? DEPTH_MIN : (unsigned)depth;
}

static bool is_address(const char *address, const char *host)
{
	size_t len = strlen(host);

	/* with or without its prefix */
	return !strncmp(address, host, len) && (!address[len] || address[len] == '/');
}

/* Is `host`, as a person names it, this node? */
static bool is_node(const struct site_node *node, const char *host)
{
	if (!strcmp(node->name, host))
		return true;
	for (size_t i = 0; i < node->n_rdma; i++) {
		if (node->rdma[i].address && is_address(node->rdma[i].address, host))
			return true;
	}
	for (size_t i = 0; i < node->n_bonds; i++) {
		for (char **a = node->bonds[i].addresses; a && *a; a++) {
			if (is_address(*a, host))
				return true;
		}
	}
	return false;
}

void prove_suite_memory(struct session_parameters *p, const struct site *site,
			const struct site_node *node, const char *host)
{
	bool gpu[2] = { node && node->roles & SITE_ROLE_GPU, false };

	for (size_t i = 0; site && i < site->n_nodes; i++) {
		if (is_node(&site->nodes[i], host))
			gpu[1] = site->nodes[i].roles & SITE_ROLE_GPU;
	}
	if (!gpu[0] && !gpu[1])
		gpu[0] = true;
	for (int end = 0; end < 2; end++)
		strcpy(p->memory[end], gpu[end] ? "cuda" : "host");
}

static int parameters_read(struct session_parameters *p, const struct cmd_prove_args *a,
			   const struct site *site, struct error *err)
{
	uint64_t qps = 1, depth = 0;

	*p = (struct session_parameters){
		.size_min = 1, .size_max = 1 << 20, .seconds = 2, .dscp = -1,
	};
	int rc = suite_read(&p->suite, a->suite, err);
	if (rc < 0)
		return rc;
	rc = session_operations_read(&p->operations,
					 a->operation ? a->operation : "write,read,send", err);
	if (rc < 0)
		return error_wrap(err, "--operation");
	rc = sizes_read(p, a, err);
	if (!rc)
		rc = number(&qps, a->qps, "--qps", 1, ENDPOINT_QPS_MAX, err);
	if (!rc)
		rc = number(&depth, a->depth, "--depth", 2, SESSION_DEPTH_MAX, err);
	if (!rc)
		rc = seconds_read(&p->seconds, a->duration, err);
	if (!rc)
		rc = memory_read(p, a->memory ? a->memory :
				    p->suite == SESSION_GDR ? "cuda,host" : "host", err);
	if (!rc)
		rc = compare_read(p, a->compare, err);
	if (rc < 0)
		return rc;
	p->qps = (unsigned)qps;
	p->depth = depth ? (unsigned)depth : default_depth(p->size_max);
	rc = marking_read(p, a, site, err);
	if (rc < 0)
		return rc;
	return session_parameters_check(p, err);
}

/* Several peers at the same time, each with a token and a port. */
static int senders_read(struct prove_options *o, const struct cmd_prove_args *a, struct error *err)
{
	uint64_t senders = 0;
	int rc = number(&senders, a->senders, "--senders", INCAST_SENDERS_MIN, INCAST_SENDERS_MAX,
			err);

	if (rc < 0)
		return rc;
	o->senders = (unsigned)senders;
	if (o->senders && a->token)
		return error_set(err, -EINVAL,
				 "--token is of one peer: with --senders a token is made for each");
	if (o->senders && o->port > UINT16_MAX - (o->senders - 1))
		return error_set(err, -EINVAL, "--port %u: no ports for %u senders behind it",
				 o->port, o->senders);
	return 0;
}

/* What only one of both ends can say. */
static int side_check(const struct cmd_args *args, struct error *err)
{
	const struct cmd_prove_args *a = &args->prove;
	const struct {
		bool given;
		const char *name;
	} proposals[] = {
		{ a->operation, "--operation" }, { a->size, "--size" }, { a->sizes, "--sizes" },
		{ a->qps, "--qps" }, { a->depth, "--depth" }, { a->duration, "--duration" },
		{ a->dscp, "--dscp" }, { a->ecn, "--ecn" },
		{ a->tclass, "--tclass" }, { a->memory, "--memory" },
	}, listening[] = { { a->bind, "--bind" }, { a->once, "--once" },
			   { a->senders, "--senders" } };

	if (a->listen && args->n_operands)
		return error_set(err, -EINVAL,
				 "--listen waits for the other end, it takes no HOST");
	if (!a->listen && !args->n_operands)
		return error_set(err, -EINVAL,
				 "HOST is missing (or --listen, on the node that waits)");
	for (size_t i = 0; a->listen && i < ARRAY_SIZE(proposals); i++) {
		if (proposals[i].given)
			return error_set(err, -EINVAL, "%s is for the end that connects",
					 proposals[i].name);
	}
	for (size_t i = 0; !a->listen && i < ARRAY_SIZE(listening); i++) {
		if (listening[i].given)
			return error_set(err, -EINVAL, "%s goes with --listen", listening[i].name);
	}
	if (!a->listen && !a->token)
		return error_set(err, -EINVAL,
				 "--token is missing; `railhead prove --listen` on the other node prints it");
	if (a->store && a->no_store)
		return error_set(err, -EINVAL, "--store and --no-store exclude each other");
	if (args->node && !args->site)
		return error_set(err, -EINVAL, "--node is a node of a site, which --site names");
	return 0;
}

int prove_options_read(struct prove_options *o, const struct cmd_args *args,
		       const struct site *site, struct error *err)
{
	const struct cmd_prove_args *a = &args->prove;
	uint64_t port = SESSION_PORT, gid_index = 0, timeout = 0;

	*o = (struct prove_options){
		.bind = a->bind,
		.token = a->token,
		.link = a->link,
		.device = a->device,
		.gpu = a->gpu,
		.dmabuf_double = a->dmabuf_double,
		.compare = a->compare,
		/* a token is good for one peer */
		.once = a->once || a->token,
		.store = a->no_store ? NULL : a->store ? a->store : PROOF_FOLDER,
	};
	int rc = side_check(args, err);
	if (!rc)
		rc = number(&port, a->port, "--port", a->listen ? 0 : 1, UINT16_MAX, err);
	if (!rc)
		rc = number(&gid_index, a->gid_index, "--gid-index", 0, 4095, err);
	if (!rc)
		rc = number(&timeout, a->timeout, "--timeout", 1, TIMEOUT_MAX_S, err);
	if (!rc)
		rc = parameters_read(&o->parameters, a, site, err);
	o->port = (uint16_t)port;
	o->gid_index = a->gid_index ? (int)gid_index : -1;
	o->wait_ms = (int)(timeout ? timeout : WAIT_S) * 1000;
	o->timeout_ms = (int)(timeout ? timeout : ANSWER_S) * 1000;
	if (!rc)
		rc = senders_read(o, a, err);
	return rc < 0 ? error_wrap(err, "prove") : 0;
}
