/* SPDX-License-Identifier: Apache-2.0 */
/* The pattern on the GPU: words of a progression, launched in pieces that have one key. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "prove/cuda_kernels.h"
#include "prove/cuda_ptx.h"	/* written by tools/embed.py */

#define UNIT 16ull		/* bytes that a thread takes at a time */
#define THREADS 256u		/* of a block */
#define BLOCKS_PER_MULTIPROCESSOR 8u
#define ERROR_LOG_SIZE 4096

struct result {
	uint64_t first, wrong;
};

/* Bytes whose first is byte `skip` (0 to 7) of word 0 of pattern_word_of(state + n * step). */
struct progression {
	uint64_t state, step;
	unsigned int skip;
};

static struct progression progression_of(uint64_t offset, const struct pattern *p)
{
	uint64_t index = offset / 8;

	return (struct progression){
		.state = pattern_state(pattern_key(p, index), index, p->generation),
		.step = PATTERN_STEP << PATTERN_GENERATION_BITS,
		.skip = offset % 8,
	};
}

/* Words of one key reach to the next multiple of this. */
static size_t same_key(uint64_t offset, size_t len)
{
	const uint64_t span = 8ull << PATTERN_INDEX_BITS;
	uint64_t rest = span - offset % span;

	return rest < len ? rest : len;
}

static struct progression progression_of_poison(cu_address address, uint64_t seed)
{
	return (struct progression){
		.state = pattern_state_of(pattern_poison_word(seed)),
		.skip = address % 8,
	};
}

/* `result` 0: fill; see cuda_words.ptx. */
static int launch(const struct cuda_kernels *k, cu_address address, size_t len,
		  struct progression s, cu_address result, struct error *err)
{
	cu_address first = address / UNIT * UNIT;
	uint64_t head = address % UNIT, end = head + len;
	/* The byte of the progression that stands at `first`, from two words before word 0 on. */
	uint64_t behind = s.skip + UNIT - head;
	uint64_t state = s.state + (behind / 8 - UNIT / 8) * s.step;
	uint32_t shift = (uint32_t)(behind % 8) * 8;
	uint64_t blocks = (end / UNIT + THREADS) / THREADS;
	void *parameters[] = {&first, &head, &end, &state, &s.step, &shift, &result};
	cu_result rc;

	if (blocks > k->blocks)
		blocks = k->blocks;
	rc = k->cuda->launch(k->words, (unsigned int)blocks, 1, 1, THREADS, 1, 1, 0, NULL,
			     parameters, NULL);
	if (rc != 0)
		return cuda_error(k->cuda, rc, err, "cuLaunchKernel");
	return 0;
}

static int finish(const struct cuda_kernels *k, struct error *err)
{
	cu_result rc = k->cuda->context_synchronize();

	return rc == 0 ? 0 : cuda_error(k->cuda, rc, err, "cuCtxSynchronize");
}

int cuda_kernels_fill(const struct cuda_kernels *k, cu_address address, size_t len,
		      uint64_t offset, const struct pattern *p, struct error *err)
{
	while (len > 0) {
		size_t piece = same_key(offset, len);
		int rc = launch(k, address, piece, progression_of(offset, p), 0, err);

		if (rc < 0)
			return rc;
		address += piece;
		offset += piece;
		len -= piece;
	}
	return finish(k, err);
}

int cuda_kernels_poison(const struct cuda_kernels *k, cu_address address, size_t len, uint64_t seed,
			struct error *err)
{
	int rc = launch(k, address, len, progression_of_poison(address, seed), 0, err);

	return rc < 0 ? rc : finish(k, err);
}

/* Adds to `*wrong`, and sets `*first` if nothing before was wrong; the piece begins at `at`. */
static int check_piece(const struct cuda_kernels *k, cu_address address, size_t len, uint64_t at,
		       struct progression s, uint64_t *first, uint64_t *wrong, struct error *err)
{
	struct result result = {.first = UINT64_MAX};
	cu_result rc;
	int r;

