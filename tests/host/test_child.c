/* SPDX-License-Identifier: Apache-2.0 */
/* Commands and probes that hang, crash, write too much, or leave children behind. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#include "tree.h"

static struct host *live(void)
{
	struct host *host;

	assert_int_equal(host_open(&host, NULL, NULL), 0);
	return host;
}

static int run(struct host *host, int timeout_ms, char **output, struct error *err,
	       const char *script)
{
	const char *const argv[] = { "sh", "-c", script, NULL };

	return host_exec(host, argv, timeout_ms, output, err);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The process is gone, or at least dead: its new parent may not have taken its status yet. */
static bool is_dead(pid_t pid)
{
	for (int i = 0; i < 200; i++) {
		_cleanup_free_ char *path = xasprintf("/proc/%d/stat", pid);
		char text[256] = "";
		_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
			return true;
		const char *state = strrchr(text, ')');
		if (state && state[1] && state[2] == 'Z')
			return true;
		usleep(10000);
	}
	return false;
}

static pid_t pid_in(struct tree *t, const char *name)
{
	_cleanup_(host) struct host *host = live();
	int64_t pid = 0;

	assert_int_equal(host_read_int(host, &pid, NULL, "%s/%s", t->path, name), 0);
	assert_true(pid > 1);
	return (pid_t)pid;
}

static void test_exec(void **state RH_UNUSED)
{
	_cleanup_(host) struct host *host = live();
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *output = NULL, *input = NULL, *locale = NULL, *fds = NULL,
			    *bytes = NULL;
	int open_here = open("/dev/null", O_RDONLY);	/* not close-on-exec */

	assert_true(open_here >= 0);
	assert_int_equal(run(host, 5000, &output, &err, "echo out; echo err >&2; exit 7"), 7);
	assert_string_equal(output, "out\n");
	assert_int_equal(run(host, 5000, &input, &err, "cat"), 0);
	assert_string_equal(input, "");
	setenv("LANGUAGE", "de", 1);
	assert_int_equal(run(host, 5000, &locale, &err, "echo $LC_ALL,$LANGUAGE"), 0);
	assert_string_equal(locale, "C,\n");
	/* the shell sees its three streams, and the folder that ls itself reads */
	assert_int_equal(run(host, 5000, &fds, &err, "ls /proc/self/fd | wc -l"), 0);
	assert_string_equal(fds, "4\n");
	assert_int_equal(run(host, 5000, &bytes, &err, "printf '\\377\\000x'"), 0);
	assert_memory_equal(bytes, "\xff\0x", 4);
	close(open_here);
}

static void test_exec_errors(void **state RH_UNUSED)
{
	_cleanup_(host) struct host *host = live();
	static const char *const none[] = { "no-such-program", NULL };
	static const char *const folder[] = { "/proc", NULL };
	_cleanup_error_ struct error err = {0};
	char *output;

	assert_int_equal(host_exec(host, none, 1000, &output, &err), -ENOENT);
	assert_non_null(strstr(err.message, "no-such-program"));
	assert_int_equal(host_exec(host, folder, 1000, &output, &err), -EACCES);
	assert_int_equal(run(host, 1000, &output, &err, "kill -SEGV $$"), -ECHILD);
	assert_non_null(strstr(err.message, "killed by SIGSEGV"));
	assert_int_equal(run(host, 10000, &output, &err, "cat /dev/zero"), -EFBIG);
	assert_null(output);
}

/* A folder of PATH that may not be searched hides nothing: no program is still no program. */
static void test_exec_closed_folder(void **state)
{
	static const char *const none[] = { "no-such-program", NULL };
	struct tree *t = *state;
	int status;

	tree_directory(t, "closed");
	_cleanup_free_ char *closed = xasprintf("%s/closed", t->path);
	assert_int_equal(chmod(closed, 0), 0);
	assert_int_equal(chmod(t->path, 0755), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		_cleanup_free_ char *path = xasprintf("%s:/usr/bin:/bin", closed);
		struct host *host;
		char *output;

		setenv("PATH", path, 1);
		if ((geteuid() == 0 && setresuid(65534, 65534, 65534) < 0) ||
		    host_open(&host, NULL, NULL) < 0)
			_exit(99);
		_exit(-host_exec(host, none, 5000, &output, NULL) & 0x7f);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), ENOENT);
}

