/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded children, shared by host_exec() and host_probe_run(). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "host/child.h"

/* Without pidfd_open(2) (before Linux 5.3) the end of the child is looked for so often. */
#define POLL_STEP_MS 20

void child_close_from(int first)
{
	long max;

	if (syscall(SYS_close_range, (unsigned)first, ~0u, 0) == 0)
		return;
	/* before Linux 5.9 */
	max = sysconf(_SC_OPEN_MAX);
	for (int fd = first; fd < (max > 0 ? max : 1024); fd++)
		close(fd);
}

/* pipe2(2), O_CLOEXEC, whose ends are above 3. */
static int pipe_open(int ends[2], struct error *err)
{
	int raw[2];

	if (pipe2(raw, O_CLOEXEC) < 0)
		return error_set_errno(err, -errno, "pipe");
	for (int i = 0; i < 2; i++)
		ends[i] = fcntl(raw[i], F_DUPFD_CLOEXEC, 4);
	int code = errno;
	close(raw[0]);
	close(raw[1]);
	if (ends[0] >= 0 && ends[1] >= 0)
		return 0;
	for (int i = 0; i < 2; i++) {
		if (ends[i] >= 0)
			close(ends[i]);
		ends[i] = -1;
	}
	return error_set_errno(err, -code, "pipe");
}

static void child_prepare(pid_t parent)
{
	struct rlimit no_core = {0};
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setrlimit(RLIMIT_CORE, &no_core);

	int null = open("/dev/null", O_RDWR);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		_exit(127);
}

static pid_t fork_prepared(struct error *err)
{
	pid_t parent = getpid(), pid;

	fflush(NULL);	/* or the child would write our buffered output a second time */
	pid = fork();
	if (pid < 0)
		return error_set_errno(err, -errno, "fork");
	if (pid == 0)
		child_prepare(parent);
	else
		setpgid(pid, pid);	/* both sides do it: the group must exist before a kill */
	return pid;
}

pid_t child_fork(int *channel, struct error *err)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_set_errno(err, -errno, "socketpair");
	pid_t pid = fork_prepared(err);
	close(ends[pid != 0]);
	*channel = ends[!pid];
	if (pid < 0)
		close(*channel);
	return pid;
}

int child_reap(pid_t pid)
{
	siginfo_t info;
	int status = 0;

	/* it stays a zombie meanwhile, so that the number of its group is given to nobody else */
	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void streams_close(struct child *c)
{
	for (size_t i = 0; i < CHILD_STREAMS; i++) {
		if (c->streams[i].fd >= 0)
			close(c->streams[i].fd);
		c->streams[i].fd = -1;
	}
}

pid_t child_start(struct child *c, int ends[CHILD_STREAMS], struct error *err)
{
	pid_t pid = 0;

	for (int i = 0; i < CHILD_STREAMS; i++) {
		int both[2] = { -1, -1 };

		if (pid == 0)
			pid = pipe_open(both, err);
		c->streams[i].fd = both[0];
		ends[i] = both[1];
	}
	if (pid == 0)
		pid = fork_prepared(err);
	if (pid == 0)
		return 0;
	c->pid = pid;
	for (int i = 0; i < CHILD_STREAMS; i++) {
		if (ends[i] >= 0)
			close(ends[i]);
	}
	if (pid < 0) {
		streams_close(c);
		return pid;
	}
	for (int i = 0; i < CHILD_STREAMS; i++)
		fcntl(c->streams[i].fd, F_SETFL, O_NONBLOCK);
	c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return pid;
}

/* Read what is there. Returns 0, or -EFBIG. A failed read ends the stream like its end does. */
static int stream_read(struct child_stream *s)
{
	char buf[16 << 10];
	ssize_t n;

	while (s->fd >= 0) {
		n = read(s->fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0) {
			close(s->fd);
			s->fd = -1;
			return 0;
		}
		size_t room = s->max - s->text.len, take = (size_t)n < room ? (size_t)n : room;
		strbuf_add(&s->text, buf, take);
		if (take < (size_t)n && !s->drop)
			return -EFBIG;
	}
	return 0;
}

/* True when the child has ended. It stays a zombie, so that its process group's number is not
 * given to anybody else before the group is killed. */
static bool child_ended(pid_t pid)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == pid;
}

int child_wait(struct child *c, int watch, int timeout_ms)
{
	const int64_t deadline_ms = clock_now_ms() + timeout_ms;
	struct pollfd fds[CHILD_STREAMS + 2];
	bool ended, watched;
	int rc = 0;

	do {
		int64_t left = deadline_ms - clock_now_ms();

		if (left <= 0)
			return -ETIMEDOUT;
		for (size_t i = 0; i < CHILD_STREAMS; i++)
			fds[i] = (struct pollfd){ .fd = c->streams[i].fd, .events = POLLIN };
		fds[CHILD_STREAMS] = (struct pollfd){ .fd = c->pidfd, .events = POLLIN };
		fds[CHILD_STREAMS + 1] = (struct pollfd){ .fd = watch, .events = POLLIN };
		if (c->pidfd < 0 && left > POLL_STEP_MS)
			left = POLL_STEP_MS;
		int n = poll(fds, ARRAY_SIZE(fds), (int)left);
		if (n < 0 && errno != EINTR)
			return -errno;
		watched = n > 0 && fds[CHILD_STREAMS + 1].revents;
		/* looked at before the streams are read: then all that it wrote is seen */
		ended = child_ended(c->pid);
		for (size_t i = 0; i < CHILD_STREAMS && rc == 0; i++)
			rc = stream_read(&c->streams[i]);
	} while (rc == 0 && !ended && !watched);
	return rc < 0 ? rc : ended;
}

void child_end(struct child *c)
{
	kill(-c->pid, SIGKILL);
	while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
		;
	streams_close(c);
	if (c->pidfd >= 0)
		close(c->pidfd);
}

int child_collect(struct child *c, int timeout_ms, const char *what, struct error *err)
{
	int rc = child_wait(c, -1, timeout_ms);

	child_end(c);
	if (rc == -ETIMEDOUT)
		return error_set(err, rc, "%s: not finished after %d ms", what, timeout_ms);
	if (rc == -EFBIG)
		return error_set(err, rc, "%s: writes more than %u bytes", what, HOST_FILE_MAX);
	if (rc < 0)
		return error_set_errno(err, rc, "%s", what);
	return 0;
}

void child_clear(struct child *c)
{
	for (size_t i = 0; i < CHILD_STREAMS; i++)
		strbuf_clear(&c->streams[i].text);
}

char *child_signal_name(int signal)
{
	const char *name = sigabbrev_np(signal);

	return name ? xasprintf("SIG%s", name) : xasprintf("signal %d", signal);
}
