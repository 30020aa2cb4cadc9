/* SPDX-License-Identifier: Apache-2.0 */
/* The path door on trees made for the test: every kind of answer, and no way out of a root. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "tree.h"

static struct host *live(const char *root)
{
	struct host_options options = { .root = root };
	struct host *host;

	assert_int_equal(host_open(&host, &options, NULL), 0);
	return host;
}

static void test_read(void **state)
{
	struct tree *t = *state;
	_cleanup_error_ struct error err = {0};
	_cleanup_(host) struct host *host = live(NULL);
	_cleanup_free_ char *data = NULL, *text = NULL;
	int64_t value = 0;
	size_t len = 0;

	tree_write(t, "sys/speed", " 25000\n", 7);
	tree_write(t, "sys/vendor", "0x8086\n", 7);
	tree_write(t, "sys/node", "-1\n", 3);
	tree_write(t, "sys/word", "abc\n", 4);
	assert_int_equal(host_read(host, &data, &len, &err, "%s/%s", t->path, "sys/speed"), 0);
	assert_int_equal(len, 7);
	assert_string_equal(data, " 25000\n");
	text = host_read_text(host, &err, "%s/sys/speed", t->path);
	assert_string_equal(text, "25000");
	assert_int_equal(host_read_int(host, &value, &err, "%s/sys/vendor", t->path), 0);
	assert_int_equal(value, 0x8086);
	assert_int_equal(host_read_int(host, &value, &err, "%s/sys/node", t->path), 0);
	assert_int_equal(value, -1);
	assert_int_equal(host_read_int(host, &value, &err, "%s/sys/word", t->path), -EINVAL);
	assert_non_null(strstr(err.message, "sys/word"));
}

static void test_bytes(void **state)
{
	struct tree *t = *state;
	_cleanup_(host) struct host *host = live(NULL);
	_cleanup_free_ char *data = NULL, *empty = NULL, *text = NULL;
	size_t len = 99;

	tree_write(t, "config", "\x86\x80\x00\xff\0end", 8);
	tree_write(t, "empty", "", 0);
	assert_int_equal(host_read(host, &data, &len, NULL, "%s/config", t->path), 0);
	assert_int_equal(len, 8);
	assert_memory_equal(data, "\x86\x80\x00\xff\0end", 9);
	assert_int_equal(host_read(host, &empty, &len, NULL, "%s/empty", t->path), 0);
	assert_int_equal(len, 0);
	assert_string_equal(empty, "");
	text = host_read_text(host, NULL, "%s/empty", t->path);
	assert_non_null(text);
	assert_string_equal(text, "");
}

static void expect_read_error(struct host *host, int code, const char *words, const char *path)
{
	_cleanup_error_ struct error err = {0};
	char *data = (char *)1;

	assert_int_equal(host_read(host, &data, NULL, &err, "%s", path), code);
	assert_null(data);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.message, path));
	assert_non_null(strstr(err.message, words));
	assert_null(host_read_text(host, NULL, "%s", path));
}

static void test_read_errors(void **state)
{
	struct tree *t = *state;
	_cleanup_(host) struct host *host = live(NULL);
	_cleanup_free_ char *none = xasprintf("%s/none", t->path);
	_cleanup_free_ char *big = xasprintf("%s/big", t->path);
	_cleanup_free_ char *fifo = xasprintf("%s/fifo", t->path);

	tree_write(t, "big", "", 0);
	assert_int_equal(truncate(big, HOST_FILE_MAX), 0);
	_cleanup_free_ char *data = NULL;
	size_t len;
	assert_int_equal(host_read(host, &data, &len, NULL, "%s", big), 0);
	assert_int_equal(len, HOST_FILE_MAX);
	assert_int_equal(truncate(big, HOST_FILE_MAX + 1), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);

	expect_read_error(host, -ENOENT, "No such file", none);
	expect_read_error(host, -EFBIG, "longer than 4194304 bytes", big);
	expect_read_error(host, -EISDIR, "directory", t->path);
	expect_read_error(host, -EINVAL, "not a regular file", fifo);	/* and does not wait */
	expect_read_error(host, -EINVAL, "not a regular file", "/dev/zero");
	expect_read_error(host, -EIO, "Input/output error", "/proc/self/mem");
	expect_read_error(host, -EINVAL, "Invalid argument", "relative");
}

