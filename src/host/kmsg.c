/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel log: /dev/kmsg (record by record, Documentation/ABI/testing/dev-kmsg), or syslog(2)
 * where that device is missing or closed to us.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/klog.h>

#include "base/text.h"
#include "host/door.h"
#include "host/kmsg.h"

/* Actions of syslog(2), as its manual page numbers them. */
#define SYSLOG_ACTION_READ_ALL 3
#define SYSLOG_ACTION_SIZE_BUFFER 10

/* One record is at most 8 KiB long (PRINTKRB_RECORD_MAX / CONSOLE_EXT_LOG_MAX, kernel/printk). */
#define RECORD_MAX (16u << 10)
/* More records than any log buffer holds; a log that grows faster than it is read must end too. */
#define RECORDS_MAX (1u << 20)

static bool matches(const char *text, const char *const *needles)
{
	for (; *needles; needles++)
		if (strstr(text, *needles))
			return true;
	return false;
}

static void line_put(json_t *lines, const char *const *needles, uint64_t time_us, unsigned level,
		     const char *text)
{
	if (!matches(text, needles))
		return;
	json_t *line = json_object_new();
	json_put_u64(line, "time_us", time_us);
	json_put_int(line, "level", level);
	json_put_string(line, "text", text);
	json_append(lines, line);
}

/* "6,1234,5678901,-;text\n KEY=value\n…": priority, sequence number, microseconds, flags. */
void kmsg_parse_record(json_t *lines, const char *const *needles, char *record)
{
	char *semicolon = strchr(record, ';'), *newline, *end;
	unsigned long priority;
	unsigned long long time_us;

	if (!semicolon)
		return;
	*semicolon = '\0';
	newline = strchr(semicolon + 1, '\n');
	if (newline)
		*newline = '\0';

	priority = strtoul(record, &end, 10);
	if (end == record || *end != ',')
		return;
	end = strchr(end + 1, ',');
	if (!end)
		return;
	time_us = strtoull(end + 1, NULL, 10);
	line_put(lines, needles, time_us, priority & 7, semicolon + 1);
}

static int read_device(int fd, const char *const *needles, json_t *lines, struct error *err)
{
	_cleanup_free_ char *record = xmalloc(RECORD_MAX);

	for (unsigned i = 0; i < RECORDS_MAX; i++) {
		ssize_t n = read(fd, record, RECORD_MAX - 1);

		if (n < 0 && (errno == EINTR || errno == EPIPE))
			continue;	/* EPIPE: this record was overwritten meanwhile */
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0)
			return error_set_errno(err, -errno, "/dev/kmsg");
		if (n == 0)
			return 0;
		record[n] = '\0';
		kmsg_parse_record(lines, needles, record);
	}
	return 0;
}

/* "<6>[    1.234567] text": level, seconds since boot. */
void kmsg_parse_syslog_line(json_t *lines, const char *const *needles, const char *line)
{
	unsigned long level = 0;
	uint64_t time_us = 0;
	char *end;

	if (*line == '<') {
		level = strtoul(line + 1, &end, 10);
		if (*end != '>')
			return;
		line = end + 1;
	}
	if (*line == '[') {
		unsigned long long seconds = strtoull(line + 1, &end, 10);

		if (*end == '.' && seconds < UINT64_MAX / 1000000) {
			time_us = seconds * 1000000 + strtoul(end + 1, &end, 10) % 1000000;
			if (*end == ']')
				line = end[1] == ' ' ? end + 2 : end + 1;
		}
	}
	line_put(lines, needles, time_us, level & 7, line);
}

static int read_syslog(const char *const *needles, json_t *lines, struct error *err)
{
	int size = klogctl(SYSLOG_ACTION_SIZE_BUFFER, NULL, 0);

	if (size < 0)
		return error_set_errno(err, -errno, "kernel log");
	_cleanup_free_ char *text = xmalloc((size_t)size + 1);
	int n = klogctl(SYSLOG_ACTION_READ_ALL, text, size);
	if (n < 0)
		return error_set_errno(err, -errno, "kernel log");
	text[n] = '\0';
	for (char *cursor = text, *line; (line = text_next_line(&cursor));)
		kmsg_parse_syslog_line(lines, needles, line);
	return 0;
}

static int kmsg_live(struct host *host, const void *question, json_t **answer, struct error *err)
{
	const char *const *needles = question;
	_cleanup_close_ int fd = path_open(host, "/dev/kmsg", O_RDONLY | O_NONBLOCK);
	_cleanup_json_ json_t *lines = json_array_new();
	int rc;

	rc = fd >= 0 ? read_device(fd, needles, lines, err) : read_syslog(needles, lines, err);
	if (rc < 0)
		return rc;
	*answer = door_answer_new("lines", json_incref(lines));
	return 0;
}

int host_kernel_log(struct host *host, const char *const *needles, json_t **lines,
		    struct error *err)
{
	_cleanup_strbuf_ struct strbuf key = {0};
	_cleanup_json_ json_t *answer = NULL;

	*lines = NULL;
	for (const char *const *n = needles; *n; n++)
		strbuf_printf(&key, "%s%s", n == needles ? "" : "\n", *n);
	int rc = door_ask(host, "kernel-log", strbuf_str(&key), false, kmsg_live, needles, &answer,
			  err);
	if (rc < 0)
		return rc;
	if (!json_is_array(json_object_get(answer, "lines")))
		return door_malformed("kernel-log", err);
	*lines = json_incref(json_object_get(answer, "lines"));
	return 0;
}
