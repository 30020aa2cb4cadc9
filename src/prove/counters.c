/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters around a run, and what they prove: speed alone proves nothing, because a transfer that
 * fell back to TCP is fast enough to be believed.
 *
 * TCP is counted for the whole host (/proc/net/snmp), in segments: no kernel counts its bytes. Bytes
 * of IP are counted (/proc/net/netstat, /proc/net/snmp6), of all protocols together.
 */
#include "prove/counters.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "prove/path_links.h"

/* --- reading ---------------------------------------------------------------------------------- */

static void put_number(json_t *to, const char *name, const char *text)
{
	uint64_t value;

	if (text && !text_to_u64(text, 10, &value))
		json_put_u64(to, name, value);
}

/* Every file of the folder that holds a number. */
static void put_folder(json_t *to, struct host *host, const char *folder)
{
	_cleanup_strings_ char **names = NULL;
	int n = host_list(host, &names, NULL, "%s", folder);

	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *text = NULL;

		if (!strcmp(names[i], "lifespan"))	/* a setting, not a counter */
			continue;
		text = host_read_text(host, NULL, "%s/%s", folder, names[i]);
		put_number(to, names[i], text);
	}
}

static json_t *read_rdma(struct host *host, const struct path *path)
{
	static const char *const folders[] = { "counters", "hw_counters" };
	json_t *rdma = json_object_new();

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		_cleanup_free_ char *folder = xasprintf("/sys/class/infiniband/%s/ports/%u/%s",
							path->device, path->port, folders[i]);

		put_folder(rdma, host, folder);
	}
	return rdma;
}

/*
 * Statistics of the drivers that tell of pause, of priorities, and of what was thrown away. Names by
 * driver: ice "tx_priority_3_xoff.nic" (out of tree also "port-rx-xoff_prio-3_events"),
 * "rx_dropped.nic", "rx_crc_errors.nic"; mlx5 "rx_prio3_pause", "rx_discards_phy",
 * "rx_out_of_buffer"; bnxt "rx_pfc_ena_frames_pri3", "pfc_pri3_rx_transitions", "rx_discard_pkts".
 */
static bool is_of_interest(const char *name)
{
	static const char *const words[] = { "pause", "xon", "xoff", "pfc", "prio", "_pri", "discard",
					     "drop", "crc", "ecn", "cnp", "out_of_buffer" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strstr(name, words[i]))
			return true;
	}
	return false;
}

/* Links below by the bonding and VLAN folders of sysfs: what /links of a snapshot says, for one
 * link and without taking one. */
static char **links_below(struct host *host, const char *link)
{
	_cleanup_free_ char *base = xstrdup(link);
	_cleanup_strings_ char **names = NULL;
	char **below = NULL;

	/* a VLAN has its lower link as a symbolic link lower_NAME, a bond has one for each port */
	int n = host_list(host, &names, NULL, "/sys/class/net/%s", base);
	for (int i = 0; i < n; i++) {
		if (!text_starts_with(names[i], "lower_"))
			continue;
		const char *lower = names[i] + strlen("lower_");
		_cleanup_strings_ char **more = NULL;
		bool deeper = false;
		int m = host_list(host, &more, NULL, "/sys/class/net/%s", lower);

		for (int k = 0; k < m; k++) {
			if (!text_starts_with(more[k], "lower_"))
				continue;
			strings_add_once(&below, more[k] + strlen("lower_"));
			deeper = true;
		}
		if (!deeper)
			strings_add_once(&below, lower);
	}
	if (!below)
		strings_add_once(&below, link);
	return below;
}

static json_t *read_pause(struct host *host, const char *link)
{
	_cleanup_strings_ char **below = links_below(host, link);
	json_t *pause = json_object_new();

	for (char **nic = below; *nic; nic++) {
		_cleanup_json_ json_t *statistics = NULL;
		const char *name;
		json_t *value;

		if (host_ethtool_stats(host, *nic, &statistics, NULL) < 0)
			continue;
		json_object_foreach(statistics, name, value) {
			if (is_of_interest(name))
				json_put(json_obj(pause, *nic), name, json_incref(value));
		}
	}
	return pause;
}

