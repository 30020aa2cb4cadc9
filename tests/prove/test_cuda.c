// SPDX-License-Identifier: Apache-2.0
/* libcuda and what it may lack; the words of the pattern on the GPU are those of pattern.c. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "cuda_double.h"
#include "prove/cuda_kernels.h"

#define ROOM 4096u
#define AROUND 64u

static const struct pattern now = { .seed = 0xc0dac0dac0dac0daull, .generation = 3 };

static void test_not_there(void **state)
{
	_cleanup_error_ struct error err = {0};
	struct cuda cuda;

	(void)state;
	setenv("RAILHEAD_CUDA", "/nonexistent/libcuda.so.1", 1);
	assert_int_equal(cuda_load(&cuda, &err), -ENODEV);
	assert_has(err.message, "no CUDA on this machine: /nonexistent/libcuda.so.1");
}

static void test_lacks_functions(void **state)
{
	_cleanup_error_ struct error err = {0};
	struct cuda cuda;

	(void)state;
	use_cuda_double("version=11040");
	setenv("RAILHEAD_CUDA", getenv("CUDA_DOUBLE_OLD_PATH"), 1);
	assert_int_equal(cuda_load(&cuda, &err), -ELIBACC);
	assert_has(err.message, "(CUDA 11.4) has no cuMemGetHandleForAddressRange; it exists since "
		   "CUDA 11.7");

	setenv("RAILHEAD_CUDA", getenv("NVML_EMPTY_PATH"), 1);
	assert_int_equal(cuda_load(&cuda, &err), -ELIBACC);
	assert_has(err.message, "has no cuInit");
}

static void test_start_fails(void **state)
{
	static const struct {
		const char *told;
		int code;
		const char *text;
	} cases[] = {
		{ "cuInit=100", -ENODEV,
		  "cuInit: CUDA_ERROR_NO_DEVICE (100): the driver sees no GPU" },
		{ "cuInit=802", -EAGAIN, "CUDA_ERROR_SYSTEM_NOT_READY (802): the system is not "
					 "ready; with NVSwitch: does the fabric manager run?" },
		{ "cuInit=4242", -EIO, "cuInit: CUresult (4242)" },
		{ "cuDeviceGetCount=999", -EIO, "cuDeviceGetCount: CUDA_ERROR_UNKNOWN (999)" },
		{ "gpus=0", -ENODEV, "sees no GPU" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_error_ struct error err = {0};
		struct cuda cuda;

		use_cuda_double(cases[i].told);
		assert_int_equal(cuda_load(&cuda, &err), cases[i].code);
		assert_has(err.message, cases[i].text);
	}
}

static void test_starts(void **state)
{
	struct cuda cuda;

	(void)state;
	use_cuda_double(NULL);
	assert_int_equal(cuda_load(&cuda, NULL), 0);
	assert_true(cuda.is_double);
	assert_int_equal(cuda.version, 13000);
}

/* --- kernels: every GPU address of the double is an address of this process --- */

struct gpu {
	struct cuda cuda;
	struct cuda_kernels kernels;
	cu_context context;
	cu_address base;
	uint8_t *bytes;	/* at `base`, ROOM of them */
};

static int gpu_setup(void **state)
{
	struct gpu *gpu = xcalloc(1, sizeof(*gpu));

	use_cuda_double(NULL);
	assert_int_equal(cuda_load(&gpu->cuda, NULL), 0);
	assert_int_equal(gpu->cuda.context_retain(&gpu->context, 0), 0);
	assert_int_equal(gpu->cuda.context_push(gpu->context), 0);
	assert_int_equal(gpu->cuda.alloc(&gpu->base, ROOM), 0);
	assert_int_equal(cuda_kernels_load(&gpu->kernels, &gpu->cuda, 0, NULL), 0);
	gpu->bytes = (uint8_t *)(uintptr_t)gpu->base;
	*state = gpu;
	return 0;
}

static int gpu_teardown(void **state)
{
	struct gpu *gpu = *state;
	cu_context context;

	cuda_kernels_unload(&gpu->kernels);
	assert_int_equal(gpu->cuda.free(gpu->base), 0);
	assert_int_equal(gpu->cuda.context_pop(&context), 0);
	assert_int_equal(gpu->cuda.context_release(0), 0);
	assert_int_equal(cuda_double_count("cuda_double_objects"), 0);
	free(gpu);
	return 0;
}

/* Filled on the GPU at `at` and by the processor in memory of the same alignment: the same, and
 * nothing beside it. */
static void expect_same(const struct gpu *gpu, size_t at, size_t len, uint64_t offset,
			const struct pattern *p)
{
	_cleanup_free_ uint8_t *own = xmalloc(ROOM);
	uint64_t first, wrong;

	memset(gpu->bytes, 0xee, ROOM);
	memset(own, 0xee, ROOM);
	pattern_fill(own + at, len, offset, p);
	assert_int_equal(cuda_kernels_fill(&gpu->kernels, gpu->base + at, len, offset, p, NULL), 0);
	assert_memory_equal(gpu->bytes, own, ROOM);
	assert_int_equal(cuda_kernels_check(&gpu->kernels, gpu->base + at, len, offset, p, &first,
					    &wrong, NULL), 0);
	assert_int_equal(wrong, 0);
}

