// SPDX-License-Identifier: Apache-2.0
/* Memory of a proof: made, registered with a double of a provider, filled, checked, watched. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "doubles/verbs_double.h"
#include "host/udmabuf.h"
#include "prove/memory.h"
#include "prove/memory_kind.h"

#define LENGTH 1000003u
#define SEED 0x5eedull

static const struct pattern now = { .seed = SEED, .generation = 3 };

struct scene {
	const struct verbs *v;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct memory *memory;
	struct error err;
};

static void scene_begin(struct scene *s, const struct verbs_double_setup *setup)
{
	struct ibv_device **list;
	int n;

	memset(s, 0, sizeof(*s));
	verbs_double_reset(setup);
	s->v = verbs_double();
	list = s->v->get_device_list(&n);
	assert_non_null(list);
	s->context = s->v->open_device(list[0]);
	s->v->free_device_list(list);
	s->pd = s->v->alloc_pd(s->context);
}

static void scene_end(struct scene *s)
{
	memory_free(s->memory);
	error_clear(&s->err);
	assert_int_equal(s->v->dealloc_pd(s->pd), 0);
	assert_int_equal(s->v->close_device(s->context), 0);
	assert_int_equal(verbs_double_objects(), 0);
	assert_null(verbs_double_complaint());
}

static int make(struct scene *s, const char *kind, size_t length)
{
	const struct memory_request request = { .kind = kind, .length = length, .numa_node = -1 };

	return memory_new(&s->memory, &request, &s->err);
}

static int make_double(struct scene *s, size_t length)
{
	const struct memory_request request = { .kind = "udmabuf", .length = length,
						.numa_node = -1, .dmabuf_double = true };

	return memory_new(&s->memory, &request, &s->err);
}

static void expect_error(struct scene *s, int rc, int code, const char *words)
{
	if (rc != code || !strstr(error_text(&s->err), words))
		fail_msg("%d, \"%s\"; expected %d and \"%s\"", rc, error_text(&s->err), code,
			 words);
	error_clear(&s->err);
}

static void expect_double(struct scene *s, bool is_double, const char *why)
{
	_cleanup_json_ json_t *facts = memory_facts(s->memory);

	assert_int_equal(json_get_bool(facts, "double", !is_double), is_double);
	if (why)
		assert_non_null(strstr(json_get_string(facts, "double_why", ""), why));
	else
		assert_null(json_object_get(facts, "double_why"));
}

/* --- what every kind that the processor sees must do ------------------------------------------ */

static void expect_fill_and_check(struct scene *s)
{
	static const size_t parts[][2] = { { 0, LENGTH }, { 0, 1 }, { 1, 4095 }, { LENGTH - 7, 7 },
					   { 4099, 65536 }, { LENGTH, 0 } };
	struct pattern_fault fault;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t at = parts[i][0], len = parts[i][1];
		uint8_t *byte = memory_pointer(s->memory, at + len / 2);

		assert_int_equal(memory_poison(s->memory, 0, LENGTH, SEED, NULL), 0);
		assert_int_equal(memory_fill(s->memory, at, len, at, &now, &s->err), 0);
		assert_int_equal(memory_check(s->memory, at, len, at, &now, &fault, &s->err), 0);
		assert_int_equal(memory_untouched(s->memory, 0, at, SEED, &fault, &s->err), 0);
		assert_int_equal(memory_untouched(s->memory, at + len, LENGTH - at - len, SEED,
						  &fault, &s->err), 0);
		if (!len)
			continue;
		*byte ^= 0x40;
		expect_error(s, memory_check(s->memory, at, len, at, &now, &fault, &s->err),
			     -EBADMSG, "1 byte is wrong, at offset");
		/* from the first usable byte on, not from the part */
		assert_int_equal(fault.offset, at + len / 2);
		*byte ^= 0x40;
	}
}