/* Files like /proc/net/snmp have a line of names and a line of values for each protocol. */
static void put_protocol(json_t *to, struct host *host, const char *file, const char *protocol,
			 const char *const *wanted)
{
	_cleanup_free_ char *text = NULL;
	char *names = NULL, *line, *name, *value;

	if (host_read(host, &text, NULL, NULL, "%s", file) < 0)
		return;
	for (char *cursor = text; (line = text_next_line(&cursor));) {
		if (!text_starts_with(line, protocol))
			continue;
		if (!names) {
			names = line;
			continue;
		}
		while ((name = text_next_word(&names)) && (value = text_next_word(&line))) {
			for (const char *const *w = wanted; *w; w++) {
				if (!strcmp(name, *w))
					put_number(to, name, value);
			}
		}
		return;
	}
}

static json_t *read_tcp(struct host *host)
{
	static const char *const wanted[] = { "InSegs", "OutSegs", "RetransSegs", NULL };
	json_t *tcp = json_object_new();

	put_protocol(tcp, host, "/proc/net/snmp", "Tcp: ", wanted);
	return tcp;
}

/* /proc/net/snmp6: a name and a value in each line. */
static void put_ip6(json_t *to, char *text)
{
	char *line;

	for (char *cursor = text; (line = text_next_line(&cursor));) {
		const char *name = text_next_word(&line);

		if (name && (!strcmp(name, "Ip6InOctets") || !strcmp(name, "Ip6OutOctets")))
			put_number(to, name, text_next_word(&line));
	}
}

/* Bytes of both versions; none at all when those of one cannot be read. */
static json_t *read_ip(struct host *host)
{
	static const char *const wanted[] = { "InOctets", "OutOctets", NULL };
	_cleanup_free_ char *text = NULL;
	json_t *ip = json_object_new();
	int rc = host_read(host, &text, NULL, NULL, "/proc/net/snmp6");

	if (rc < 0 && rc != -ENOENT)	/* a kernel without IPv6 has no such file */
		return ip;
	put_protocol(ip, host, "/proc/net/netstat", "IpExt: ", wanted);
	if (text)
		put_ip6(ip, text);
	return ip;
}

static uint64_t microseconds(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_usec;
}

static json_t *read_cpu(void)
{
	json_t *cpu = json_object_new();
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) == 0) {
		json_put_u64(cpu, "user_us", microseconds(&usage.ru_utime));
		json_put_u64(cpu, "system_us", microseconds(&usage.ru_stime));
	}
	return cpu;
}

json_t *counters_read(struct host *host, const struct path *path)
{
	_cleanup_free_ char *statistics = xasprintf("/sys/class/net/%s/statistics", path->link);
	_cleanup_free_ char *mtu = host_read_text(host, NULL, "/sys/class/net/%s/mtu", path->link);
	json_t *all = json_object_new();

	json_put(all, "rdma", read_rdma(host, path));
	put_folder(json_obj(all, "link"), host, statistics);
	json_put(all, "pause", read_pause(host, path->link));
	json_put(all, "tcp", read_tcp(host));
	json_put(all, "ip", read_ip(host));
	json_put(all, "cpu", read_cpu());
	/* what turns packets into bytes; sizes do not grow, see counters_difference() */
	json_t *sizes = json_obj(all, "sizes");
	put_number(sizes, "link_mtu", mtu);
	json_put_int(sizes, "roce_mtu", path->mtu_bytes);
	return all;
}

/* --- difference ------------------------------------------------------------------------------- */

/* Those of both; one that went back began anew, and nothing can be said of it. */
static json_t *grown(json_t *before, json_t *after)
{
	json_t *out = json_object_new(), *value;
	const char *name;

	json_object_foreach(after, name, value) {
		json_t *old = json_object_get(before, name);
		uint64_t then, now;

		if (json_is_object(value) && json_is_object(old))
			json_put(out, name, grown(old, value));
		else if (json_u64(old, &then) && json_u64(value, &now) && now >= then)
			json_put_u64(out, name, now - then);
	}
	return out;
}

json_t *counters_difference(json_t *before, json_t *after)
{
	json_t *difference = grown(before, after), *sizes = json_object_get(after, "sizes");

	if (sizes)
		json_put(difference, "sizes", json_deep_copy(sizes));
	return difference;
}

json_t *counters_sum(json_t *counters, json_t *difference)
{
	json_t *out = json_object_new(), *value;
	const char *name;

	json_object_foreach(counters, name, value) {
		json_t *other = json_object_get(difference, name);
		uint64_t a, b;

		if (json_is_object(value) && json_is_object(other))
			json_put(out, name, counters_sum(value, other));
		else if (json_u64(value, &a) && json_u64(other, &b) && a <= UINT64_MAX - b)
			json_put_u64(out, name, a + b);
	}
	return out;
}
