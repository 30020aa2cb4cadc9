/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/perftest.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/* Not PATH: whoever sets it must not choose what a listener runs. */
static const char *const system_folders[] = { "/usr/bin", "/usr/local/bin", NULL };

#define ASK_MS 5000

static const struct program {
	const char *operation, *bandwidth, *latency;
} programs[] = {
	{ "write", "ib_write_bw", "ib_write_lat" },
	{ "read", "ib_read_bw", "ib_read_lat" },
	{ "send", "ib_send_bw", "ib_send_lat" },
};

/* --- the program ------------------------------------------------------------------------------ */

static const char *program_name(const char *operation, bool latency)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		if (!strcmp(programs[i].operation, operation))
			return latency ? programs[i].latency : programs[i].bandwidth;
	}
	return NULL;
}

static char *program_path(struct host *host, const char *const *folders, const char *name)
{
	for (const char *const *folder = folders; *folder; folder++) {
		struct host_stat st;

		if (!host_stat(host, &st, false, NULL, "%s/%s", *folder, name) && st.type == 'f' &&
		    st.mode & 0111)
			return xasprintf("%s/%s", *folder, name);
	}
	return NULL;
}

/* It ends with 1 after --help and --version too, so only what it prints counts. */
static int ask(struct host *host, const char *path, const char *option, char **answer,
	       struct error *err)
{
	const char *const argv[] = { path, option, NULL };
	_cleanup_free_ char *output = NULL;
	int rc = host_exec(host, argv, ASK_MS, &output, err);

	if (rc < 0)
		return rc;
	*answer = xstrdup(text_trim(output));
	return **answer ? 0 : error_set(err, -EPROTO, "%s %s prints nothing", path, option);
}

/* "Version: 6.06" */
static int version_read(struct perftest_tool *tool, struct host *host, struct error *err)
{
	static const char prefix[] = "Version: ";
	_cleanup_free_ char *text = NULL;
	int rc = ask(host, tool->path, "--version", &text, err);

	if (rc < 0)
		return rc;
	const char *number = text_starts_with(text, prefix) ? text + strlen(prefix) : "";
	size_t len = strspn(number, "0123456789abcdefghijklmnopqrstuvwxyz.-+~");
	if (!len || number[len] || len > 32)
		return error_set(err, -EPROTO, "%s --version tells no version of perftest",
				 tool->path);
	tool->version = xstrdup(number);
	return 0;
}

int perftest_find(struct perftest_tool *tool, struct host *host, const char *const *folders,
		  const char *operation, bool latency, struct error *err)
{
	*tool = (struct perftest_tool){ .name = program_name(operation, latency) };
	if (!tool->name)
		return error_set(err, -EINVAL, "perftest has no operation %s", operation);
	tool->path = program_path(host, folders ? folders : system_folders, tool->name);
	if (!tool->path)
		return error_set(err, -ENOENT, "%s is not installed (package perftest)",
				 tool->name);
	int rc = version_read(tool, host, err);
	return rc < 0 ? rc : ask(host, tool->path, "--help", &tool->help, err);
}

void perftest_tool_clear(struct perftest_tool *tool)
{
	free(tool->path);
	free(tool->version);
	free(tool->help);
	*tool = (struct perftest_tool){0};
}

bool perftest_knows(const struct perftest_tool *tool, const char *option)
{
	_cleanup_free_ char *word = xasprintf("--%s", option);
	const size_t len = strlen(word);

	for (const char *at = tool->help; (at = strstr(at, word)); at += len) {
		/* not a part of a longer name */
		if (!at[len] || (!isalnum((unsigned char)at[len]) && !strchr("_-", at[len])))
			return true;
	}
	return false;
}

/* --- its command line ------------------------------------------------------------------------- */

struct words {
	char **list;
	const struct perftest_tool *tool;
	const char *missing;	/* an option that this version does not have */
};