static void test_exec_timeout(void **state)
{
	struct tree *t = *state;
	_cleanup_(host) struct host *host = live();
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *script = xasprintf("cd %s; (sleep 300 & echo $! >grandchild; wait) & "
						"echo $$ >child; echo text; sleep 300", t->path);
	int64_t begin = now_ms();
	char *output;

	assert_int_equal(run(host, 700, &output, &err, script), -ETIMEDOUT);
	assert_null(output);
	assert_true(now_ms() - begin < 5000);
	assert_non_null(strstr(err.message, "not finished after 700 ms"));
	assert_true(is_dead(pid_in(t, "child")));
	assert_true(is_dead(pid_in(t, "grandchild")));
}

/* A command that ends and leaves a child with its pipe: the end counts, the child goes too. */
static void test_exec_left_behind(void **state)
{
	struct tree *t = *state;
	_cleanup_(host) struct host *host = live();
	_cleanup_free_ char *script = xasprintf("sleep 300 & echo $! >%s/left; echo done", t->path);
	_cleanup_free_ char *output = NULL;
	int64_t begin = now_ms();

	assert_int_equal(run(host, 60000, &output, NULL, script), 0);
	assert_string_equal(output, "done\n");
	assert_true(now_ms() - begin < 30000);
	assert_true(is_dead(pid_in(t, "left")));
}

static int probe_good(json_t *result, struct error *err RH_UNUSED)
{
	json_put_string(result, "text", "\xff");
	puts("printed");
	fflush(stdout);
	fputs("warned\n", stderr);
	return 0;
}

static int probe_error(json_t *result RH_UNUSED, struct error *err)
{
	return error_set(err, -ENOSYS, "libx.so.1: version mismatch");
}

static int probe_crash(json_t *result RH_UNUSED, struct error *err RH_UNUSED)
{
	fputs("about to\n", stderr);
	raise(SIGSEGV);
	return 0;
}

static int probe_exit(json_t *result RH_UNUSED, struct error *err RH_UNUSED)
{
	_exit(9);
}

static int probe_silent(json_t *result RH_UNUSED, struct error *err RH_UNUSED)
{
	_exit(0);
}

static int probe_garbage(json_t *result RH_UNUSED, struct error *err RH_UNUSED)
{
	/* a library that writes into a descriptor that is not its own */
	ssize_t n RH_UNUSED = write(3, "{\"result\":", 10);
	_exit(0);
}

static int probe_loud(json_t *result, struct error *err RH_UNUSED)
{
	for (int i = 0; i < 100000; i++)
		fputs("the same warning again\n", stderr);
	json_put_bool(result, "reached", true);
	return 0;
}

static int probe_hang(json_t *result RH_UNUSED, struct error *err RH_UNUSED)
{
	fputs("before\n", stderr);
	sleep(1000);
	return 0;
}

static void expect_probe(const char *name, host_probe probe, int code, const char *words,
			 const char *printed)
{
	_cleanup_(host) struct host *host = live();
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *text = NULL;
	json_t *result = (json_t *)1;

	assert_int_equal(host_probe_run(host, name, probe, 1000, &result, &text, &err), code);
	assert_null(result);
	assert_non_null(text);
	assert_string_equal(text, printed);
	if (!strstr(err.message, words))
		fail_msg("\"%s\" is not in: %s", words, err.message);
}

static void test_probes(void **state RH_UNUSED)
{
	_cleanup_(host) struct host *host = live();
	_cleanup_free_ char *text = NULL, *loud = NULL;
	json_t *result;

	assert_int_equal(host_probe_run(host, "good", probe_good, 5000, &result, &text, NULL), 0);
	assert_string_equal(json_get_string(result, "text", ""), "\\xff");
	assert_string_equal(text, "printed\nwarned\n");
	json_decref(result);
	assert_int_equal(host_probe_run(host, "loud", probe_loud, 20000, &result, &loud, NULL), 0);
	assert_true(json_get_bool(result, "reached", false));
	assert_int_equal(strlen(loud), 64 << 10);
	json_decref(result);

	expect_probe("x", probe_error, -ENOSYS, "libx.so.1: version mismatch", "");
	expect_probe("x", probe_crash, -ECHILD, "killed by SIGSEGV", "about to\n");
	expect_probe("x", probe_exit, -ECHILD, "ended with status 9", "");
	expect_probe("x", probe_silent, -ECHILD, "ended with status 0", "");
	expect_probe("x", probe_garbage, -EINVAL, "result of the x probe", "");
	expect_probe("x", probe_hang, -ETIMEDOUT, "not finished after 1000 ms", "before\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_exec_errors),
		cmocka_unit_test_setup_teardown(test_exec_closed_folder, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_exec_timeout, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_exec_left_behind, tree_setup, tree_teardown),
		cmocka_unit_test(test_probes),
	};

	return cmocka_run_group_tests_name("host/child", tests, NULL, NULL);
}