static void expect_bounds(struct scene *s)
{
	struct pattern_fault fault;

	expect_error(s, memory_fill(s->memory, 1, LENGTH, 0, &now, &s->err), -EINVAL,
		     "1000003 bytes from 1 on are not in");
	expect_error(s, memory_check(s->memory, LENGTH + 1, 0, 0, &now, &fault, &s->err), -EINVAL,
		     "0 bytes from 1000004 on");
	expect_error(s, memory_fill(s->memory, 2, SIZE_MAX, 0, &now, &s->err), -EINVAL,
		     "from 2 on");
	expect_error(s, memory_poison(s->memory, 1, LENGTH, SEED, &s->err), -EINVAL, "from 1 on");
	expect_error(s, memory_untouched(s->memory, 1, LENGTH, SEED, &fault, &s->err), -EINVAL,
		     "from 1 on");
}

/* A byte before, or behind, at any distance within the zones. */
static void expect_canary(struct scene *s, ptrdiff_t place, const char *words)
{
	uint8_t *byte = (uint8_t *)memory_pointer(s->memory, 0) + place;
	struct pattern_fault fault;

	assert_int_equal(memory_canaries(s->memory, SEED, &fault, &s->err), 0);
	*byte ^= 1;
	expect_error(s, memory_canaries(s->memory, SEED, &fault, &s->err), -EBADMSG, words);
	assert_true((int64_t)fault.offset == place);
	assert_int_equal(fault.wrong_bytes, 1);
	/* poison anew does not hide it */
	assert_int_equal(memory_poison(s->memory, 0, LENGTH, SEED, &s->err), 0);
	expect_error(s, memory_canaries(s->memory, SEED, &fault, &s->err), -EBADMSG, words);
	*byte ^= 1;
}

static void expect_canaries(struct scene *s)
{
	assert_int_equal(memory_poison(s->memory, 0, LENGTH, SEED, &s->err), 0);
	assert_int_equal(memory_fill(s->memory, 0, LENGTH, 0, &now, &s->err), 0);
	expect_canary(s, -1, "before the memory of 1000003 bytes were written to, the first at "
			     "offset -1");
	expect_canary(s, -(ptrdiff_t)MEMORY_CANARY, "the first at offset -65536");
	expect_canary(s, LENGTH, "behind the memory of 1000003 bytes were written to, the first at "
				 "offset 1000003");
	expect_canary(s, LENGTH + MEMORY_CANARY - 1, "behind");
}

static void expect_place(struct scene *s)
{
	struct memory_place first = memory_at(s->memory, 0);
	struct memory_place last = memory_at(s->memory, LENGTH - 1);

	assert_int_equal(first.address, (uintptr_t)memory_pointer(s->memory, 0));
	assert_int_equal(first.address % 4096, 0);
	assert_int_equal(first.length, LENGTH);
	assert_int_equal(last.address, first.address + LENGTH - 1);
	assert_int_equal(last.length, 1);
	assert_int_equal(last.lkey, first.lkey);
	assert_int_equal(last.rkey, first.rkey);
	assert_int_equal(s->memory->n_chunks, 1);
	/* the canaries are inside: the NIC would let a stray write through */
	assert_int_equal(s->memory->chunks[0].mr->length, s->memory->region);
	assert_true(s->memory->region >= LENGTH + 2 * MEMORY_CANARY);
}

static void expect_whole(struct scene *s)
{
	_cleanup_json_ json_t *facts = NULL;

	expect_fill_and_check(s);
	expect_bounds(s);
	assert_int_equal(memory_register(s->memory, s->v, s->pd, &s->err), 0);
	expect_place(s);
	expect_canaries(s);
	expect_error(s, memory_register(s->memory, s->v, s->pd, &s->err), -EALREADY,
		     "is registered");

	facts = memory_facts(s->memory);
	assert_int_equal(json_get_int(facts, "length", 0), LENGTH);
	assert_int_equal(json_get_int(facts, "canary", 0), MEMORY_CANARY);
	assert_int_equal(json_get_int(facts, "registrations", 0), 1);
	assert_true(json_get_int(facts, "registration_ns", -1) >= 0);
	assert_true(json_get_int(facts, "page_bytes", 0) >= 4096);
	assert_true(json_object_get(facts, "numa") || json_object_get(facts, "numa_note"));
	/* the provider is one */
	assert_true(json_get_bool(facts, "double", false));
}