static void test_fill(void **state)
{
	/* the key changes at 2^43 */
	static const uint64_t offsets[] = { 0, 1, 7, 8, 13, 4096, (1ull << 30) + 5,
					    (1ull << 43) - 40, (1ull << 43) + 3 };
	static const size_t lengths[] = { 0, 1, 7, 8, 9, 15, 16, 17, 31, 100, 1000 };
	const struct pattern late = { .seed = ~0ull, .generation = (1u << 24) + 9 };

	for (size_t o = 0; o < ARRAY_SIZE(offsets); o++)
		for (size_t l = 0; l < ARRAY_SIZE(lengths); l++)
			for (size_t at = AROUND; at < AROUND + 17; at++) {
				expect_same(*state, at, lengths[l], offsets[o], &now);
				expect_same(*state, at, lengths[l], offsets[o], &late);
			}
}

static void expect_wrong(const struct gpu *gpu, size_t at, size_t len, uint64_t offset,
			 uint64_t first_wanted, uint64_t wrong_wanted)
{
	uint64_t first, wrong;

	assert_int_equal(cuda_kernels_check(&gpu->kernels, gpu->base + at, len, offset, &now,
					    &first, &wrong, NULL), -EBADMSG);
	assert_int_equal(first, first_wanted);
	assert_int_equal(wrong, wrong_wanted);
}

static void test_check(void **state)
{
	const struct gpu *gpu = *state;
	const uint64_t offset = (1ull << 43) - 33;
	const size_t at = AROUND + 5, len = 99;

	assert_int_equal(cuda_kernels_fill(&gpu->kernels, gpu->base + at, len, offset, &now, NULL),
			 0);
	for (size_t i = 0; i < len; i++) {
		gpu->bytes[at + i] ^= 1;
		expect_wrong(gpu, at, len, offset, i, 1);
		gpu->bytes[at + i] ^= 1;
	}
	gpu->bytes[at + 10] ^= 0x80;
	gpu->bytes[at + 50] ^= 0x80;	/* of the next key */
	gpu->bytes[at + len - 1] ^= 0x80;
	expect_wrong(gpu, at, len, offset, 10, 3);
}

static void test_poison(void **state)
{
	const struct gpu *gpu = *state;
	const uint64_t seed = 0xabcdef;
	_cleanup_free_ uint8_t *own = xmalloc(ROOM);
	uint64_t first, wrong;

	for (size_t at = AROUND; at < AROUND + 17; at++) {
		memset(gpu->bytes, 0xee, ROOM);
		memset(own, 0xee, ROOM);
		pattern_poison(own + at, 777, seed);
		assert_int_equal(cuda_kernels_poison(&gpu->kernels, gpu->base + at, 777, seed, NULL),
				 0);
		assert_memory_equal(gpu->bytes, own, ROOM);
		/* any part of it can be looked at */
		assert_int_equal(cuda_kernels_poison_check(&gpu->kernels, gpu->base + at + 3, 700,
							   seed, &first, &wrong, NULL), 0);
		gpu->bytes[at + 200] ^= 4;
		assert_int_equal(cuda_kernels_poison_check(&gpu->kernels, gpu->base + at + 3, 700,
							   seed, &first, &wrong, NULL), -EBADMSG);
		assert_int_equal(first, 197);
		assert_int_equal(wrong, 1);
	}
}

static void test_kernels_fail(void **state)
{
	static const struct {
		const char *told, *text;
		int code;
	} cases[] = {
		{ "cuMemcpyHtoD_v2=719", "cuMemcpyHtoD_v2: CUDA_ERROR_LAUNCH_FAILED", -EIO },
		{ "cuLaunchKernel=719", "cuLaunchKernel: CUDA_ERROR_LAUNCH_FAILED (719): a kernel "
					"failed on the GPU", -EIO },
		{ "cuCtxSynchronize=700", "cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS", -EFAULT },
		{ "cuMemcpyDtoH_v2=999", "cuMemcpyDtoH_v2: CUDA_ERROR_UNKNOWN", -EIO },
	};
	const struct gpu *gpu = *state;
	uint64_t first, wrong;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_error_ struct error err = {0};

		use_cuda_double(cases[i].told);
		assert_int_equal(cuda_kernels_check(&gpu->kernels, gpu->base, 64, 0, &now, &first,
						    &wrong, &err), cases[i].code);
		assert_has(err.message, cases[i].text);
	}
	use_cuda_double(NULL);
	/* outside of the allocation */
	assert_int_equal(cuda_kernels_fill(&gpu->kernels, gpu->base + ROOM - 8, 16, 0, &now, NULL),
			 -EFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_not_there),
		cmocka_unit_test(test_lacks_functions),
		cmocka_unit_test(test_start_fails),
		cmocka_unit_test(test_starts),
		cmocka_unit_test_setup_teardown(test_fill, gpu_setup, gpu_teardown),
		cmocka_unit_test_setup_teardown(test_check, gpu_setup, gpu_teardown),
		cmocka_unit_test_setup_teardown(test_poison, gpu_setup, gpu_teardown),
		cmocka_unit_test_setup_teardown(test_kernels_fail, gpu_setup, gpu_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
