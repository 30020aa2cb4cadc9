/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /devlink: three dumps for all devices. A dump skips devices that do not support the request, and
 * ends with the error of the first one that fails in another way (firmware that does not answer);
 * the devices are then asked one by one, so that one does not hide the others.
 */
#include "observe/devlink.h"

#include <errno.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <sys/socket.h>

#include "base/alloc.h"

struct asker {
	struct devlink_context c;
	uint16_t family;
};

static const struct question {
	uint8_t command;
	bool one_is_dump;	/* a device has a list of them */
	host_netlink_cb parse;
	const char *member;	/* of the device that tells that there was an answer */
} questions[] = {
	{DEVLINK_CMD_INFO_GET, false, devlink_parse_info, "versions"},
	/* the dump of one device's list: since Linux 6.5; older kernels list all devices */
	{DEVLINK_CMD_PARAM_GET, true, devlink_parse_param, "parameters"},
};

/* Ask about the device `bus`/`name`, or about all of them when they are NULL. */
static int ask(struct asker *a, uint8_t command, bool is_dump, host_netlink_cb parse,
	       const char *bus, const char *name, struct error *err)
{
	char buffer[HOST_NETLINK_REQUEST_MAX] = {0};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = a->family;
	nlh->nlmsg_flags = NLM_F_REQUEST | (is_dump ? NLM_F_DUMP : NLM_F_ACK);
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = command;
	genl->version = DEVLINK_GENL_VERSION;
	if (bus) {
		if (!mnl_attr_put_strz_check(nlh, sizeof(buffer), DEVLINK_ATTR_BUS_NAME, bus) ||
		    !mnl_attr_put_strz_check(nlh, sizeof(buffer), DEVLINK_ATTR_DEV_NAME, name))
			return error_set_errno(err, -ENAMETOOLONG, "devlink device %s/%s", bus,
					       name);
	}
	return host_netlink(a->c.o->host, NETLINK_GENERIC, nlh, parse, &a->c, err);
}

/* Ask each device on its own. */
static void ask_each(struct asker *a, const struct question *q)
{
	json_t *devlink = json_object_get(a->c.o->snapshot, "devlink");
	const char *bus, *name;
	json_t *devices, *device;

	json_object_foreach(devlink, bus, devices) {
		json_object_foreach(devices, name, device) {
			_cleanup_error_ struct error err = {0};
			int rc = ask(a, q->command, q->one_is_dump, q->parse, bus, name, &err);

			if (rc < 0)
				observe_gap(a->c.o, rc, NULL, error_text(&err),
					    "/devlink/%s/%s/%s", bus, name, q->member);
		}
	}
}

static void note_silent(struct observation *o, const struct question *q)
{
	json_t *devlink = json_object_get(o->snapshot, "devlink");
	const char *bus, *name;
	json_t *devices, *device;

	json_object_foreach(devlink, bus, devices)
		json_object_foreach(devices, name, device)
			if (!json_object_get(device, q->member))
				observe_gap(o, -EOPNOTSUPP, NULL, "the driver does not answer this",
					    "/devlink/%s/%s/%s", bus, name, q->member);
}

void observe_devlink(struct observation *o)
{
	_cleanup_error_ struct error err = {0};
	struct asker a = {.c = {.o = o}};
	int rc = host_genl_family(o->host, DEVLINK_GENL_NAME, &err);

	if (rc >= 0) {
		a.family = (uint16_t)rc;
		rc = ask(&a, DEVLINK_CMD_GET, true, devlink_parse_handle, NULL, NULL, &err);
	}
	if (rc < 0) {
		observe_gap(o, rc, NULL, error_text(&err), "/devlink");
		return;
	}
	json_obj(o->snapshot, "devlink");
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		const struct question *q = &questions[i];

		error_clear(&err);
		rc = ask(&a, q->command, true, q->parse, NULL, NULL, &err);
		if (rc < 0)
			ask_each(&a, q);
		else
			note_silent(o, q);
	}
}