/* EACCES needs a user who is not root; the child's exit status tells what it saw. */
static void test_read_forbidden(void **state)
{
	struct tree *t = *state;
	int status;

	tree_write(t, "secret", "x", 1);
	_cleanup_free_ char *path = xasprintf("%s/secret", t->path);
	assert_int_equal(chmod(path, 0), 0);
	assert_int_equal(chmod(t->path, 0755), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		_cleanup_(host) struct host *host = NULL;
		char *data;

		if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
			_exit(99);
		if (host_open(&host, NULL, NULL) < 0)
			_exit(98);
		_exit(-host_read(host, &data, NULL, NULL, "%s", path) & 0x7f);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EACCES);
}

static void test_read_matching(void **state)
{
	static const char *const needles[] = { "CONFIG_DCB=", "P2PDMA", NULL };
	struct tree *t = *state;
	_cleanup_(host) struct host *host = live(NULL);
	_cleanup_strbuf_ struct strbuf text = {0};
	_cleanup_free_ char *data = NULL, *none = NULL;

	for (int i = 0; i < 20000; i++)
		strbuf_printf(&text, "CONFIG_OTHER_%d=y\n%s", i, i == 10000 ? "CONFIG_DCB=y\n" : "");
	strbuf_puts(&text, "# CONFIG_PCI_P2PDMA is not set");	/* no newline at the end */
	tree_write(t, "kconfig", text.s, text.len);
	assert_int_equal(host_read_matching(host, &data, needles, NULL, "%s/kconfig", t->path), 0);
	assert_string_equal(data, "CONFIG_DCB=y\n# CONFIG_PCI_P2PDMA is not set");
	assert_int_equal(host_read_matching(host, &none, needles, NULL, "%s/x", t->path), -ENOENT);
}

static void test_links_and_lists(void **state)
{
	struct tree *t = *state;
	_cleanup_error_ struct error err = {0};
	_cleanup_(host) struct host *host = live(NULL);
	_cleanup_strings_ char **names = NULL, **empty = NULL;
	_cleanup_free_ char *target = NULL, *base = NULL;
	char *none = NULL;

	tree_write(t, "d/b", "", 0);
	tree_write(t, "d/a", "", 0);
	tree_write(t, "d/B", "", 0);
	tree_write(t, "d/\xff", "", 0);
	tree_directory(t, "void");
	tree_link(t, "d/driver", "../../bus/pci/drivers/ice");
	assert_int_equal(host_list(host, &names, &err, "%s/d", t->path), 5);
	assert_string_equal(names[0], "B");
	assert_string_equal(names[1], "a");
	assert_string_equal(names[2], "b");
	assert_string_equal(names[3], "driver");
	assert_string_equal(names[4], "\xff");
	assert_null(names[5]);
	assert_int_equal(host_list(host, &empty, &err, "%s/void", t->path), 0);
	assert_non_null(empty);
	assert_null(empty[0]);

	assert_int_equal(host_readlink(host, &target, &err, "%s/d/driver", t->path), 0);
	assert_string_equal(target, "../../bus/pci/drivers/ice");
	base = host_readlink_base(host, "%s/d/driver", t->path);
	assert_string_equal(base, "ice");
	assert_null(host_readlink_base(host, "%s/d/none", t->path));
	assert_int_equal(host_readlink(host, &none, &err, "%s/d/a", t->path), -EINVAL);
	assert_non_null(strstr(err.message, "not a symbolic link"));

	char **no_names = NULL;
	assert_int_equal(host_list(host, &no_names, &err, "%s/d/a", t->path), -ENOTDIR);
	assert_null(no_names);
}

