/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ethtool over SIOCETHTOOL: the driver's identity and its private statistics, which ethtool netlink
 * does not carry. Layouts and the meaning of each command: include/uapi/linux/ethtool.h.
 */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "host/door.h"

/* More statistics than any driver has (thousands: per-queue counters), and a bound for what a
 * driver's number can make us allocate. */
#define STATS_MAX 65536u
/* The number of statistics changes with the number of queues; asked again so often. */
#define STATS_TRIES 5

static int ethtool_ioctl(int fd, const char *link, void *command, struct error *err)
{
	struct ifreq ifr = {0};

	if (strlen(link) >= sizeof(ifr.ifr_name))
		return error_set_errno(err, -ENODEV, "%s", link);
	memcpy(ifr.ifr_name, link, strlen(link));
	ifr.ifr_data = command;
	if (ioctl(fd, SIOCETHTOOL, &ifr) < 0)
		return error_set_errno(err, -errno, "%s: ethtool ioctl 0x%x", link,
				       *(const uint32_t *)command);
	return 0;
}

static int ioctl_socket(struct error *err)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0);
	return fd < 0 ? error_set_errno(err, -errno, "socket for ethtool") : fd;
}

/* A name field of the kernel: it ends at a NUL or at its full size. */
static void put_field(json_t *object, const char *key, const char *field, size_t size)
{
	json_put(object, key, json_textn_new(field, strnlen(field, size)));
}

static int drvinfo_live(struct host *host RH_UNUSED, const void *question, json_t **answer,
			struct error *err)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	_cleanup_close_ int fd = ioctl_socket(err);
	int rc;

	if (fd < 0)
		return fd;
	rc = ethtool_ioctl(fd, question, &info, err);
	if (rc < 0)
		return rc;
	*answer = json_object_new();
	put_field(*answer, "driver", info.driver, sizeof(info.driver));
	put_field(*answer, "version", info.version, sizeof(info.version));
	put_field(*answer, "firmware", info.fw_version, sizeof(info.fw_version));
	put_field(*answer, "bus_info", info.bus_info, sizeof(info.bus_info));
	return 0;
}

static int get_field(json_t *answer, const char *key, char (*field)[33])
{
	const char *value = json_get_string(answer, key, NULL);
	size_t len = value ? strlen(value) : sizeof(*field);

	/* bytes that were not UTF-8 are longer in their printable form; the first 32 are enough */
	if (!value)
		return -EBADMSG;
	if (len >= sizeof(*field))
		len = sizeof(*field) - 1;
	memcpy(*field, value, len);
	(*field)[len] = '\0';
	return 0;
}

int host_ethtool_drvinfo(struct host *host, const char *link, struct host_drvinfo *info,
			 struct error *err)
{
	_cleanup_json_ json_t *answer = NULL;
	int rc = door_ask(host, "ethtool-drvinfo", link, false, drvinfo_live, link, &answer, err);

	memset(info, 0, sizeof(*info));
	if (rc < 0)
		return rc;
	if (get_field(answer, "driver", &info->driver) < 0 ||
	    get_field(answer, "version", &info->version) < 0 ||
	    get_field(answer, "firmware", &info->firmware) < 0 ||
	    get_field(answer, "bus_info", &info->bus_info) < 0)
		return door_malformed("ethtool-drvinfo", err);
	return 0;
}

static int stats_count(int fd, const char *link, uint32_t *count, struct error *err)
{
	union { /* the answer of one set follows the fixed part */
		struct ethtool_sset_info info;
		uint32_t words[sizeof(struct ethtool_sset_info) / sizeof(uint32_t) + 1];
	} request = { .info = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ull << ETH_SS_STATS } };
	int rc = ethtool_ioctl(fd, link, &request, err);

	if (rc < 0)
		return rc;
	*count = request.info.sset_mask ? request.info.data[0] : 0;
	if (*count > STATS_MAX)
		return error_set(err, -EFBIG, "%s: %u driver statistics", link, *count);
	return 0;
}

/* One try: -EAGAIN when the number of statistics changed between the three questions. */
static int stats_read(int fd, const char *link, json_t *stats, struct error *err)
{
	uint32_t count, room;
	int rc = stats_count(fd, link, &count, err);

	if (rc < 0 || !count)
		return rc;

	/* The kernel writes as many entries as the driver has at that moment, whatever the buffer's
	 * size; the room is for a number that grows meanwhile. */
	room = 2 * count + 1024;
	_cleanup_free_ struct ethtool_gstrings *names =
		xcalloc(1, sizeof(*names) + (size_t)room * ETH_GSTRING_LEN);
	_cleanup_free_ struct ethtool_stats *values =
		xcalloc(1, sizeof(*values) + (size_t)room * sizeof(uint64_t));

	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_STATS;
	names->len = count;
	rc = ethtool_ioctl(fd, link, names, err);
	if (rc < 0)
		return rc;
	values->cmd = ETHTOOL_GSTATS;
	values->n_stats = count;
	rc = ethtool_ioctl(fd, link, values, err);
	if (rc < 0)
		return rc;
	if (names->len != count || values->n_stats != count)
		return error_set(err, -EAGAIN, "%s: the number of driver statistics keeps changing",
				 link);

	const char *text = (const char *)names->data;
	for (uint32_t i = 0; i < count; i++, text += ETH_GSTRING_LEN) {
		json_t *name = json_textn_new(text, strnlen(text, ETH_GSTRING_LEN));

		if (json_string_length(name))
			json_put_u64(stats, json_string_value(name), values->data[i]);
		json_decref(name);
	}
	return 0;
}

static int stats_live(struct host *host RH_UNUSED, const void *question, json_t **answer,
		      struct error *err)
{
	_cleanup_close_ int fd = ioctl_socket(err);
	int rc = -EAGAIN;

	if (fd < 0)
		return fd;
	for (int i = 0; i < STATS_TRIES && rc == -EAGAIN; i++) {
		json_decref(*answer);
		*answer = json_object_new();
		rc = stats_read(fd, question, json_obj(*answer, "stats"), err);
	}
	if (rc < 0) {
		json_decref(*answer);
		*answer = NULL;
	}
	return rc;
}

int host_ethtool_stats(struct host *host, const char *link, json_t **stats, struct error *err)
{
	_cleanup_json_ json_t *answer = NULL;
	int rc = door_ask(host, "ethtool-stats", link, false, stats_live, link, &answer, err);

	*stats = NULL;
	if (rc < 0)
		return rc;
	if (!json_is_object(json_object_get(answer, "stats")))
		return door_malformed("ethtool-stats", err);
	*stats = json_incref(json_object_get(answer, "stats"));
	return 0;
}
