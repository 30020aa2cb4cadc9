/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the doors, and the one function through which every question goes. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "host/door.h"
#include "host/recording.h"
#include "host/root.h"

int host_open(struct host **out, const struct host_options *options, struct error *err)
{
	static const struct host_options none;
	const struct host_options *o = options ? options : &none;
	_cleanup_(host) struct host *host = xcalloc(1, sizeof(*host));
	int rc;

	*out = NULL;
	host->root_fd = -1;
	if (o->replay && o->root)
		return error_set(err, -EINVAL, "a recording has no root: give one or the other");

	if (o->replay)
		rc = recording_load(&host->replay, o->replay, err);
	else
		rc = root_open(host, o->root, err);
	if (rc < 0)
		return rc;

	host->genl_families = json_object_new();
	if (o->record)
		host->recording = door_memory_new();

	*out = host;
	host = NULL;
	return 0;
}

void host_close(struct host *host)
{
	if (!host)
		return;
	for (size_t i = 0; i < HOST_NETLINK_PROTOCOLS; i++)
		netlink_socket_free(host->netlink[i]);
	if (host->root_fd >= 0)
		close(host->root_fd);
	door_memory_free(host->recording);
	door_memory_free(host->replay);
	json_decref(host->genl_families);
	free(host->root);
	free(host);
}

bool host_is_replay(const struct host *host)
{
	return host->replay != NULL;
}

bool host_is_below_root(const struct host *host)
{
	return host->root != NULL;
}

/* Largest errno of the kernel (MAX_ERRNO, include/linux/err.h). */
#define ERRNO_MAX 4095

int door_failure(json_t *answer, const char *door, struct error *err)
{
	json_t *code = json_object_get(answer, "errno");
	json_int_t value;

	if (!code)
		return 0;
	value = json_integer_value(code);
	if (!json_is_integer(code) || value < 1 || value > ERRNO_MAX)
		return door_malformed(door, err);
	return error_set(err, -(int)value, "%s",
			 json_get_string(answer, "message", strerror((int)value)));
}

static json_t *failure_new(int code, const struct error *err)
{
	json_t *answer = json_object_new();

	json_put_int(answer, "errno", -(int64_t)code);
	json_put_string(answer, "message", error_text(err));
	return answer;
}

int door_ask(struct host *host, const char *door, const char *key, bool below_root, door_live live,
	     const void *question, json_t **answer, struct error *err)
{
	_cleanup_error_ struct error failure = {0};
	_cleanup_json_ json_t *found = NULL;
	int rc;

	*answer = NULL;
	if (host->replay) {
		found = json_incref(door_memory_next(host->replay, door, key));
		if (!found)
			return error_set(err, -ENODATA, "the recording has no answer for %s %s",
					 door, key);
	} else if (host->root && !below_root) {
		return error_set(err, -EOPNOTSUPP, "%s is not available below --root", door);
	} else {
		rc = live(host, question, &found, &failure);
		if (rc < 0)
			found = failure_new(rc, &failure);
	}
	if (host->recording)
		door_memory_keep(host->recording, door, key, json_incref(found));

	rc = door_failure(found, door, err);
	if (rc < 0)
		return rc;
	*answer = found;
	found = NULL;
	return 0;
}

int door_malformed(const char *door, struct error *err)
{
	return error_set(err, -EBADMSG, "the recording's answer for %s is malformed", door);
}

json_t *door_answer_new(const char *key, json_t *value)
{
	json_t *answer = json_object_new();

	json_put(answer, key, value);
	return answer;
}
