/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions of an incast in processes of their own: together, late, killed, different, garbled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "host/child.h"
#include "prove/incast.h"

#define SENDERS 3u
#define STEPS 4u
/* Ends a test that hangs; nothing is told from it. */
#define LIMIT_MS 60000

static const struct session_parameters same = {
	.operations = SESSION_WRITE,
	.size_min = 1,
	.size_max = 1 << 20,
	.qps = 1,
	.depth = 64,
	.seconds = 1,
	.dscp = -1,
	.memory = { "host", "host" },
};

/* Of a session, to its leader. */
static int own_socket;
/* Between the sessions of a test, beside the incast: a line for each, which any may write to. */
static int lines[SENDERS][2];

/* In a session: an assertion there would be one of another process. */
static void put(int fd, const void *data, size_t len)
{
	if (write(fd, data, len) != (ssize_t)len)
		_exit(1);
}

static void tell(unsigned number, char c)
{
	put(lines[number - 1][1], &c, 1);
}

static char hear(unsigned number)
{
	char c;

	return read(lines[number - 1][0], &c, 1) == 1 ? c : '\0';
}

typedef int session_run(struct incast *incast, unsigned number, struct error *err);

/* Run it in SENDERS processes; `outcomes` has what each returned. */
static void run(session_run *session, struct incast_outcome *outcomes)
{
	pid_t pids[SENDERS];
	int fds[SENDERS];

	for (unsigned i = 0; i < SENDERS; i++)
		assert_int_equal(pipe(lines[i]), 0);
	for (unsigned i = 0; i < SENDERS; i++) {
		_cleanup_error_ struct error err = {0};

		pids[i] = child_fork(&fds[i], NULL);
		if (pids[i] == 0) {
			struct incast *incast = incast_new(fds[i], i + 1, SENDERS, LIMIT_MS);

			own_socket = fds[i];
			int rc = session(incast, i + 1, &err);

			incast_tell(incast, NULL, NULL, rc, &err, NULL);
			_exit(0);
		}
		assert_true(pids[i] > 0);
	}
	incast_lead(fds, SENDERS, outcomes);
	for (unsigned i = 0; i < SENDERS; i++) {
		child_reap(pids[i]);
		close(lines[i][0]);
		close(lines[i][1]);
	}
}

static void clear(struct incast_outcome *outcomes)
{
	for (unsigned i = 0; i < SENDERS; i++)
		incast_outcome_clear(&outcomes[i]);
}

static void is_outcome(const struct incast_outcome *outcome, int rc, const char *text)
{
	if (outcome->rc != rc || (text && !strstr(error_text(&outcome->why), text)))
		fail_msg("%d: %s", outcome->rc, error_text(&outcome->why));
}

/* --- together --------------------------------------------------------------------------------- */

static int shared_line[2];

static int in_step(struct incast *incast, unsigned number, struct error *err)
{
	int rc = incast_agree(incast, &same, err);

	for (unsigned step = 0; step < STEPS && !rc; step++) {
		const char c = (char)('0' + step);

		/* the last one takes its time, of which the others know nothing */
		if (number == SENDERS && step)
			(void)poll(NULL, 0, 20);
		put(shared_line[1], &c, 1);
		rc = incast_wait(incast, -1, LIMIT_MS, err);
	}
	return rc;
}

/* No session is in a step before all others have left the one before. */
static void together(void **state)
{
	struct incast_outcome outcomes[SENDERS];
	char seen[SENDERS * STEPS];

	(void)state;
	assert_int_equal(pipe(shared_line), 0);
	run(in_step, outcomes);
	assert_int_equal(read(shared_line[0], seen, sizeof(seen)), sizeof(seen));
	for (size_t i = 0; i < sizeof(seen); i++)
		assert_int_equal(seen[i], '0' + i / SENDERS);
	for (unsigned i = 0; i < SENDERS; i++)
		is_outcome(&outcomes[i], 0, NULL);
	close(shared_line[0]);
	close(shared_line[1]);
	clear(outcomes);
}

