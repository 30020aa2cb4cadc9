/* SPDX-License-Identifier: Apache-2.0 */
/* Record, write, replay: every door answers the same; what was not asked is an error. */
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zlib.h>

#include <cmocka.h>

#include "host/recording.h"
#include "tree.h"

/* What one round through all doors saw: texts one below the other. */
struct journal {
	struct strbuf text;
	struct tree *tree;
};

static void note_error(struct journal *j, const char *what, int rc, const struct error *err)
{
	strbuf_printf(&j->text, "%s: %d %s\n", what, rc, rc < 0 ? error_text(err) : "");
}

static void note_json(struct journal *j, const char *what, int rc, json_t *json, struct error *err)
{
	_cleanup_free_ char *text = json ? json_to_text(json, false) : NULL;

	note_error(j, what, rc, err);
	strbuf_printf(&j->text, "%s\n", text ? text : "-");
	json_decref(json);
	error_clear(err);
}

static void ask_paths(struct host *host, struct journal *j)
{
	static const char *const files[] = { "plain", "bytes", "empty", "none", "folder", "counter" };
	static const char *const needles[] = { "line", NULL };
	const char *root = j->tree->path;
	struct error err = {0};
	struct host_stat st;
	char **names, *data;
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		int rc = host_read(host, &data, &len, &err, "%s/%s", root, files[i]);

		note_error(j, files[i], rc, &err);
		if (rc == 0) {
			strbuf_printf(&j->text, "%zu ", len);
			strbuf_add(&j->text, data, len);
			free(data);
		}
	}
	note_error(j, "matching", host_read_matching(host, &data, needles, &err, "%s/plain", root), &err);
	strbuf_puts(&j->text, data);
	free(data);
	note_error(j, "list", host_list(host, &names, &err, "%s", root), &err);
	for (char **n = names; n && *n; n++)
		strbuf_printf(&j->text, " %s", *n);
	strings_free(names);
	note_error(j, "readlink", host_readlink(host, &data, &err, "%s/link", root), &err);
	strbuf_puts(&j->text, data);
	free(data);
	note_error(j, "stat", host_stat(host, &st, true, &err, "/dev/null"), &err);
	strbuf_printf(&j->text, "%c %o %u:%u %d\n", st.type, st.mode, st.dev_major, st.dev_minor,
		      st.usable);
	note_error(j, "stat none", host_stat(host, &st, true, &err, "%s/none", root), &err);
	error_clear(&err);
}

static int bytes_cb(const struct nlmsghdr *nlh, void *data)
{
	struct journal *j = data;

	strbuf_add(&j->text, nlh, nlh->nlmsg_len);
	return 0;
}

static void ask_netlink(struct host *host, struct journal *j)
{
	struct {
		struct nlmsghdr h;
		struct ifinfomsg link;
	} request = { .h = { .nlmsg_len = sizeof(request), .nlmsg_type = RTM_GETLINK },
		      .link.ifi_index = 1 };
	struct error err = {0};

	/* not a dump: the counters of loopback may move between two dumps, not inside one answer */
	note_error(j, "lo", host_netlink(host, NETLINK_ROUTE, &request.h, bytes_cb, j, &err), &err);
	request.link.ifi_index = 0x7ffffff0;
	note_error(j, "no link", host_netlink(host, NETLINK_ROUTE, &request.h, bytes_cb, j, &err), &err);
	note_error(j, "family", host_genl_family(host, "nlctrl", &err), &err);
	note_error(j, "no family", host_genl_family(host, "no-such-family", &err), &err);
	error_clear(&err);
}

static int good_probe(json_t *result, struct error *err RH_UNUSED)
{
	json_put_int(result, "answer", 42);
	fputs("a warning\n", stderr);
	return 0;
}

static int bad_probe(json_t *result RH_UNUSED, struct error *err)
{
	return error_set(err, -ENOENT, "no such library");
}