	rc = k->cuda->copy_to_gpu(k->result, &result, sizeof(result));
	if (rc != 0)
		return cuda_error(k->cuda, rc, err, "cuMemcpyHtoD_v2");
	r = launch(k, address, len, s, k->result, err);
	if (r == 0)
		r = finish(k, err);
	if (r < 0)
		return r;
	rc = k->cuda->copy_to_host(&result, k->result, sizeof(result));
	if (rc != 0)
		return cuda_error(k->cuda, rc, err, "cuMemcpyDtoH_v2");
	if (result.wrong > 0 && *wrong == 0)
		*first = at + result.first - address % UNIT;
	*wrong += result.wrong;
	return 0;
}

int cuda_kernels_check(const struct cuda_kernels *k, cu_address address, size_t len,
		       uint64_t offset, const struct pattern *p, uint64_t *first, uint64_t *wrong,
		       struct error *err)
{
	uint64_t at = 0;

	*wrong = 0;
	while (at < len) {
		size_t piece = same_key(offset + at, len - at);
		int rc = check_piece(k, address + at, piece, at, progression_of(offset + at, p),
				     first, wrong, err);

		if (rc < 0)
			return rc;
		at += piece;
	}
	return *wrong > 0 ? -EBADMSG : 0;
}

int cuda_kernels_poison_check(const struct cuda_kernels *k, cu_address address, size_t len,
			      uint64_t seed, uint64_t *first, uint64_t *wrong, struct error *err)
{
	int rc;

	*wrong = 0;
	rc = check_piece(k, address, len, 0, progression_of_poison(address, seed), first, wrong,
			 err);
	if (rc < 0)
		return rc;
	return *wrong > 0 ? -EBADMSG : 0;
}

static int load_module(struct cuda_kernels *k, struct error *err)
{
	/* The size is passed in the place of a pointer. */
	int options[] = {CU_JIT_ERROR_LOG_SIZE, CU_JIT_ERROR_LOG};
	char log[ERROR_LOG_SIZE] = "";
	void *values[] = {(void *)(uintptr_t)(sizeof(log) - 1), log};
	cu_result rc;

	rc = k->cuda->module_load(&k->module, built_in[0].text, ARRAY_SIZE(options), options,
				  values);
	if (rc != 0) {
		k->module = NULL;
		log[strcspn(log, "\n")] = '\0';
		return cuda_error(k->cuda, rc, err, "cuModuleLoadDataEx%s%s", *log ? ": " : "",
				  log);
	}
	rc = k->cuda->module_function(&k->words, k->module, "railhead_words");
	if (rc != 0)
		return cuda_error(k->cuda, rc, err, "cuModuleGetFunction railhead_words");
	return 0;
}

int cuda_kernels_load(struct cuda_kernels *k, const struct cuda *cuda, cu_device device,
		      struct error *err)
{
	int multiprocessors;
	cu_result result;
	int rc;

	*k = (struct cuda_kernels){.cuda = cuda};
	result = cuda->device_attribute(&multiprocessors, CU_MULTIPROCESSOR_COUNT, device);
	if (result != 0)
		return cuda_error(cuda, result, err, "cuDeviceGetAttribute MULTIPROCESSOR_COUNT");
	k->blocks = (unsigned int)multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
	rc = load_module(k, err);
	if (rc < 0)
		return rc;
	result = cuda->alloc(&k->result, sizeof(struct result));
	if (result != 0) {
		k->result = 0;
		return cuda_error(cuda, result, err, "cuMemAlloc_v2 of %zu bytes",
				  sizeof(struct result));
	}
	return 0;
}

void cuda_kernels_unload(struct cuda_kernels *k)
{
	if (k->result)
		k->cuda->free(k->result);
	if (k->module)
		k->cuda->module_unload(k->module);
	*k = (struct cuda_kernels){0};
}
