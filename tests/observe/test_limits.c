/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/limits.h"
#include "tree.h"

#define HEAD "Limit                     Soft Limit           Hard Limit           Units     \n"
#define LINE(soft, hard) "Max locked memory         " soft "              " hard "              bytes     \n"

static int parse(const char *text, int64_t *soft, int64_t *hard)
{
	*soft = *hard = -2;
	return limits_memlock_parse(text, soft, hard);
}

static void reads_the_line(void **state)
{
	int64_t soft, hard;

	(void)state;
	assert_int_equal(parse(HEAD LINE("8388608", "unlimited"), &soft, &hard), 0);
	assert_int_equal(soft, 8388608);
	assert_int_equal(hard, -1);
	assert_int_equal(parse(LINE("unlimited", "unlimited"), &soft, &hard), 0);
	assert_int_equal(soft, -1);
}

static void refuses_other_forms(void **state)
{
	int64_t soft, hard;

	(void)state;
	assert_int_equal(parse("", &soft, &hard), -EINVAL);
	assert_int_equal(parse(HEAD, &soft, &hard), -EINVAL);
	assert_int_equal(parse("Max locked memory\n", &soft, &hard), -EINVAL);
	assert_int_equal(parse("Max locked memory 1\n", &soft, &hard), -EINVAL);
	assert_int_equal(parse(LINE("-1", "1"), &soft, &hard), -EINVAL);
	assert_int_equal(parse(LINE("1", "many"), &soft, &hard), -EINVAL);
	assert_int_equal(parse(LINE("1", "99999999999999999999"), &soft, &hard), -EINVAL);
}

static void finds_services_by_their_cgroup(void **state)
{
	struct tree t;

	(void)state;
	tree_start(&t);
	/* container shims share the cgroup; the oldest process of the name is the service */
	tree_file(&t, "/sys/fs/cgroup/system.slice/containerd.service/cgroup.procs", "12\n31\n40\n");
	tree_file(&t, "/proc/12/comm", "containerd-shim\n");
	tree_file(&t, "/proc/31/comm", "containerd\n");
	tree_file(&t, "/proc/40/comm", "containerd\n");
	tree_file(&t, "/proc/31/limits", HEAD LINE("8388608", "8388608"));
	tree_file(&t, "/sys/fs/cgroup/systemd/runtime.slice/crio.service/cgroup.procs", "7\n");
	tree_file(&t, "/proc/7/comm", "crio\n");
	tree_file(&t, "/proc/7/limits", HEAD LINE("unlimited", "unlimited"));
	tree_file(&t, "/sys/fs/cgroup/kubelet.slice/kubelet.service/cgroup.procs", "55\n");
	tree_file(&t, "/proc/55/comm", "kubelet\n");
	tree_file(&t, "/proc/55/limits", "");
	observe_limits(&t.o);

	assert_fact(&t.o, "/os/memlock/services/containerd",
		    "{\"soft_bytes\": 8388608, \"hard_bytes\": 8388608, \"pid\": 31}");
	assert_fact(&t.o, "/os/memlock/services/crio",
		    "{\"soft_bytes\": -1, \"hard_bytes\": -1, \"pid\": 7}");
	assert_absent(&t.o, "/os/memlock/services/kubelet");
	assert_gap(&t.o, "/os/memlock/services/kubelet");
	/* limits of this process are not those of the tree */
	assert_absent(&t.o, "/os/memlock/self");
	assert_gap(&t.o, "/os/memlock/self");
	tree_end(&t);
}

static void a_stopped_service_is_no_gap(void **state)
{
	struct tree t;

	(void)state;
	tree_start(&t);
	tree_file(&t, "/sys/fs/cgroup/system.slice/containerd.service/cgroup.procs", "");
	tree_file(&t, "/sys/fs/cgroup/system.slice/kubelet.service/cgroup.procs", "x\n-4\n0\n9\n");
	tree_file(&t, "/proc/9/comm", "conmon\n");
	observe_limits(&t.o);
	assert_fact(&t.o, "/os/memlock/services", "{}");
	assert_no_gap(&t.o, "/os/memlock/services/containerd");
	tree_end(&t);
}

static void no_cgroups_is_a_gap(void **state)
{
	struct tree t;

	(void)state;
	tree_start(&t);
	observe_limits(&t.o);
	assert_absent(&t.o, "/os/memlock/services");
	assert_gap(&t.o, "/os/memlock/services");
	tree_end(&t);
}

static void tells_its_own_limits(void **state)
{
	struct observation o = {.snapshot = json_object()};
	const struct host_options live = {0};

	(void)state;
	assert_int_equal(host_open(&o.host, &live, NULL), 0);
	observe_limits(&o);
	assert_true(json_get_int(json_at(o.snapshot, "/os/memlock/self"), "soft_bytes", -2) >= -1);
	assert_true(json_is_boolean(json_at(o.snapshot, "/os/memlock/self/cap_ipc_lock")));
	host_close(o.host);
	json_decref(o.snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_line),
		cmocka_unit_test(refuses_other_forms),
		cmocka_unit_test(finds_services_by_their_cgroup),
		cmocka_unit_test(a_stopped_service_is_no_gap),
		cmocka_unit_test(no_cgroups_is_a_gap),
		cmocka_unit_test(tells_its_own_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