static void ask_others(struct host *host, struct journal *j)
{
	static const char *const argv[] = { "sh", "-c", "echo hello; exit 3", NULL };
	static const char *const nothing[] = { "no-such-program", NULL };
	static const char *const needles[] = { "Linux version", NULL };
	struct host_drvinfo info;
	struct host_time now;
	struct error err = {0};
	json_t *json = NULL;
	char *text = NULL;
	int rc;

	rc = host_ethtool_drvinfo(host, "lo", &info, &err);
	note_error(j, "drvinfo", rc, &err);
	strbuf_printf(&j->text, "%s|%s|%s|%s\n", info.driver, info.version, info.firmware, info.bus_info);
	rc = host_ethtool_stats(host, "lo", &json, &err);
	note_json(j, "stats", rc, json, &err);
	rc = host_kernel_log(host, needles, &json, &err);
	note_json(j, "log", rc, json, &err);
	rc = host_module_info(host, "ice", &json, &err);
	note_json(j, "module", rc, json, &err);
	note_error(j, "exec", host_exec(host, argv, 5000, &text, &err), &err);
	strbuf_puts(&j->text, text);
	free(text);
	note_error(j, "exec none", host_exec(host, nothing, 5000, &text, &err), &err);
	rc = host_probe_run(host, "good", good_probe, 5000, &json, &text, &err);
	strbuf_puts(&j->text, text);
	free(text);
	note_json(j, "good", rc, json, &err);
	rc = host_probe_run(host, "bad", bad_probe, 5000, &json, NULL, &err);
	note_json(j, "bad", rc, json, &err);
	note_error(j, "time", host_time(host, &now, &err), &err);
	strbuf_printf(&j->text, "%lld %lld\n", (long long)now.realtime_s, (long long)now.boottime_ns);
	rc = host_uname(host, &json, &err);
	note_json(j, "uname", rc, json, &err);
	rc = host_self(host, &json, &err);
	note_json(j, "self", rc, json, &err);
}

static void ask_all(struct host *host, struct journal *j)
{
	ask_paths(host, j);
	ask_netlink(host, j);
	ask_others(host, j);
}

static void fill(struct tree *t)
{
	tree_write(t, "plain", "a line\nanother\nthird line\n", 26);
	tree_write(t, "bytes", "\0\xff\x80x", 4);
	tree_write(t, "empty", "", 0);
	tree_directory(t, "folder");
	tree_link(t, "link", "../target");
}

static struct host *open_with(const char *replay, bool record)
{
	struct host_options options = { .replay = replay, .record = record };
	_cleanup_error_ struct error err = {0};
	struct host *host = NULL;

	if (host_open(&host, &options, &err) < 0)
		fail_msg("%s", error_text(&err));
	return host;
}

static void test_round_trip(void **state)
{
	struct tree *t = *state;
	struct journal live = { .tree = t }, replayed = { .tree = t }, again = { .tree = t };
	_cleanup_free_ char *path = xasprintf("%s.gz", t->path), *second = xasprintf("%s.2.gz", t->path);
	_cleanup_error_ struct error err = {0};

	fill(t);
	struct host *host = open_with(NULL, true);
	assert_false(host_is_replay(host));
	tree_write(t, "counter", "1\n", 2);
	ask_all(host, &live);
	tree_write(t, "counter", "2\n", 2);
	ask_paths(host, &live);
	ask_paths(host, &live);
	assert_int_equal(host_record_write(host, path, NULL, &err), 0);
	host_close(host);

	/* the machine changes: a replay must not look */
	tree_write(t, "plain", "changed", 7);
	host = open_with(path, true);
	assert_true(host_is_replay(host));
	ask_all(host, &replayed);
	ask_paths(host, &replayed);
	ask_paths(host, &replayed);
	assert_int_equal(replayed.text.len, live.text.len);
	assert_memory_equal(replayed.text.s, live.text.s, live.text.len);
	assert_int_equal(host_record_write(host, second, NULL, &err), 0);
	host_close(host);

	/* a recording of a replay is the same file */
	_cleanup_(host) struct host *reader = open_with(NULL, false);
	_cleanup_free_ char *a = NULL, *b = NULL;
	size_t a_len, b_len;
	assert_int_equal(host_read(reader, &a, &a_len, &err, "%s", path), 0);
	assert_int_equal(host_read(reader, &b, &b_len, &err, "%s", second), 0);
	assert_int_equal(a_len, b_len);
	assert_memory_equal(a, b, a_len);

	unlink(path);
	unlink(second);
	strbuf_clear(&live.text);
	strbuf_clear(&replayed.text);
	strbuf_clear(&again.text);
}