/* --- host ------------------------------------------------------------------------------------- */

static void host_memory(void **state)
{
	struct scene s;

	(void)state;
	scene_begin(&s, NULL);
	assert_int_equal(make(&s, "host", LENGTH), 0);
	assert_int_equal(memory_length(s.memory), LENGTH);
	expect_double(&s, false, NULL);
	expect_whole(&s);
	scene_end(&s);
}

static void sizes(void **state)
{
	static const size_t lengths[] = { 1, 2, 7, 4095, 4096, 4097, 65537, 4u << 20 };
	struct pattern_fault fault;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct scene s;

		scene_begin(&s, NULL);
		assert_int_equal(make(&s, "host", lengths[i]), 0);
		assert_int_equal(memory_poison(s.memory, 0, lengths[i], SEED, NULL), 0);
		assert_int_equal(memory_fill(s.memory, 0, lengths[i], 5, &now, NULL), 0);
		assert_int_equal(memory_check(s.memory, 0, lengths[i], 5, &now, &fault, NULL), 0);
		assert_int_equal(memory_canaries(s.memory, SEED, &fault, NULL), 0);
		scene_end(&s);
	}
}

static void impossible_requests(void **state)
{
	struct scene s;

	(void)state;
	scene_begin(&s, NULL);
	expect_error(&s, make(&s, "host", 0), -EINVAL, "host memory of 0 bytes");
	expect_error(&s, make(&s, "host", SIZE_MAX - 5), -EINVAL,
		     "host memory of 18446744073709551610");
	expect_error(&s, make(&s, "host", 1ull << 50), -ENOMEM, "bytes of host memory");
	expect_error(&s, make(&s, "udmabuf", 0), -EINVAL, "udmabuf memory of 0 bytes");
	expect_error(&s, make(&s, "tape", 1), -EINVAL, "'tape' is no kind of memory");
	assert_null(s.memory);
	scene_end(&s);
}

static void node_of_the_nic(void **state)
{
	static const struct {
		int node;
		bool note;
	} nodes[] = { { -1, false }, { 0, false }, { 900, true }, { 5000, true } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
		const struct memory_request request = { .kind = "host", .length = 1u << 20,
							.numa_node = nodes[i].node };
		_cleanup_json_ json_t *facts = NULL;
		struct scene s;

		scene_begin(&s, NULL);
		assert_int_equal(memory_new(&s.memory, &request, &s.err), 0);
		facts = memory_facts(s.memory);
		assert_int_equal(json_get_int(facts, "numa_wanted", -1), nodes[i].node);
		/* in a container mbind(2) may be forbidden: then it must be told */
		if (nodes[i].note)
			assert_non_null(json_object_get(facts, "numa_note"));
		else
			assert_true(json_object_get(facts, "numa_note") ||
				    json_get_int(facts, "numa", -1) >= 0);
		scene_end(&s);
	}
}

/* --- huge ------------------------------------------------------------------------------------- */

static void huge_pages(void **state)
{
	struct scene s;
	int rc;

	(void)state;
	scene_begin(&s, NULL);
	rc = make(&s, "huge", LENGTH);
	if (rc == -ENOMEM) {
		expect_error(&s, rc, -ENOMEM, "sysctl -w vm.nr_hugepages=");
	} else if (rc == -ENODEV) {
		expect_error(&s, rc, -ENODEV, "no huge pages");
	} else {
		assert_int_equal(rc, 0);
		expect_whole(&s);
	}
	scene_end(&s);
}