static void add_flag(struct words *w, const char *option)
{
	if (perftest_knows(w->tool, option))
		strings_add(&w->list, xasprintf("--%s", option));
	else if (!w->missing)
		w->missing = option;
}

static void add_text(struct words *w, const char *option, const char *value)
{
	if (perftest_knows(w->tool, option))
		strings_add(&w->list, xasprintf("--%s=%s", option, value));
	else if (!w->missing)
		w->missing = option;
}

static void add_number(struct words *w, const char *option, uint64_t value)
{
	_cleanup_free_ char *text = xasprintf("%llu", (unsigned long long)value);

	add_text(w, option, text);
}

/* The same GPU by its address, and by DMA-BUF, as railhead registers it. */
static int add_memory(struct words *w, const struct perftest_request *r, struct error *err)
{
	if (!strcmp(r->memory, "huge")) {
		add_flag(w, "use_hugepages");
	} else if (!strcmp(r->memory, "cuda")) {
		if (!r->gpu)
			return error_set(err, -EOPNOTSUPP, "the PCI address of the GPU is unknown");
		add_text(w, "use_cuda_bus_id", r->gpu);
		add_flag(w, "use_cuda_dmabuf");
	} else if (strcmp(r->memory, "host")) {
		return error_set(err, -EOPNOTSUPP, "perftest has no %s memory", r->memory);
	}
	return 0;
}

/* The other end's is its word: no name to be looked up, and no option. */
static bool is_numeric(const char *address)
{
	struct in6_addr binary;

	return inet_pton(strchr(address, ':') ? AF_INET6 : AF_INET, address, &binary) == 1;
}

/*
 * Its handshake has no password: where it can, it listens on the address of the path only. Versions
 * up to 6.10 name a --source_ip for that, but take it for the option of raw Ethernet of that name.
 */
static void add_handshake(struct words *w, const struct perftest_request *r)
{
	add_number(w, "port", r->tcp_port);
	if (strchr(r->address, ':'))
		add_flag(w, "ipv6-addr");
	else if (perftest_knows(w->tool, "bind_source_ip"))
		add_text(w, "bind_source_ip", r->own_address);
}

static void add_load(struct words *w, bool latency, const struct perftest_request *r)
{
	add_number(w, "size", r->size_bytes);
	if (latency) {
		add_number(w, "iters", r->iterations);
		return;
	}
	add_number(w, "qp", r->qps);
	add_number(w, "tx-depth", r->depth);
	/* what it counts is the middle, a margin after the begin and before the end */
	add_number(w, "duration", (uint64_t)ceil(r->seconds) + 2 * PERFTEST_MARGIN_S);
	add_number(w, "margin", PERFTEST_MARGIN_S);
	add_flag(w, "report_gbits");
}

int perftest_command(char ***words, const struct perftest_tool *tool, bool latency,
		     const struct perftest_request *r, struct error *err)
{
	struct words w = { .tool = tool };

	if (!is_numeric(r->address) || !is_numeric(r->own_address))
		return error_set(err, -EINVAL, "an end of the path has no numeric address");
	strings_add(&w.list, xstrdup(tool->path));
	add_text(&w, "ib-dev", r->device);
	add_number(&w, "ib-port", r->port);
	add_number(&w, "gid-index", (uint64_t)r->gid_index);
	add_number(&w, "mtu", r->mtu_bytes);
	if (r->traffic_class >= 0)
		add_number(&w, "tclass", (uint64_t)r->traffic_class);
	add_handshake(&w, r);
	add_load(&w, latency, r);
	int rc = add_memory(&w, r, err);
	/* without it, it gives no result where the clocks of the processors differ */
	add_flag(&w, "CPU-freq");
	if (!r->server)
		strings_add(&w.list, xstrdup(r->address));
	if (!rc && w.missing)
		rc = error_set(err, -EOPNOTSUPP, "%s %s has no option --%s", tool->name,
			       tool->version, w.missing);
	if (rc < 0)
		strings_free(w.list);
	else
		*words = w.list;
	return rc;
}