static void test_order_of_answers(void **state)
{
	struct tree *t = *state;
	_cleanup_free_ char *path = xasprintf("%s.gz", t->path);
	static const char *const values[] = { "1", "1", "2", "3", "3", "3" };
	static const char *const expected[] = { "1", "1", "2", "3", "3", "3", "3", "3" };
	struct host *host = open_with(NULL, true);

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		tree_write(t, "counter", values[i], 1);
		free(host_read_text(host, NULL, "%s/counter", t->path));
	}
	assert_int_equal(host_record_write(host, path, NULL, NULL), 0);
	host_close(host);
	host = open_with(path, false);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		_cleanup_free_ char *text = host_read_text(host, NULL, "%s/counter", t->path);

		assert_non_null(text);
		assert_string_equal(text, expected[i]);
	}
	host_close(host);
	unlink(path);
}

static void test_unknown_question(void **state)
{
	struct tree *t = *state;
	_cleanup_free_ char *path = xasprintf("%s.gz", t->path);
	_cleanup_error_ struct error err = {0};
	struct host *host = open_with(NULL, true);
	char *data = NULL, **names = NULL;
	json_t *json = NULL;

	free(host_read_text(host, NULL, "/proc/version"));
	assert_int_equal(host_record_write(host, path, NULL, &err), 0);
	host_close(host);

	host = open_with(path, false);
	assert_int_equal(host_read(host, &data, NULL, &err, "/proc/version"), 0);
	free(data);
	assert_int_equal(host_read(host, &data, NULL, &err, "/proc/x"), -ENODATA);
	assert_string_equal(err.message, "the recording has no answer for read /proc/x");
	assert_int_equal(host_list(host, &names, &err, "/proc/version"), -ENODATA);
	assert_int_equal(host_kernel_log(host, (const char *const[]){ NULL }, &json, &err),
			 -ENODATA);
	assert_int_equal(host_genl_family(host, "devlink", &err), -ENODATA);
	assert_int_equal(host_record_write(host, path, NULL, &err), -EINVAL);	/* not recording */
	host_close(host);
	unlink(path);
}

/* --- the file --------------------------------------------------------------------------------- */

static void expect_refused(const char *text, const char *words)
{
	_cleanup_error_ struct error err = {0};
	struct door_memory *m = NULL;

	assert_true(recording_parse(&m, text, strlen(text), "x.json", &err) < 0);
	assert_null(m);
	assert_non_null(strstr(err.message, "x.json"));
	if (!strstr(err.message, words))
		fail_msg("\"%s\" is not in: %s", words, err.message);
}

#define HEAD "{\"schema\":\"railhead.recording/1\",\"doors\":"

static void test_hostile_text(void **state RH_UNUSED)
{
	_cleanup_strbuf_ struct strbuf deep = {0};

	strbuf_puts(&deep, HEAD);
	for (int i = 0; i < 100000; i++)
		strbuf_puts(&deep, "[");
	expect_refused(deep.s, "x.json");
	expect_refused("", "x.json");
	expect_refused("[]", "not a railhead recording");
	expect_refused("{\"schema\":\"railhead.snapshot/1\"}", "not a railhead recording");
	expect_refused("{\"schema\":\"railhead.recording/2\",\"doors\":{}}", "not known to this version");
	expect_refused("{\"schema\":\"railhead.recording/1\"}", "\"doors\" is not an object");
	expect_refused(HEAD "[]}", "\"doors\" is not an object");
	expect_refused(HEAD "{},\"more\":1}", "unknown member \"more\"");
	expect_refused(HEAD "{\"read\":[]}}", "door \"read\"");
	expect_refused(HEAD "{\"read\":{\"/a\":{}}}}", "no list of answers");
	expect_refused(HEAD "{\"read\":{\"/a\":[]}}}", "no list of answers");
	expect_refused(HEAD "{\"read\":{\"/a\":[1]}}}", "not an object");
	expect_refused(HEAD "{\"read\":{\"/a\":[{}],\"/a\":[{}]}}}", "x.json");
	expect_refused(HEAD "{}} trailing", "x.json");
}