/* More than any machine has reserved. */
static void huge_pages_that_are_not_there(void **state)
{
	struct scene s;
	int rc;

	(void)state;
	scene_begin(&s, NULL);
	rc = make(&s, "huge", 1ull << 44);
	if (rc == -ENODEV)
		expect_error(&s, rc, -ENODEV, "no huge pages");
	else
		expect_error(&s, rc, -ENOMEM, "not enough free huge pages (");
	scene_end(&s);
}

/* --- udmabuf ---------------------------------------------------------------------------------- */

static void udmabuf_or_why_not(void **state)
{
	struct scene s;
	int rc;

	(void)state;
	scene_begin(&s, NULL);
	rc = make(&s, "udmabuf", LENGTH);
	if (rc == 0) {
		expect_double(&s, false, NULL);
		expect_whole(&s);
	} else if (rc == -EACCES) {
		expect_error(&s, rc, -EACCES, "/dev/udmabuf");
	} else {
		expect_error(&s, rc, -ENODEV, "modprobe udmabuf");
	}
	scene_end(&s);
}

static void double_is_marked(void **state)
{
	const struct verbs_double_setup refuses = { .dmabuf_errno = EOPNOTSUPP };
	struct scene s;

	(void)state;
	scene_begin(&s, &refuses);
	assert_int_equal(make_double(&s, LENGTH), 0);
	expect_whole(&s);
	if (access("/dev/udmabuf", R_OK | W_OK) == 0)
		expect_double(&s, true, "EOPNOTSUPP");
	else
		expect_double(&s, true, "/dev/udmabuf");
	assert_true(s.memory->is_double);
	scene_end(&s);
}

/* A memfd in the place of a DMA-BUF: this provider maps it, as a NIC would. */
struct stand_in {
	struct memory memory;
	int fd;
};

static void stand_in_begin(struct stand_in *in, struct scene *s)
{
	in->fd = udmabuf_memory(1u << 20, &s->err);
	assert_true(in->fd >= 0);
	in->memory = (struct memory){ .kind = &memory_kind_udmabuf, .length = 1u << 19,
				      .region = 1u << 20, .address = 0x7f0000000000ull,
				      .verbs = s->v };
}

static void stand_in_end(struct stand_in *in, struct scene *s)
{
	while (in->memory.n_chunks)
		s->v->dereg_mr(in->memory.chunks[--in->memory.n_chunks].mr);
	free(in->memory.chunks);
	close(in->fd);
}

static void chunks_of_a_dmabuf(void **state)
{
	struct memory_place before, behind;
	struct stand_in in;
	struct scene s;

	(void)state;
	scene_begin(&s, NULL);
	stand_in_begin(&in, &s);
	assert_int_equal(memory_add_dmabuf(&in.memory, s.pd, in.fd, 0, 0, 1u << 18, &s.err), 0);
	assert_int_equal(memory_add_dmabuf(&in.memory, s.pd, in.fd, 1u << 18, 1u << 18,
					   3u << 18, &s.err), 0);
	before = memory_at(&in.memory, (1u << 18) - MEMORY_CANARY - 1);
	behind = memory_at(&in.memory, (1u << 18) - MEMORY_CANARY);
	assert_int_equal(before.address, in.memory.address + (1u << 18) - 1);
	assert_int_equal(before.length, 1);
	assert_int_equal(behind.address, before.address + 1);
	assert_int_equal(behind.length, (1u << 19) - (1u << 18) + MEMORY_CANARY);
	assert_int_not_equal(before.rkey, behind.rkey);
	assert_int_equal(before.lkey, in.memory.chunks[0].mr->lkey);
	assert_int_equal(behind.lkey, in.memory.chunks[1].mr->lkey);
	stand_in_end(&in, &s);
	scene_end(&s);
}

