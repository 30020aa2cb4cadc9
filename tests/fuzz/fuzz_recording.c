/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings: parse, ask each door one question that the seeds hold, anonymize what was parsed. */
#include <linux/netlink.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/anonymize.h"
#include "host/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int walk_cb(const struct nlmsghdr *nlh RH_UNUSED, void *data RH_UNUSED)
{
	return 0;
}

static int no_probe(json_t *result RH_UNUSED, struct error *err RH_UNUSED)
{
	abort();	/* a replay runs nothing */
}

static void ask(struct host *host)
{
	static const char *const words[] = { "x", NULL };
	struct nlmsghdr request = { .nlmsg_len = sizeof(request), .nlmsg_type = 18 };
	struct host_drvinfo info;
	struct host_time now;
	struct host_stat st;
	char *text, **names;
	json_t *json;

	if (host_read(host, &text, NULL, NULL, "/a") == 0)
		free(text);
	if (host_list(host, &names, NULL, "/a") >= 0)
		strings_free(names);
	if (host_readlink(host, &text, NULL, "/a") == 0)
		free(text);
	host_stat(host, &st, false, NULL, "/a");
	host_netlink(host, NETLINK_ROUTE, &request, walk_cb, NULL, NULL);
	host_ethtool_drvinfo(host, "a", &info, NULL);
	if (host_ethtool_stats(host, "a", &json, NULL) == 0)
		json_decref(json);
	if (host_kernel_log(host, words, &json, NULL) == 0)
		json_decref(json);
	if (host_module_info(host, "a", &json, NULL) == 0)
		json_decref(json);
	if (host_exec(host, words, 1, &text, NULL) >= 0)
		free(text);
	if (host_probe_run(host, "a", no_probe, 1, &json, NULL, NULL) == 0)
		json_decref(json);
	if (host_uname(host, &json, NULL) == 0)
		json_decref(json);
	host_time(host, &now, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct host host = { .root_fd = -1 };
	struct error err = {0};
	json_t *anonymized;

	if (recording_parse(&host.replay, (const char *)data, size, "input", &err) < 0) {
		if (host.replay || !err.message)
			abort();
		error_clear(&err);
		return 0;
	}
	host.genl_families = json_object();
	ask(&host);

	json_t *document = door_memory_document(host.replay);
	if (anonymize_document(&anonymized, document, NULL) == 0)
		json_decref(anonymized);
	json_decref(document);
	json_decref(host.genl_families);
	door_memory_free(host.replay);
	return 0;
}