/* The third comes when the first has once waited in vain. */
static int late_session(struct incast *incast, unsigned number, struct error *err)
{
	if (number == 3 && hear(3) != 'c')
		return error_set(err, -EBADE, "nobody called");
	int rc = incast_wait(incast, -1, number == 1 ? 1 : LIMIT_MS, err);

	if (number != 1)
		return rc;
	if (rc != -ETIMEDOUT)
		return error_set(err, -EBADE, "did not wait: %d", rc);
	error_clear(err);
	tell(3, 'c');
	return incast_wait(incast, -1, LIMIT_MS, err);
}

static void late(void **state)
{
	struct incast_outcome outcomes[SENDERS];

	(void)state;
	run(late_session, outcomes);
	for (unsigned i = 0; i < SENDERS; i++)
		is_outcome(&outcomes[i], 0, NULL);
	clear(outcomes);
}

/* --- gone ------------------------------------------------------------------------------------- */

static int killed_session(struct incast *incast, unsigned number, struct error *err)
{
	int rc = incast_wait(incast, -1, LIMIT_MS, err);

	if (!rc && number == 2)
		raise(SIGKILL);
	return rc < 0 ? rc : incast_wait(incast, -1, LIMIT_MS, err);
}

static void killed(void **state)
{
	struct incast_outcome outcomes[SENDERS];

	(void)state;
	run(killed_session, outcomes);
	is_outcome(&outcomes[0], -ECANCELED, "sender 2 of 3 is gone");
	is_outcome(&outcomes[1], -ECHILD, "without a word");
	is_outcome(&outcomes[2], -ECANCELED, "sender 2 of 3 is gone");
	clear(outcomes);
}

static int failed_session(struct incast *incast, unsigned number, struct error *err)
{
	if (number == 3)
		return error_set(err, -ETIMEDOUT, "nobody came to its port");
	return incast_wait(incast, -1, LIMIT_MS, err);
}

/* Why it is gone reaches those that waited for it. */
static void failed(void **state)
{
	struct incast_outcome outcomes[SENDERS];

	(void)state;
	run(failed_session, outcomes);
	is_outcome(&outcomes[0], -ECANCELED, "sender 3 of 3 is gone: nobody came to its port");
	is_outcome(&outcomes[1], -ECANCELED, "sender 3 of 3 is gone: nobody came to its port");
	is_outcome(&outcomes[2], -ETIMEDOUT, "nobody came to its port");
	clear(outcomes);
}

/* The first one's peer has not come yet: it hears of it where it waits for that. */
static int waiting_session(struct incast *incast, unsigned number, struct error *err)
{
	struct pollfd leader = { .fd = incast_fd(incast), .events = POLLIN };

	if (number == 3)
		return error_set(err, -ETIMEDOUT, "nobody came to its port");
	if (number == 2) {
		int agreed = incast_agree(incast, &same, err);

		/* or it would be the first that is gone */
		hear(2);
		return agreed;
	}
	int rc = poll(&leader, 1, LIMIT_MS) == 1 ? incast_wait(incast, -1, 0, err) :
						   error_set(err, -EBADE, "heard nothing");

	tell(2, 'e');
	return rc;
}

static void gone_before_all_came(void **state)
{
	struct incast_outcome outcomes[SENDERS];

	(void)state;
	run(waiting_session, outcomes);
	is_outcome(&outcomes[0], -ECANCELED, "sender 3 of 3 is gone: nobody came to its port");
	clear(outcomes);
}

/* What the leader cannot read ends that session, and no other one is kept by it. */
static int garbled_session(struct incast *incast, unsigned number, struct error *err)
{
	static const char garbage[] = "{\"type\": \n{\"type\":\"ready\"}\n";

	if (number == 2) {
		put(own_socket, garbage, strlen(garbage));
		hear(2);
		return 0;
	}
	int rc = incast_wait(incast, -1, LIMIT_MS, err);

	tell(2, 'e');
	return rc;
}