/* A host that replays `doors`, the rest of a recording's text. */
static struct host *replay_of(struct tree *t, const char *doors)
{
	_cleanup_free_ char *path = xasprintf("%s/r.json", t->path);
	_cleanup_free_ char *text = xasprintf(HEAD "%s}", doors);

	tree_write(t, "r.json", text, strlen(text));
	return open_with(path, false);
}

static void test_hostile_answers(void **state)
{
	static const char *const answers[] = {
		"{}", "{\"data\":1}", "{\"data\":{\"base64\":\"A\"}}", "{\"data\":{\"base64\":\"====\"}}",
		"{\"data\":{\"base64\":\"AB==\"}}", "{\"data\":{\"base64\":\"AA=A\"}}", "{\"data\":{\"base64\":\"AAB=\"}}",
		"{\"data\":{\"base64\":\"A A=\"}}", "{\"errno\":0}", "{\"errno\":-2}",
		"{\"errno\":4096}", "{\"errno\":\"ENOENT\"}", "{\"errno\":2.0}",
		"{\"names\":{}}", "{\"names\":[3]}", "{\"type\":\"cc\"}", "{\"type\":\"c\",\"usable\":7}",
		"{\"target\":null}", "{\"messages\":7}", "{\"messages\":\"AAAA\"}", "{\"status\":256,\"output\":\"\"}",
		"{\"status\":-1}", "{\"outcome\":[],\"stderr\":\"\"}", "{\"outcome\":{},\"stderr\":\"\"}",
		"{\"outcome\":{\"result\":1},\"stderr\":\"\"}", "{\"lines\":1}", "{\"info\":1}", "{\"stats\":[]}",
		"{\"realtime_s\":-1,\"boottime_ns\":0}", "{\"driver\":1}",
	};
	static const char *const none[] = { "x", NULL };

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		const char *a = answers[i];
		_cleanup_free_ char *doors = xasprintf(
			"{\"read\":{\"/a\":[%s]},\"list\":{\"/a\":[%s]},\"readlink\":{\"/a\":[%s]},"
			"\"stat\":{\"/a\":[%s]},\"ethtool-drvinfo\":{\"a\":[%s]},\"ethtool-stats\":{\"a\":[%s]},"
			"\"kernel-log\":{\"x\":[%s]},\"module\":{\"a\":[%s]},\"exec\":{\"[\\\"x\\\"]\":[%s]},"
			"\"probe\":{\"a\":[%s]},\"time\":{\"now\":[%s]},"
			"\"netlink\":{\"route:EAAAABIAAAAAAAAAAAAAAA==\":[%s]}}",
			a, a, a, a, a, a, a, a, a, a, a, a);
		_cleanup_(host) struct host *host = replay_of(*state, doors);
		struct nlmsghdr request = { .nlmsg_len = 16, .nlmsg_type = RTM_GETLINK };
		struct journal j = {0};
		struct host_drvinfo info;
		struct host_time now;
		struct host_stat st;
		char *data, **names;
		json_t *json;

		assert_true(host_read(host, &data, NULL, NULL, "/a") < 0);
		assert_true(host_list(host, &names, NULL, "/a") < 0);
		assert_true(host_readlink(host, &data, NULL, "/a") < 0);
		assert_true(host_stat(host, &st, false, NULL, "/a") < 0);
		assert_true(host_ethtool_drvinfo(host, "a", &info, NULL) < 0);
		assert_true(host_ethtool_stats(host, "a", &json, NULL) < 0);
		assert_true(host_kernel_log(host, none, &json, NULL) < 0 || strstr(a, "lines\":["));
		assert_true(host_module_info(host, "a", &json, NULL) < 0);
		assert_true(host_exec(host, none, 1, &data, NULL) < 0);
		assert_true(host_probe_run(host, "a", good_probe, 1, &json, NULL, NULL) < 0);
		assert_true(host_time(host, &now, NULL) < 0);
		assert_true(host_netlink(host, NETLINK_ROUTE, &request, bytes_cb, &j, NULL) < 0);
		assert_int_equal(j.text.len, 0);
	}
}

