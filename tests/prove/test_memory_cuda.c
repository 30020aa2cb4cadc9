// SPDX-License-Identifier: Apache-2.0
/*
 * GPU memory, on the double of libcuda: each step that can fail is named; filled, checked, poisoned
 * and guarded on the "GPU"; given to a provider that maps the DMA-BUF as a NIC would.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/json.h"
#include "cuda_double.h"
#include "prove/memory.h"

#define CANARY (64u << 10)
#define SEED 0x1234567ull
#define MIB (1ull << 20)

static const struct pattern now = { .seed = SEED, .generation = 4 };

/* --- a provider that keeps what it is given --- */

static struct {
	struct region {
		struct ibv_mr mr;
		uint64_t iova;
		size_t length;
		unsigned char *seen;	/* what the NIC would reach; NULL: registered by address */
	} regions[16];
	unsigned int n, live;
	int dmabuf_errno;	/* of each registration of a DMA-BUF behind the first `good` */
	unsigned int good;
	int mr_errno;
} nic;

static struct ibv_mr *keep(uint64_t iova, size_t length, unsigned char *seen)
{
	struct region *r = &nic.regions[nic.n++];

	*r = (struct region){ .iova = iova, .length = length, .seen = seen };
	r->mr.lkey = nic.n;
	r->mr.rkey = 100 + nic.n;
	nic.live++;
	return &r->mr;
}

static struct ibv_mr *nic_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					uint64_t iova, int fd, int access)
{
	void *seen;

	(void)pd;
	(void)access;
	errno = nic.n >= nic.good ? nic.dmabuf_errno : 0;
	if (errno)
		return NULL;
	seen = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
	return seen == MAP_FAILED ? NULL : keep(iova, length, seen);
}

static struct ibv_mr *nic_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
	(void)pd;
	(void)access;
	errno = nic.mr_errno;
	return errno ? NULL : keep((uintptr_t)address, length, NULL);
}

static int nic_dereg_mr(struct ibv_mr *mr)
{
	struct region *r = &nic.regions[mr->lkey - 1];

	if (r->seen)
		munmap(r->seen, r->length);
	nic.live--;
	return 0;
}

static const struct verbs provider = {
	.name = "test",
	.reg_dmabuf_mr = nic_reg_dmabuf_mr,
	.reg_mr = nic_reg_mr,
	.dereg_mr = nic_dereg_mr,
};

/* What the NIC reaches at the byte `offset` of the usable ones, by the key that stands for it. */
static unsigned char *by_nic(const struct memory *memory, size_t offset)
{
	struct memory_place place = memory_at(memory, offset);
	const struct region *r = &nic.regions[place.rkey - 101];

	assert_int_equal(place.lkey + 100, place.rkey);
	assert_true(place.address >= r->iova && place.address < r->iova + r->length);
	return r->seen + (place.address - r->iova);
}

static unsigned int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static int setup(void **state)
{
	(void)state;
	memset(&nic, 0, sizeof(nic));
	use_cuda_double(NULL);
	return 0;
}

/* Nothing is left: no MR, no GPU memory, no context. */
static int teardown(void **state)
{
	(void)state;
	use_cuda_double(NULL);
	assert_int_equal(nic.live, 0);
	assert_int_equal(cuda_double_count("cuda_double_objects"), 0);
	return 0;
}

static struct memory *memory_of(size_t length, size_t chunk)
{
	const struct memory_request request = { .kind = "cuda", .length = length, .numa_node = -1,
						.dmabuf_chunk = chunk };
	struct memory *memory;

	assert_int_equal(memory_new(&memory, &request, NULL), 0);
	return memory;
}

/* --- what fails --- */

struct failure {
	const char *told;
	const char *gpu;
	int code;
	const char *text;
};