static void garbled(void **state)
{
	struct incast_outcome outcomes[SENDERS];

	(void)state;
	run(garbled_session, outcomes);
	is_outcome(&outcomes[0], -ECANCELED, "sender 2 of 3 is gone");
	is_outcome(&outcomes[1], -ECHILD, NULL);
	is_outcome(&outcomes[2], -ECANCELED, "sender 2 of 3 is gone");
	clear(outcomes);
}

/* A peer that says something, or goes away, ends the wait for the others. */
static int watching_session(struct incast *incast, unsigned number, struct error *err)
{
	if (number == 1) {
		int rc;

		tell(1, 'p');
		rc = incast_wait(incast, lines[0][0], LIMIT_MS, err);
		tell(3, 'e');
		return rc == 1 ? 0 : error_set(err, -EBADE, "saw nothing: %d", rc);
	}
	/* while one is missing, nobody is let go */
	if (number == 3)
		hear(3);
	return number == 3 ? 0 : incast_wait(incast, -1, LIMIT_MS, err);
}

static void watched(void **state)
{
	struct incast_outcome outcomes[SENDERS];

	(void)state;
	run(watching_session, outcomes);
	is_outcome(&outcomes[0], 0, NULL);
	clear(outcomes);
}

/* --- the same for all ------------------------------------------------------------------------- */

static const struct session_parameters *other;

static int second_differs(struct incast *incast, unsigned number, struct error *err)
{
	if (number > 1)
		hear(number);
	int rc = number == 3 ? 0 : incast_agree(incast, number == 2 ? other : &same, err);

	/* who ends is gone, and ends the others: not before all is said */
	if (number < 3)
		tell(number + 1, 'n');
	if (number == 1)
		hear(1);
	if (number == 2)
		tell(1, 'n');
	return rc;
}

static void same_steps(void **state)
{
	struct session_parameters p = same;
	static const struct {
		int rc;
		const char *text;
	} want[] = {
		{ 0, NULL },	/* the seed is each one's own */
		{ -EINVAL, "size_max is 4096, and 1048576 for the sender that came first" },
		{ -EINVAL, "dscp is 24, and absent for the sender that came first" },
	};

	(void)state;
	other = &p;
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		struct incast_outcome outcomes[SENDERS];

		p = same;
		p.seed = 7;
		p.size_max = i == 1 ? 4096 : same.size_max;
		p.dscp = i == 2 ? 24 : -1;
		run(second_differs, outcomes);
		is_outcome(&outcomes[0], 0, NULL);
		is_outcome(&outcomes[1], want[i].rc, want[i].text);
		clear(outcomes);
	}
}

/* All of them are in one machine's memory. */
static void memory_of_all(void **state)
{
	struct incast *incast = incast_new(-1, 1, 2, 1000);
	struct session_parameters p = same;
	_cleanup_error_ struct error err = {0};

	(void)state;
	p.qps = 64;
	p.size_max = SESSION_SIZE_MAX;
	assert_int_equal(session_parameters_check(&p, &err), 0);
	assert_int_equal(incast_agree(incast, &p, &err), -EINVAL);
	assert_non_null(strstr(error_text(&err), "2 senders with 4294967296 bytes each"));
	incast_free(incast);
}

static void limits(void **state)
{
	struct incast *incast = incast_new(-1, 1, 2, 600000);
	struct session_parameters p = same;

	(void)state;
	assert_true(incast_limit_ms(incast, &p) > 601000);
	p.qps = 64;
	p.size_max = SESSION_SIZE_MAX;
	p.seconds = SESSION_SECONDS_MAX;
	assert_in_range(incast_limit_ms(incast, &p), 1, INCAST_LIMIT_MAX_MS);
	incast_free(incast);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(together),
		cmocka_unit_test(late),
		cmocka_unit_test(killed),
		cmocka_unit_test(failed),
		cmocka_unit_test(gone_before_all_came),
		cmocka_unit_test(garbled),
		cmocka_unit_test(watched),
		cmocka_unit_test(same_steps),
		cmocka_unit_test(memory_of_all),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