static void test_stat(void **state)
{
	struct tree *t = *state;
	_cleanup_(host) struct host *host = live(NULL);
	struct host_stat st;

	assert_int_equal(host_stat(host, &st, true, NULL, "/dev/null"), 0);
	assert_int_equal(st.type, 'c');
	assert_int_equal(st.dev_major, 1);
	assert_int_equal(st.dev_minor, 3);
	assert_int_equal(st.usable, 0);
	assert_int_equal(host_stat(host, &st, false, NULL, "/dev/null"), 0);
	assert_int_equal(st.usable, -ENODATA);
	assert_int_equal(host_stat(host, &st, false, NULL, "%s", t->path), 0);
	assert_int_equal(st.type, 'd');
	assert_int_equal(host_stat(host, &st, false, NULL, "%s/none", t->path), -ENOENT);
}

/* A tree copied from another machine: absolute links, ".." and devices stay inside. */
static void test_root(void **state)
{
	struct tree *t = *state;
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *slashed = xasprintf("%s///", t->path);
	_cleanup_(host) struct host *host = live(slashed);
	_cleanup_free_ char *inside = NULL, *climbed = NULL, *outside = NULL;
	json_t *names = NULL;

	tree_write(t, "etc/hostname", "copied\n", 7);
	tree_write(t, "secret", "copied secret", 13);
	tree_link(t, "etc/absolute", "/secret");
	tree_link(t, "etc/up", "../../../../../../secret");
	tree_link(t, "etc/away", "/proc/version");
	inside = host_read_text(host, &err, "/etc/absolute");
	assert_non_null(inside);
	assert_string_equal(inside, "copied secret");
	climbed = host_read_text(host, &err, "/etc/up");
	assert_non_null(climbed);
	assert_string_equal(climbed, "copied secret");
	assert_int_equal(host_read(host, &outside, NULL, &err, "/etc/away"), -ENOENT);
	assert_int_equal(host_read(host, &outside, NULL, &err, "/../../proc/version"), -ENOENT);

	assert_int_equal(host_uname(host, &names, &err), -ENOENT);
	tree_write(t, "proc/sys/kernel/osrelease", "6.12.0-55.el10.x86_64\n", 22);
	assert_int_equal(host_uname(host, &names, &err), 0);
	assert_string_equal(json_get_string(names, "release", ""), "6.12.0-55.el10.x86_64");
	json_decref(names);
}

static void test_root_closes_doors(void **state)
{
	struct tree *t = *state;
	_cleanup_error_ struct error err = {0};
	_cleanup_(host) struct host *host = live(t->path);
	static const char *const argv[] = { "true", NULL };
	struct host_drvinfo info;
	json_t *json;
	char *out;

	assert_int_equal(host_genl_family(host, "ethtool", &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.message, "not available below --root"));
	assert_int_equal(host_ethtool_drvinfo(host, "lo", &info, &err), -EOPNOTSUPP);
	assert_int_equal(host_ethtool_stats(host, "lo", &json, &err), -EOPNOTSUPP);
	assert_int_equal(host_exec(host, argv, 1000, &out, &err), -EOPNOTSUPP);
	assert_int_equal(host_self(host, &json, &err), -EOPNOTSUPP);
	assert_int_equal(host_kernel_log(host, argv, &json, &err), -EOPNOTSUPP);
}

static void test_bad_roots(void **state RH_UNUSED)
{
	struct host *host = NULL;
	struct host_options options = { .root = "/nowhere/at/all" };
	_cleanup_error_ struct error err = {0};

	assert_int_equal(host_open(&host, &options, &err), -ENOENT);
	assert_null(host);
	assert_non_null(strstr(err.message, "/nowhere/at/all"));
	options.root = "/etc/passwd";
	assert_int_equal(host_open(&host, &options, &err), -ENOTDIR);
	options.root = "";
	assert_int_equal(host_open(&host, &options, &err), -EINVAL);
	options = (struct host_options){ .root = "/", .replay = "x" };
	assert_int_equal(host_open(&host, &options, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_bytes, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_read_errors, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_read_forbidden, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_read_matching, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_links_and_lists, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_stat, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_root, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_root_closes_doors, tree_setup, tree_teardown),
		cmocka_unit_test(test_bad_roots),
	};

	return cmocka_run_group_tests_name("host/path", tests, NULL, NULL);
}