static void test_make_fails(void **state)
{
	static const struct failure cases[] = {
		{ "cuInit=803", NULL, -ELIBACC, "libcuda and the kernel module are of different" },
		{ "cuDeviceGet=101", NULL, -ENODEV, "the first GPU (cuDeviceGet)" },
		{ NULL, "0000:99:00.0", -ENODEV, "GPU 0000:99:00.0: CUDA sees no such GPU; there is "
						 "0000:1B:00.0, 0000:43:00.0" },
		{ "cuDeviceGetPCIBusId=1", NULL, -EINVAL, "cuDeviceGetPCIBusId" },
		{ "dma_buf=0", "0000:43:00.0", -EOPNOTSUPP, "GPU 0000:43:00.0: the driver cannot "
							    "export memory as a DMA-BUF" },
		{ "cuDeviceGetAttribute=1", NULL, -EINVAL, "cuDeviceGetAttribute "
							  "COMPUTE_CAPABILITY_MAJOR" },
		{ "ordering=0 flush=0", NULL, -EOPNOTSUPP, "neither ordered nor can they be flushed" },
		{ "cuDevicePrimaryCtxRetain=46", NULL, -EBUSY, "exclusive mode" },
		{ "cuCtxPushCurrent_v2=201", NULL, -EIO, "cuCtxPushCurrent_v2" },
		{ "cuMemAlloc_v2=2", NULL, -ENOMEM, "GPU 0000:1b:00.0: cuMemAlloc_v2 of 2097152 bytes: "
						    "CUDA_ERROR_OUT_OF_MEMORY (2)" },
		{ "cuMemGetAddressRange_v2=1", NULL, -EINVAL, "cuMemGetAddressRange_v2" },
		{ "misplaced=512", NULL, -EINVAL, "begins on a host page" },
		{ "cuModuleLoadDataEx=221", NULL, -ENOEXEC, "libnvidia-ptxjitcompiler.so.1" },
		{ "cuModuleLoadDataEx=218", NULL, -ENOEXEC, "cuModuleLoadDataEx: ptxas fatal   : the "
							    "double says no: CUDA_ERROR_INVALID_PTX" },
		{ "cuModuleGetFunction=500", NULL, -EIO, "cuModuleGetFunction railhead_words" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct memory_request request = { .kind = "cuda", .length = 1, .numa_node = -1,
							.gpu = cases[i].gpu };
		_cleanup_error_ struct error err = {0};
		struct memory *memory;

		use_cuda_double(cases[i].told);
		assert_int_equal(memory_new(&memory, &request, &err), cases[i].code);
		assert_null(memory);
		assert_has(err.message, cases[i].text);
		use_cuda_double(NULL);
		assert_int_equal(cuda_double_count("cuda_double_objects"), 0);
	}
}

static void test_bad_requests(void **state)
{
	static const struct memory_request cases[] = {
		{ .kind = "cuda", .length = 0 },
		{ .kind = "cuda", .length = SIZE_MAX - 100 },
		{ .kind = "cuda", .length = MIB, .dmabuf_chunk = 4096 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct memory *memory;

		assert_int_equal(memory_new(&memory, &cases[i], NULL), -EINVAL);
	}
}

static void test_no_cuda(void **state)
{
	const struct memory_request request = { .kind = "cuda", .length = 1 };
	_cleanup_error_ struct error err = {0};
	struct memory *memory;

	(void)state;
	setenv("RAILHEAD_CUDA", "/nonexistent/libcuda.so.1", 1);
	assert_int_equal(memory_new(&memory, &request, &err), -ENODEV);
	assert_has(err.message, "no CUDA on this machine");
}

static void test_registration_fails(void **state)
{
	static const struct {
		int errno_code;
		const char *text;
	} cases[] = {
		{ EOPNOTSUPP, "GPU 0000:1b:00.0: ibv_reg_dmabuf_mr of 2097152 bytes: EOPNOTSUPP" },
		{ EPROTONOSUPPORT, "EPROTONOSUPPORT" },
		{ EINVAL, "EINVAL" },
		{ ENOMEM, "ENOMEM" },
		{ 524, "ENOTSUPP" },
	};
	struct memory *memory = memory_of(1, 0);
	unsigned int files = open_files();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_error_ struct error err = {0};

		nic.dmabuf_errno = cases[i].errno_code;
		assert_int_equal(memory_register(memory, &provider, NULL, &err),
				 -cases[i].errno_code);
		assert_has(err.message, cases[i].text);
	}
	_cleanup_error_ struct error err = {0};

	nic.dmabuf_errno = 0;
	use_cuda_double("cuMemGetHandleForAddressRange=801");
	assert_int_equal(memory_register(memory, &provider, NULL, &err), -EOPNOTSUPP);
	assert_has(err.message, "GPU 0000:1b:00.0: cuMemGetHandleForAddressRange of 2097152 bytes");
	assert_has(err.message, "CUDA_ERROR_NOT_SUPPORTED (801)");
	assert_int_equal(open_files(), files);
	memory_free(memory);
}

/* --- what works --- */

static void test_registered(void **state)
{
	struct memory *memory = memory_of(3 * MIB, 0);
	unsigned int files = open_files();
	struct pattern_fault fault;

	(void)state;
	assert_int_equal(memory_register(memory, &provider, NULL, NULL), 0);
	assert_int_equal(open_files(), files);
	assert_int_equal(nic.n, 1);
	assert_int_equal(nic.regions[0].length, 4 * MIB);
	assert_int_equal(nic.regions[0].iova % (2 * MIB), 0);
	assert_int_equal(memory_at(memory, 0).address, nic.regions[0].iova + CANARY);
	assert_int_equal(memory_at(memory, 5).length, 3 * MIB - 5);
	assert_null(memory_pointer(memory, 0));
	/* The NIC reads what the GPU wrote, and the GPU sees what the NIC writes. */
	assert_int_equal(memory_fill(memory, 0, 3 * MIB, 77, &now, NULL), 0);
	assert_true(pattern_check(by_nic(memory, 0), 3 * MIB, 77, &now, &fault));
	*by_nic(memory, 2 * MIB) ^= 1;
	assert_int_equal(memory_check(memory, 0, 3 * MIB, 77, &now, &fault, NULL), -EBADMSG);
	assert_int_equal(fault.offset, 2 * MIB);
	memory_free(memory);
}

static void test_chunks(void **state)
{
	const size_t length = 5 * MIB + 1;
	struct memory *memory = memory_of(length, 2 * MIB);
	struct pattern_fault fault;
	uint64_t base;

	(void)state;
	/* What stands there already is kept. */
	assert_int_equal(memory_fill(memory, 0, length, 0, &now, NULL), 0);
	assert_int_equal(memory_register(memory, &provider, NULL, NULL), 0);
	assert_int_equal(nic.n, 3);
	base = nic.regions[0].iova;
	assert_int_equal(nic.regions[0].length, CANARY + 2 * MIB);
	assert_int_equal(nic.regions[1].iova, base + CANARY + 2 * MIB);
	assert_int_equal(nic.regions[1].length, 2 * MIB);
	assert_int_equal(nic.regions[2].iova, base + CANARY + 4 * MIB);
	assert_int_equal(nic.regions[2].iova + nic.regions[2].length, base + 6 * MIB);
	for (size_t at = 0; at < length; at += MIB) {
		struct memory_place place = memory_at(memory, at);
		size_t expected = at >= 4 * MIB ? length - at : 2 * MIB - at % (2 * MIB);

		assert_int_equal(place.length, expected);
		assert_true(pattern_check(by_nic(memory, at), expected, at, &now, &fault));
		*by_nic(memory, at) ^= 1;
		assert_int_equal(memory_check(memory, 0, length, 0, &now, &fault, NULL), -EBADMSG);
		assert_int_equal(fault.offset, at);
		*by_nic(memory, at) ^= 1;
	}
	assert_int_equal(memory_check(memory, 0, length, 0, &now, &fault, NULL), 0);
	memory_free(memory);
}

/* The second chunk fails: the first does not stay registered. */
static void test_half_registered(void **state)
{
	struct memory *memory = memory_of(5 * MIB, 2 * MIB);
	unsigned int files = open_files();

	(void)state;
	nic.dmabuf_errno = ENOMEM;
	nic.good = 1;
	assert_int_equal(memory_register(memory, &provider, NULL, NULL), -ENOMEM);
	assert_int_equal(nic.n, 1);
	assert_int_equal(nic.live, 0);
	assert_int_equal(open_files(), files);
	memory_free(memory);
}

static void test_faults(void **state)
{
	const struct pattern before = { .seed = SEED, .generation = 3 };
	const size_t length = 64 << 10;
	struct memory *memory = memory_of(length, 0);
	struct pattern_fault fault;

	(void)state;
	assert_int_equal(memory_register(memory, &provider, NULL, NULL), 0);
	/* poison in the middle: never arrived */
	assert_int_equal(memory_poison(memory, 0, length, SEED, NULL), 0);
	assert_int_equal(memory_fill(memory, 0, 20000, 0, &now, NULL), 0);
	assert_int_equal(memory_fill(memory, 30001, length - 30001, 30001, &now, NULL), 0);
	assert_int_equal(memory_check(memory, 0, length, 0, &now, &fault, NULL), -EBADMSG);
	assert_int_equal(fault.kind, PATTERN_MISSING);
	assert_int_equal(fault.offset, 20000);
	assert_in_range(fault.wrong_bytes, 9800, 10001);
	/* poison is known by its address, wherever the check begins */
	for (size_t from = 1; from < 8; from++) {
		assert_int_equal(memory_fill(memory, 0, length, 0, &now, NULL), 0);
		assert_int_equal(memory_poison(memory, 501, 100, SEED, NULL), 0);
		assert_int_equal(memory_check(memory, from, 8000, from, &now, &fault, NULL),
				 -EBADMSG);
		assert_int_equal(fault.kind, PATTERN_MISSING);
		assert_in_range(fault.offset, 501, 503);
	}
	/* an earlier generation, far from the beginning and at its very end */
	assert_int_equal(memory_fill(memory, 0, length, 0, &now, NULL), 0);
	assert_int_equal(memory_fill(memory, length - 4096, 4096, length - 4096, &before, NULL), 0);
	assert_int_equal(memory_check(memory, 8, length - 8, 8, &now, &fault, NULL), -EBADMSG);
	assert_int_equal(fault.kind, PATTERN_STALE);
	assert_int_equal(fault.offset, length - 4096);
	assert_int_equal(fault.wrong_bytes, 4096);
	assert_int_equal(fault.from_generation, 3);
	/* another place */
	assert_int_equal(memory_fill(memory, 0, length, 0, &now, NULL), 0);
	assert_int_equal(memory_fill(memory, 1024, 512, 8192, &now, NULL), 0);
	assert_int_equal(memory_check(memory, 0, length, 0, &now, &fault, NULL), -EBADMSG);
	assert_int_equal(fault.kind, PATTERN_MISPLACED);
	assert_int_equal(fault.offset, 1024);
	assert_int_equal(fault.from_offset, 8192);
	/* noise */
	assert_int_equal(memory_fill(memory, 0, length, 0, &now, NULL), 0);
	by_nic(memory, 0)[11] ^= 0x40;
	assert_int_equal(memory_check(memory, 3, length - 3, 3, &now, &fault, NULL), -EBADMSG);
	assert_int_equal(fault.kind, PATTERN_CORRUPT);
	assert_int_equal(fault.offset, 11);
	assert_int_equal(fault.wrong_bytes, 1);
	memory_free(memory);
}

static void test_canaries(void **state)
{
	const size_t length = 12345;
	struct memory *memory = memory_of(length, 0);
	unsigned char *usable;
	struct pattern_fault fault;

	(void)state;
	assert_int_equal(memory_register(memory, &provider, NULL, NULL), 0);
	usable = by_nic(memory, 0);
	assert_int_equal(memory_poison(memory, 0, length, SEED, NULL), 0);
	assert_int_equal(memory_untouched(memory, 0, length, SEED, &fault, NULL), 0);
	assert_int_equal(memory_canaries(memory, SEED, &fault, NULL), 0);
	usable[100] ^= 1;
	assert_int_equal(memory_untouched(memory, 0, length, SEED, &fault, NULL), -EBADMSG);
	assert_int_equal(fault.offset, 100);
	assert_int_equal(memory_canaries(memory, SEED, &fault, NULL), 0);
	usable[-1] ^= 1;
	assert_int_equal(memory_canaries(memory, SEED, &fault, NULL), -EBADMSG);
	assert_int_equal((int64_t)fault.offset, -1);
	usable[-1] ^= 1;
	usable[length] ^= 1;
	usable[length + 70000] ^= 1;
	assert_int_equal(memory_canaries(memory, SEED, &fault, NULL), -EBADMSG);
	assert_int_equal(fault.offset, length);
	assert_int_equal(fault.wrong_bytes, 2);
	memory_free(memory);
}

/* GPU and processor do not see the same bytes. */
static void test_disagree(void **state)
{
	struct memory *memory = memory_of(MIB, 0);
	_cleanup_error_ struct error err = {0};
	struct pattern_fault fault;

	(void)state;
	assert_int_equal(memory_fill(memory, 0, MIB, 0, &now, NULL), 0);
	assert_int_equal(memory_poison(memory, 5000, 8, SEED, NULL), 0);
	use_cuda_double("astray=1000");
	assert_int_equal(memory_check(memory, 0, MIB, 0, &now, &fault, &err), -EIO);
	assert_has(err.message, "the byte at 6000 is the first wrong one");
	memory_free(memory);
}

/* Writes are flushed where the GPU does not order them, before it looks. */
static void test_flush(void **state)
{
	struct memory *memory = memory_of(4096, 0);
	struct pattern_fault fault;
	int flushes = cuda_double_count("cuda_double_flushes");

	(void)state;
	assert_int_equal(memory_fill(memory, 0, 4096, 0, &now, NULL), 0);
	assert_int_equal(memory_check(memory, 0, 4096, 0, &now, &fault, NULL), 0);
	assert_int_equal(cuda_double_count("cuda_double_flushes"), flushes);
	memory_free(memory);

	use_cuda_double("ordering=0");
	memory = memory_of(4096, 0);
	assert_int_equal(memory_fill(memory, 0, 4096, 0, &now, NULL), 0);
	assert_int_equal(cuda_double_count("cuda_double_flushes"), flushes);
	assert_int_equal(memory_check(memory, 0, 4096, 0, &now, &fault, NULL), 0);
	assert_int_equal(cuda_double_count("cuda_double_flushes"), flushes + 1);
	_cleanup_error_ struct error err = {0};

	use_cuda_double("ordering=0 cuFlushGPUDirectRDMAWrites=801");
	assert_int_equal(memory_check(memory, 0, 4096, 0, &now, &fault, &err), -EOPNOTSUPP);
	assert_has(err.message, "cuFlushGPUDirectRDMAWrites: CUDA_ERROR_NOT_SUPPORTED");
	memory_free(memory);
}

static void expect_text(json_t *facts, const char *pointer, const char *text)
{
	const char *value = json_string_value(json_pointer_get(facts, pointer));

	assert_non_null(value);
	assert_string_equal(value, text);
}

static void test_facts(void **state)
{
	struct memory *memory;
	json_t *facts;

	(void)state;
	use_cuda_double("ordering=0");
	memory = memory_of(MIB, 0);
	facts = memory_facts(memory);
	expect_text(facts, "/kind", "cuda");
	expect_text(facts, "/gpu/bdf", "0000:1b:00.0");
	expect_text(facts, "/gpu/model", "CUDA test double");
	expect_text(facts, "/gpu/compute_capability", "10.3");
	expect_text(facts, "/gpu/cuda", "13.0");
	expect_text(facts, "/gpu/write_ordering", "none");
	assert_true(json_get_bool(json_obj(facts, "gpu"), "flushed", false));
	assert_int_equal(json_get_int(json_obj(facts, "gpu"), "alignment", 0), 2 * MIB);
	assert_true(json_get_bool(facts, "double", false));
	json_decref(facts);
	memory_free(memory);
}

/* A lab's provider takes no DMA-BUF: the double's mapping may be registered, and is called that. */
static void test_double_beneath(void **state)
{
	const struct memory_request request = { .kind = "cuda", .length = 3 * MIB, .numa_node = -1,
						.dmabuf_chunk = 2 * MIB, .dmabuf_double = true };
	struct pattern_fault fault;
	struct memory *memory;
	json_t *facts;

	(void)state;
	nic.dmabuf_errno = EOPNOTSUPP;
	assert_int_equal(memory_new(&memory, &request, NULL), 0);
	assert_int_equal(memory_register(memory, &provider, NULL, NULL), 0);
	assert_int_equal(nic.n, 2);
	assert_null(nic.regions[1].seen);
	assert_int_equal(memory_at(memory, 0).address, nic.regions[0].iova + CANARY);
	assert_null(memory_pointer(memory, 0));
	assert_int_equal(memory_fill(memory, 0, 3 * MIB, 0, &now, NULL), 0);
	assert_true(pattern_check((void *)(uintptr_t)memory_at(memory, 0).address, 3 * MIB, 0, &now,
				  &fault));
	facts = memory_facts(memory);
	assert_true(json_get_bool(facts, "double", false));
	assert_has(json_get_string(facts, "double_why", ""), "EOPNOTSUPP");
	json_decref(facts);
	memory_free(memory);

	_cleanup_error_ struct error err = {0};

	nic.mr_errno = ENOMEM;
	assert_int_equal(memory_new(&memory, &request, NULL), 0);
	assert_int_equal(memory_register(memory, &provider, NULL, &err), -ENOMEM);
	assert_has(err.message, "ibv_reg_mr");
	memory_free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_make_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_requests, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_cuda, setup, teardown),
		cmocka_unit_test_setup_teardown(test_registration_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(test_registered, setup, teardown),
		cmocka_unit_test_setup_teardown(test_chunks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_half_registered, setup, teardown),
		cmocka_unit_test_setup_teardown(test_faults, setup, teardown),
		cmocka_unit_test_setup_teardown(test_canaries, setup, teardown),
		cmocka_unit_test_setup_teardown(test_disagree, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flush, setup, teardown),
		cmocka_unit_test_setup_teardown(test_facts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_double_beneath, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
