/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of the generic netlink family "devlink".
 * Attributes: include/uapi/linux/devlink.h; layout of a parameter: net/devlink/param.c.
 */
#include "observe/devlink.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>

#include "base/alloc.h"

/*
 * Types of a parameter's value: the kernel's NLA_* numbers until 6.15, from then on in the UAPI as
 * enum devlink_var_attr_type with the same values.
 */
enum value_type {
	VALUE_U8 = 1,
	VALUE_U16 = 2,
	VALUE_U32 = 3,
	VALUE_U64 = 4,
	VALUE_STRING = 5,
	VALUE_FLAG = 6,
};

static const struct attr_type types[DEVLINK_ATTR_MAX + 1] = {
	[DEVLINK_ATTR_BUS_NAME] = {MNL_TYPE_STRING, 2},
	[DEVLINK_ATTR_DEV_NAME] = {MNL_TYPE_STRING, 2},
	[DEVLINK_ATTR_PARAM] = {MNL_TYPE_NESTED},
	[DEVLINK_ATTR_PARAM_NAME] = {MNL_TYPE_STRING, 2},
	[DEVLINK_ATTR_PARAM_GENERIC] = {MNL_TYPE_FLAG},
	[DEVLINK_ATTR_PARAM_TYPE] = {MNL_TYPE_U8},
	[DEVLINK_ATTR_PARAM_VALUES_LIST] = {MNL_TYPE_NESTED},
	[DEVLINK_ATTR_PARAM_VALUE] = {MNL_TYPE_NESTED},
	[DEVLINK_ATTR_PARAM_VALUE_CMODE] = {MNL_TYPE_U8},
	[DEVLINK_ATTR_INFO_DRIVER_NAME] = {MNL_TYPE_STRING, 1},
	[DEVLINK_ATTR_INFO_SERIAL_NUMBER] = {MNL_TYPE_STRING, 1},
	[DEVLINK_ATTR_INFO_VERSION_FIXED] = {MNL_TYPE_NESTED},
	[DEVLINK_ATTR_INFO_VERSION_RUNNING] = {MNL_TYPE_NESTED},
	[DEVLINK_ATTR_INFO_VERSION_STORED] = {MNL_TYPE_NESTED},
	[DEVLINK_ATTR_INFO_VERSION_NAME] = {MNL_TYPE_STRING, 2},
	[DEVLINK_ATTR_INFO_VERSION_VALUE] = {MNL_TYPE_STRING, 1},
};

/* One message, and the device that it is about. */
struct message {
	const struct nlattr *tb[DEVLINK_ATTR_MAX + 1];
	char *bus, *name;	/* owned */
	json_t *device;		/* /devlink/BUS/NAME, borrowed */
	bool broken;
};

/* False (and nothing to close) when the message names no device. */
static bool message_open(struct message *m, const struct nlmsghdr *nlh, struct observation *o)
{
	m->broken = attr_parse(nlh, sizeof(struct genlmsghdr), m->tb, DEVLINK_ATTR_MAX, types) < 0;
	m->bus = attr_text(m->tb[DEVLINK_ATTR_BUS_NAME]);
	m->name = attr_text(m->tb[DEVLINK_ATTR_DEV_NAME]);
	if (!m->bus || !m->name) {
		free(m->bus);
		free(m->name);
		observe_gap(o, -EBADMSG, NULL, "the kernel sent a message about no device",
			    "/devlink");
		return false;
	}
	m->device = json_obj(json_obj(json_obj(o->snapshot, "devlink"), m->bus), m->name);
	return true;
}

static void message_close(struct message *m, struct observation *o)
{
	if (m->broken)
		observe_gap(o, -EBADMSG, NULL,
			    "the kernel's answer has an attribute of unknown form",
			    "/devlink/%s/%s", m->bus, m->name);
	free(m->bus);
	free(m->name);
}

int devlink_parse_handle(const struct nlmsghdr *nlh, void *data)
{
	struct devlink_context *c = data;
	struct message m;

	if (message_open(&m, nlh, c->o))
		message_close(&m, c->o);
	return 0;
}

static const char *version_group(uint16_t type)
{
	switch (type) {
	case DEVLINK_ATTR_INFO_VERSION_FIXED:
		return "fixed";
	case DEVLINK_ATTR_INFO_VERSION_RUNNING:
		return "running";
	case DEVLINK_ATTR_INFO_VERSION_STORED:
		return "stored";
	default:
		return NULL;
	}
}

/* versions[group][name] = value */
static bool put_version(json_t *versions, const char *group, const struct nlattr *nest)
{
	const struct nlattr *tb[DEVLINK_ATTR_MAX + 1];
	int rc = attr_parse_nested(nest, tb, DEVLINK_ATTR_MAX, types);
	_cleanup_free_ char *name = attr_text(tb[DEVLINK_ATTR_INFO_VERSION_NAME]);

	if (name)
		attr_put_text(json_obj(versions, group), name, tb[DEVLINK_ATTR_INFO_VERSION_VALUE]);
	return rc == 0 && name;
}