static void test_hand_written(void **state)
{
	_cleanup_(host) struct host *host = replay_of(*state,
		"{\"read\":{\"/a\":[{\"data\":\"1\"},{\"data\":{\"base64\":\"AP8=\"}},"
		"{\"errno\":13,\"message\":\"/a: no\"}]}}");
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *one = NULL, *two = NULL;
	char *three = NULL;
	size_t len;

	assert_int_equal(host_read(host, &one, &len, &err, "/a"), 0);
	assert_string_equal(one, "1");
	assert_int_equal(host_read(host, &two, &len, &err, "/a"), 0);
	assert_int_equal(len, 2);
	assert_memory_equal(two, "\0\xff", 3);
	assert_int_equal(host_read(host, &three, &len, &err, "/a"), -EACCES);
	assert_string_equal(err.message, "/a: no");
	assert_int_equal(host_read(host, &three, &len, &err, "/a"), -EACCES);
}

static void test_damaged_files(void **state)
{
	struct tree *t = *state;
	struct host_options options = {0};
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *path = xasprintf("%s/cut.gz", t->path);
	_cleanup_free_ char *data = NULL;
	struct host *host = open_with(NULL, true), *none = NULL;
	size_t len;

	for (int i = 1; i < 50; i++)
		free(host_read_text(host, NULL, "/proc/sys/kernel/%d", i));
	free(host_read_text(host, NULL, "/proc/version"));
	assert_int_equal(host_record_write(host, path, NULL, &err), 0);
	host_close(host);

	host = open_with(NULL, false);
	assert_int_equal(host_read(host, &data, &len, NULL, "%s", path), 0);
	host_close(host);
	options.replay = path;
	tree_write(t, "cut.gz", data, len / 2);
	assert_int_equal(host_open(&none, &options, &err), -EBADMSG);
	assert_null(none);
	assert_non_null(strstr(err.message, "cut.gz"));
	data[len / 2] = (char)(data[len / 2] ^ 0x55);
	tree_write(t, "cut.gz", data, len);
	assert_true(host_open(&none, &options, &err) < 0);
	options.replay = "/nowhere";
	assert_int_equal(host_open(&none, &options, &err), -ENOENT);
	assert_non_null(strstr(err.message, "/nowhere"));
	options.replay = t->path;
	assert_int_equal(host_open(&none, &options, &err), -EISDIR);
}

/* 300 MiB of zeros in 300 KiB. */
static void test_bomb(void **state)
{
	struct tree *t = *state;
	_cleanup_free_ char *path = xasprintf("%s/bomb.gz", t->path), *zeros = xcalloc(1, 1 << 20);
	struct host_options options = { .replay = path };
	_cleanup_error_ struct error err = {0};
	struct host *host = NULL;
	gzFile gz = gzopen(path, "wb1");

	assert_non_null(gz);
	for (int i = 0; i < 300; i++)
		assert_int_equal(gzwrite(gz, zeros, 1 << 20), 1 << 20);
	assert_int_equal(gzclose(gz), Z_OK);
	assert_int_equal(host_open(&host, &options, &err), -EFBIG);
	assert_non_null(strstr(err.message, "bomb.gz"));
}

/* --- writing ---------------------------------------------------------------------------------- */

static void test_write_errors(void **state)
{
	struct tree *t = *state;
	_cleanup_error_ struct error err = {0};
	_cleanup_(host) struct host *host = open_with(NULL, true);
	struct stat st;

	free(host_read_text(host, NULL, "/proc/version"));
	assert_int_equal(host_record_write(host, "/nowhere/r.gz", NULL, &err), -ENOENT);
	assert_non_null(strstr(err.message, "/nowhere/r.gz"));
	assert_int_equal(host_record_write(host, "/dev/full", NULL, &err), -ENOSPC);
	assert_non_null(strstr(err.message, "/dev/full"));
	assert_int_equal(stat("/dev/full", &st), 0);
	assert_true(S_ISCHR(st.st_mode));	/* not replaced by a file */

	/* a link stays a link, the file behind it is written; the mode follows the umask */
	tree_write(t, "real.gz", "old", 3);
	tree_link(t, "link.gz", "real.gz");
	_cleanup_free_ char *link = xasprintf("%s/link.gz", t->path);
	assert_int_equal(host_record_write(host, link, NULL, &err), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(link, &st), 0);
	assert_true(st.st_size > 20);
	mode_t mask = umask(022);
	umask(mask);
	assert_int_equal(st.st_mode & 0777, 0666 & ~mask);
}