static void refusals_of_a_dmabuf(void **state)
{
	static const struct {
		int code;
		const char *words;
	} refusals[] = {
		{ EOPNOTSUPP, "ibv_reg_dmabuf_mr of 1048576 bytes: EOPNOTSUPP: not supported by this provider" },
		{ EINVAL, "EINVAL: length, offset or alignment" },
		{ ENOMEM, "ENOMEM: the adapter or the IOMMU" },
		{ 524, "ENOTSUPP: the exporter refuses" },
		{ ENOSPC, "No space left on device" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		const struct verbs_double_setup setup = { .dmabuf_errno = refusals[i].code };
		struct stand_in in;
		struct scene s;

		scene_begin(&s, &setup);
		stand_in_begin(&in, &s);
		expect_error(&s, memory_add_dmabuf(&in.memory, s.pd, in.fd, 0, 0, 1u << 20, &s.err),
			     -refusals[i].code, refusals[i].words);
		stand_in_end(&in, &s);
		scene_end(&s);
	}
}

static void library_without_dmabuf(void **state)
{
	const struct verbs_double_setup setup = { .no_dmabuf = true };
	struct stand_in in;
	struct scene s;

	(void)state;
	scene_begin(&s, &setup);
	stand_in_begin(&in, &s);
	expect_error(&s, memory_add_dmabuf(&in.memory, s.pd, in.fd, 0, 0, 1u << 20, &s.err),
		     -EOPNOTSUPP, "rdma-core 34");
	stand_in_end(&in, &s);
	scene_end(&s);
}

/* --- registration ----------------------------------------------------------------------------- */

static void refusals_of_a_region(void **state)
{
	static const struct {
		int code;
		const char *words;
	} refusals[] = {
		{ ENOMEM, "bytes: ENOMEM: not enough memory may be locked" },
		{ EFAULT, "EFAULT: pages of it cannot be pinned" },
		{ ENOSPC, "No space left on device" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		_cleanup_json_ json_t *facts = NULL;
		struct scene s;

		scene_begin(&s, NULL);
		assert_int_equal(make(&s, "host", LENGTH), 0);
		verbs_double_fail("reg_mr", 1, refusals[i].code);
		expect_error(&s, memory_register(s.memory, s.v, s.pd, &s.err), -refusals[i].code,
			     refusals[i].words);
		facts = memory_facts(s.memory);
		assert_null(json_object_get(facts, "registrations"));
		/* another try is allowed */
		verbs_double_fail(NULL, 0, 0);
		assert_int_equal(memory_register(s.memory, s.v, s.pd, &s.err), 0);
		scene_end(&s);
	}
}

static void limit_of_locked_memory_is_told(void **state)
{
	struct scene s;

	(void)state;
	scene_begin(&s, NULL);
	assert_int_equal(make(&s, "host", LENGTH), 0);
	verbs_double_fail("reg_mr", 1, ENOMEM);
	expect_error(&s, memory_register(s.memory, s.v, s.pd, &s.err), -ENOMEM,
		     "the limit of locked memory is 64 kB (ulimit -l)");
	scene_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_memory),
		cmocka_unit_test(sizes),
		cmocka_unit_test(impossible_requests),
		cmocka_unit_test(node_of_the_nic),
		cmocka_unit_test(huge_pages),
		cmocka_unit_test(huge_pages_that_are_not_there),
		cmocka_unit_test(udmabuf_or_why_not),
		cmocka_unit_test(double_is_marked),
		cmocka_unit_test(chunks_of_a_dmabuf),
		cmocka_unit_test(refusals_of_a_dmabuf),
		cmocka_unit_test(library_without_dmabuf),
		cmocka_unit_test(refusals_of_a_region),
		cmocka_unit_test(limit_of_locked_memory_is_told),
	};
	const struct rlimit limit = { 64 << 10, 64 << 10 };

	/* what ENOMEM says; nothing is locked here, so that it takes no effect */
	setrlimit(RLIMIT_MEMLOCK, &limit);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