int devlink_parse_info(const struct nlmsghdr *nlh, void *data)
{
	struct devlink_context *c = data;
	struct message m;
	json_t *versions;

	if (!message_open(&m, nlh, c->o))
		return 0;
	attr_put_text(m.device, "driver", m.tb[DEVLINK_ATTR_INFO_DRIVER_NAME]);
	attr_put_text(m.device, "serial", m.tb[DEVLINK_ATTR_INFO_SERIAL_NUMBER]);
	versions = json_obj(m.device, "versions");
	json_obj(versions, "fixed");
	json_obj(versions, "running");
	json_obj(versions, "stored");
	/* one attribute for each version: they repeat */
	for (const struct nlattr *a = NULL; (a = attr_next(nlh, sizeof(struct genlmsghdr), a));) {
		const char *group = version_group(mnl_attr_get_type(a));

		if (group && !put_version(versions, group, a))
			m.broken = true;
	}
	message_close(&m, c->o);
	return 0;
}

/* A value as JSON, or NULL when it does not fit its type or the type is not known. A flag is told
 * by the attribute's presence: absent means false. */
static json_t *value_new(uint32_t type, const struct nlattr *value)
{
	static const uint8_t sizes[] = {
		[VALUE_U8] = 1, [VALUE_U16] = 2, [VALUE_U32] = 4, [VALUE_U64] = 8,
	};
	_cleanup_free_ char *text = NULL;
	uint64_t n;

	switch (type) {
	case VALUE_FLAG:
		return json_boolean(value != NULL);
	case VALUE_STRING:
		text = attr_text(value);
		return text ? json_text_new(text) : NULL;
	case VALUE_U8:
	case VALUE_U16:
	case VALUE_U32:
	case VALUE_U64:
		if (!value || mnl_attr_get_payload_len(value) != sizes[type] ||
		    !attr_get_u64(value, &n))
			return NULL;
		if (n <= INT64_MAX)
			return json_integer((json_int_t)n);
		text = xasprintf("%" PRIu64, n);
		return json_text_new(text);
	default:
		return NULL;
	}
}

static const char *mode_name(uint32_t mode)
{
	static const char *const names[] = {
		[DEVLINK_PARAM_CMODE_RUNTIME] = "runtime",
		[DEVLINK_PARAM_CMODE_DRIVERINIT] = "driverinit",
		[DEVLINK_PARAM_CMODE_PERMANENT] = "permanent",
	};

	return mode < ARRAY_SIZE(names) ? names[mode] : NULL;
}

/* values[mode] = value, for each of the list. False when one was not understood. */
static bool put_values(json_t *values, uint32_t type, const struct nlattr *list)
{
	bool right = true;

	for (const struct nlattr *a = NULL; (a = attr_next_nested(list, a));) {
		const struct nlattr *tb[DEVLINK_ATTR_MAX + 1];
		json_t *value = NULL;
		uint32_t mode;

		if (mnl_attr_get_type(a) != DEVLINK_ATTR_PARAM_VALUE)
			continue;
		if (attr_parse_nested(a, tb, DEVLINK_ATTR_MAX, types) < 0 ||
		    !attr_get_u32(tb[DEVLINK_ATTR_PARAM_VALUE_CMODE], &mode) || !mode_name(mode)) {
			right = false;
			continue;
		}
		value = value_new(type, tb[DEVLINK_ATTR_PARAM_VALUE_DATA]);
		if (value)
			json_put(values, mode_name(mode), value);
		else
			right = false;
	}
	return right;
}

int devlink_parse_param(const struct nlmsghdr *nlh, void *data)
{
	struct devlink_context *c = data;
	const struct nlattr *tb[DEVLINK_ATTR_MAX + 1];
	_cleanup_free_ char *name = NULL;
	json_t *parameter;
	struct message m;
	uint32_t type;

	if (!message_open(&m, nlh, c->o))
		return 0;
	if (attr_parse_nested(m.tb[DEVLINK_ATTR_PARAM], tb, DEVLINK_ATTR_MAX, types) < 0)
		m.broken = true;
	name = attr_text(tb[DEVLINK_ATTR_PARAM_NAME]);
	if (name && attr_get_u32(tb[DEVLINK_ATTR_PARAM_TYPE], &type)) {
		parameter = json_obj(json_obj(m.device, "parameters"), name);
		json_put_bool(parameter, "generic", tb[DEVLINK_ATTR_PARAM_GENERIC]);
		if (!put_values(json_obj(parameter, "values"), type,
				tb[DEVLINK_ATTR_PARAM_VALUES_LIST]))
			observe_gap(c->o, -EBADMSG, NULL,
				    "the parameter has a value of unknown form",
				    "/devlink/%s/%s/parameters/%s/values", m.bus, m.name, name);
	} else {
		m.broken = true;
	}
	message_close(&m, c->o);
	return 0;
}