/* A host that recorded 200000 bytes which do not compress. */
static struct host *large_recording(struct tree *t)
{
	_cleanup_free_ char *random = xmalloc(200000), *data = NULL;
	_cleanup_close_ int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	struct host *host = open_with(NULL, true);

	assert_int_equal(read(fd, random, 200000), 200000);
	tree_write(t, "random", random, 200000);
	assert_int_equal(host_read(host, &data, NULL, NULL, "%s/random", t->path), 0);
	return host;
}

/* The write of `disk`/r.gz, where an old file of that name lies, fails with `code`. */
static void expect_no_half_file(struct host *host, const char *disk, int rc, int code,
				const struct error *err)
{
	_cleanup_free_ char *path = xasprintf("%s/r.gz", disk), *old = NULL;
	_cleanup_strings_ char **names = NULL;

	assert_int_equal(rc, code);
	assert_non_null(strstr(err->message, path));
	assert_int_equal(host_list(host, &names, NULL, "%s", disk), 1);
	old = host_read_text(host, NULL, "%s", path);
	assert_non_null(old);
	assert_string_equal(old, "the old file");
}

static void test_file_limit(void **state)
{
	struct tree *t = *state;
	_cleanup_error_ struct error err = {0};
	_cleanup_(host) struct host *host = large_recording(t);
	_cleanup_free_ char *disk = xasprintf("%s/disk", t->path), *path = xasprintf("%s/r.gz", disk);
	struct rlimit old, small;

	tree_write(t, "disk/r.gz", "the old file", 12);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = (struct rlimit){ .rlim_cur = 64 << 10, .rlim_max = old.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int rc = host_record_write(host, path, NULL, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	expect_no_half_file(host, disk, rc, -EFBIG, &err);
}

static void test_full_disk(void **state)
{
	struct tree *t = *state;
	_cleanup_error_ struct error err = {0};
	_cleanup_(host) struct host *host = large_recording(t);
	_cleanup_free_ char *disk = xasprintf("%s/disk", t->path), *path = xasprintf("%s/r.gz", disk);

	tree_directory(t, "disk");
	assert_int_equal(mount("tmpfs", disk, "tmpfs", 0, "size=64k"), 0);
	tree_write(t, "disk/r.gz", "the old file", 12);
	int rc = host_record_write(host, path, NULL, &err);
	expect_no_half_file(host, disk, rc, -ENOSPC, &err);
	assert_int_equal(umount(disk), 0);
}

/* Mounting needs a right that root in a container does not have. */
static bool may_mount(void)
{
	char folder[] = "/tmp/railhead-mount.XXXXXX";
	bool may = mkdtemp(folder) && mount("tmpfs", folder, "tmpfs", 0, "size=64k") == 0;

	if (!may)
		printf("# test_full_disk is left out, no disk can be mounted: %s\n", strerror(errno));
	else
		umount(folder);
	rmdir(folder);
	return may;
}

int main(void)
{
#define test(f) cmocka_unit_test_setup_teardown(f, tree_setup, tree_teardown)
	const struct CMUnitTest tests[] = {
		test(test_round_trip),
		test(test_order_of_answers),
		test(test_unknown_question),
		test(test_hostile_text),
		test(test_hostile_answers),
		test(test_hand_written),
		test(test_damaged_files),
		test(test_bomb),
		test(test_write_errors),
		test(test_file_limit),
		test(test_full_disk),	/* the last one, see below */
	};
	size_t n = ARRAY_SIZE(tests) - (may_mount() ? 0 : 1);

	return _cmocka_run_group_tests("host/record", tests, n, NULL, NULL);
}
