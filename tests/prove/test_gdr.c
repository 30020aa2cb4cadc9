/* SPDX-License-Identifier: Apache-2.0 */
/* GPUDirect RDMA as a whole proof, on the doubles of libcuda and of a provider: what is recorded
 * when all is well, and at each place where it ends. */
#include <errno.h>
#include <string.h>

#include "proof_pair.h"

#include "cuda_double.h"

static const struct session_parameters gdr = {
	.suite = SESSION_GDR,
	.operations = SESSION_WRITE | SESSION_READ | SESSION_SEND,
	.size_min = 1,
	.size_max = 8192,
	.qps = 1,
	.depth = 8,
	.dscp = -1,
	.memory = { "cuda", "host" },
	.seed = 0x1234567890abcdef,
};

static int setup(void **state)
{
	struct proof_pair *pair = xcalloc(1, sizeof(*pair));

	use_cuda_double("udmabuf=0");
	*state = pair;
	return 0;
}

static int teardown(void **state)
{
	struct proof_pair *pair = *state;

	proof_pair_close(pair);
	assert_int_equal(cuda_double_count("cuda_double_objects"), 0);
	free(pair);
	return 0;
}

/* The record of an end; after a whole proof both tell the same from their sides. */
static json_t *record_of(const struct proof_pair *pair, const struct proof_side *side)
{
	json_t *mine = json_array_get(pair->a.records, 0);
	json_t *theirs = json_array_get(pair->b.records, 0);

	if (!mine || !theirs)
		fail_msg("no record: %s / %s", error_text(&pair->a.err), error_text(&pair->b.err));
	if (!pair->a.rc) {
		assert_true(json_equal(json_object_get(mine, "runs"),
				       json_object_get(theirs, "runs")));
		assert_true(json_equal(json_object_get(mine, "local"),
				       json_object_get(theirs, "peer")));
		assert_true(json_equal(json_object_get(mine, "peer"),
				       json_object_get(theirs, "local")));
	}
	return side == &pair->a ? mine : theirs;
}

static json_t *run_of(json_t *record, size_t i, const char *name)
{
	json_t *run = json_array_get(json_object_get(record, "runs"), i);

	assert_string_equal(json_get_string(run, "run", ""), name);
	return run;
}

static void expect(json_t *json, const char *pointer, const char *value)
{
	_cleanup_json_ json_t *wanted = scene_json(value);
	json_t *is = json_pointer_get(json, pointer);

	if (!is || !json_equal(is, wanted)) {
		_cleanup_free_ char *text = is ? json_to_text(is, false) : NULL;
		fail_msg("%s is %s, not %s", pointer, text ? text : "absent", value);
	}
}

static void proof_of_doubles(void **state)
{
	struct proof_pair *pair = *state;

	proof_pair_open(pair, NULL);
	proof_pair_run(pair, &gdr);
	if (pair->a.rc || pair->b.rc)
		fail_msg("%s / %s", error_text(&pair->a.err), error_text(&pair->b.err));
	for (int end = 0; end < 2; end++) {
		json_t *record = record_of(pair, end ? &pair->b : &pair->a), *run;
		size_t i, verified = 0;

		expect(record, "/kind", "'gdr'");
		expect(record, "/double", "true");
		expect(record, "/verdict/status", "'unknown'");
		expect(record, end ? "/peer/memory/gpu/bdf" : "/local/memory/gpu/bdf",
		       "'0000:1b:00.0'");
		expect(record, end ? "/peer/memory/double" : "/local/memory/double", "true");
		run = run_of(record, 0, "register");
		expect(run, "/end", "'initiator'");
		/* half of the 64 MiB that the double has */
		expect(run, "/result/largest_bytes", "33554432");
		expect(run, "/result/tried/0/length_bytes", "4096");
		expect(run, "/result/tried/0/errno", "0");
		expect(run, "/result/tried/0/call", "'ibv_reg_dmabuf_mr'");
		json_array_foreach(json_object_get(record, "runs"), i, run)
			verified += json_is_true(json_pointer_get(run, "/result/verified"));
		assert_int_equal(verified, 6);
		assert_int_equal(json_array_size(json_object_get(record, "runs")), 7);
	}
}

/* The GPU at the listening end, and the log that nobody can read. */
static void listener_has_the_gpu(void **state)
{
	struct session_parameters p = gdr;
	struct proof_pair *pair = *state;
	json_t *record;

	strcpy(p.memory[0], "host");
	strcpy(p.memory[1], "cuda");
	p.operations = SESSION_WRITE;
	proof_pair_open(pair, NULL);
	proof_pair_run(pair, &p);
	record = record_of(pair, &pair->b);
	expect(run_of(record, 0, "register"), "/end", "'listener'");
	expect(record, "/local/memory/kind", "'cuda'");
	expect(record, "/peer/memory/kind", "'host'");
	assert_non_null(json_pointer_get(record, "/local/kernel_log/why"));
	assert_non_null(json_pointer_get(record, "/runs/0/result/kernel_log_why"));
	assert_null(json_pointer_get(record, "/local/kernel_log/iommu_faults"));
}

static void chunks_where_the_iommu_translates(void **state)
{
	struct proof_pair *pair = *state;

	proof_pair_open(pair, NULL);
	scene_set(pair->a.snapshot, "/pci/devices/" PROOF_PAIR_NIC "/iommu_type", "'DMA-FQ'");
	proof_pair_run(pair, &gdr);
	expect(record_of(pair, &pair->b), "/peer/memory/dmabuf_chunk_bytes", "1073741824");
}

static void nearest_gpu(void **state)
{
	struct proof_pair *pair = *state;

	proof_pair_open(pair, NULL);
	/* the second that CUDA names hangs where the NIC does; one more is not seen by CUDA */
	scene_set(pair->a.snapshot, "/pci/devices/0000:1b:00.0",
		  "{'vendor': '0x10de', 'class': '0x030200', 'parent': null, 'root': 'pci0000:97'}");
	scene_set(pair->a.snapshot, "/pci/devices/0000:43:00.0",
		  "{'vendor': '0x10de', 'class': '0x030200', 'parent': '0000:17:00.0', 'root': "
		  "'pci0000:15'}");
	scene_set(pair->a.snapshot, "/pci/devices/0000:42:00.0",
		  "{'vendor': '0x10de', 'class': '0x030200', 'parent': '0000:17:00.0', 'root': "
		  "'pci0000:15'}");
	scene_set(pair->a.snapshot, "/pci/devices/0000:2b:00.0",
		  "{'parent': '0000:17:00.0', 'root': 'pci0000:15'}");
	scene_set(pair->a.snapshot, "/rdma/devices/double0/parent_device", "'0000:2b:00.0'");
	proof_pair_run(pair, &gdr);
	json_t *record = record_of(pair, &pair->a);

	expect(record, "/local/memory/gpu/bdf", "'0000:43:00.0'");
	expect(record, "/local/memory/gpu/why",
	       "'the nearest that CUDA sees: PIX from NIC 0000:2b:00.0'");
}

/* Another driver of the GPU makes the proof stale. */
static void fingerprint_of_the_gpu(void **state)
{
	struct proof_pair *pair = *state;
	_cleanup_json_ json_t *proofs = json_object_new();

	proof_pair_open(pair, NULL);
	scene_set(pair->a.snapshot, "/gpu", "{'driver': {'version': '580.82.07', 'open': true}}");
	proof_pair_run(pair, &gdr);
	json_append(json_arr(proofs, "gdr"), json_incref(record_of(pair, &pair->a)));
	proof_attach(&pair->a.snapshot, 1, proofs);
	expect(pair->a.snapshot, "/proofs/gdr/0/freshness/local", "{'same': true}");
	scene_set(pair->a.snapshot, "/proofs", NULL);
	scene_set(pair->a.snapshot, "/gpu/driver/version", "'580.95.05'");
	proof_attach(&pair->a.snapshot, 1, proofs);
	expect(pair->a.snapshot, "/proofs/gdr/0/freshness/local/same", "false");
	json_t *local = json_pointer_get(pair->a.snapshot, "/proofs/gdr/0/freshness/local");

	assert_has(json_get_string(local, "changed", ""),
		   "gpu version was \"580.82.07\", is \"580.95.05\"");
}

static void unknown_gpu(void **state)
{
	struct proof_pair *pair = *state;

	proof_pair_open(pair, NULL);
	pair->a.end.gpu = "0000:99:00.0";
	proof_pair_run(pair, &gdr);
	assert_int_equal(pair->a.rc, -ENODEV);
	assert_int_equal(pair->b.rc, -EREMOTEIO);
	assert_has(error_text(&pair->a.err), "GPU 0000:99:00.0: CUDA sees no such GPU; there is "
					     "0000:1B:00.0, 0000:43:00.0");
	expect(record_of(pair, &pair->b), "/runs/0/result/largest_bytes", "0");
	assert_has(json_get_string(run_of(record_of(pair, &pair->b), 1, "integrity"), "error", ""),
		   "there is 0000:1B:00.0");
}

/* Each refusal is in the records of both ends, in the field's words, and ends the proof. */
static void refused(void **state)
{
	static const struct {
		int code;
		const char *words;
	} rows[] = {
		{ EPROTONOSUPPORT, "knows no DMA-BUF" },
		{ EOPNOTSUPP, "not supported by this provider" },
		{ EINVAL, "length, offset or alignment" },
		{ ENOMEM, "no room for it" },
		{ EFAULT, "cannot be mapped" },
		{ 524, "refuses to be attached" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct proof_pair *pair = *state;
		_cleanup_free_ char *code = xasprintf("%d", rows[i].code);

		proof_pair_open(pair, &(struct verbs_double_setup){ .dmabuf_errno = rows[i].code });
		proof_pair_run(pair, &gdr);
		assert_int_equal(pair->a.rc, -rows[i].code);
		assert_int_equal(pair->b.rc, -EREMOTEIO);
		assert_has(error_text(&pair->a.err), rows[i].words);
		assert_has(error_text(&pair->b.err), rows[i].words);
		for (int end = 0; end < 2; end++) {
			json_t *record = record_of(pair, end ? &pair->b : &pair->a);
			json_t *run = run_of(record, 0, "register");

			expect(run, "/result/largest_bytes", "0");
			expect(run, "/result/tried/0/errno", code);
			assert_null(json_pointer_get(run, "/result/tried/1"));
			assert_has(json_get_string(json_pointer_get(run, "/result/tried/0"), "text",
						   ""), rows[i].words);
			assert_has(json_get_string(run_of(record, 1, "integrity"), "error", ""),
				   rows[i].words);
			expect(record, "/verdict/status", "'unknown'");
			expect(record, "/double", "true");
		}
		if (i + 1 < ARRAY_SIZE(rows)) {
			teardown(state);
			setup(state);
		}
	}
}

static void largest_length(void **state)
{
	struct proof_pair *pair = *state;

	proof_pair_open(pair, NULL);
	verbs_double_fail("reg_dmabuf_mr", 5, ENOMEM);
	proof_pair_run(pair, &gdr);
	json_t *result = json_object_get(run_of(record_of(pair, &pair->a), 0, "register"), "result");

	expect(result, "/largest_bytes", "32768");
	expect(result, "/tried/4/errno", "12");
	expect(result, "/tried/4/length_bytes", "65536");
	expect(result, "/stopped", "'this length failed'");
}

/* Host memory as a DMA-BUF, whether this machine has udmabuf or not: with --dmabuf-double the
 * mapping beneath it is registered, everything runs, and nothing is proven. */
static void udmabuf_double(void **state)
{
	struct session_parameters p = gdr;
	struct proof_pair *pair = *state;

	p.suite = SESSION_NO_SUITE;
	strcpy(p.memory[0], "udmabuf");
	strcpy(p.memory[1], "udmabuf");
	proof_pair_open(pair, &(struct verbs_double_setup){ .dmabuf_errno = EOPNOTSUPP });
	pair->a.end.dmabuf_double = pair->b.end.dmabuf_double = true;
	proof_pair_run(pair, &p);
	if (pair->a.rc || pair->b.rc)
		fail_msg("%s / %s", error_text(&pair->a.err), error_text(&pair->b.err));
	json_t *record = record_of(pair, &pair->b);

	expect(record, "/kind", "'dmabuf'");
	expect(record, "/double", "true");
	expect(record, "/verdict/status", "'unknown'");
	expect(record, "/local/memory/double", "true");
	expect(run_of(record, 0, "register"), "/end", "'initiator'");
	expect(run_of(record, 1, "register"), "/end", "'listener'");
	expect(run_of(record, 1, "register"), "/result/largest_bytes", "0");
	expect(run_of(record, 7, "integrity"), "/result/verified", "true");
	assert_non_null(json_pointer_get(record, "/local/memory/double_why"));
}

/* The step that failed is another one than the registration. */
static void export_fails(void **state)
{
	struct proof_pair *pair = *state;

	use_cuda_double("udmabuf=0 cuMemGetHandleForAddressRange=801");
	proof_pair_open(pair, NULL);
	proof_pair_run(pair, &gdr);
	json_t *run = run_of(record_of(pair, &pair->b), 0, "register");

	expect(run, "/result/tried/0/call", "'cuMemGetHandleForAddressRange'");
	expect(run, "/result/tried/0/errno", "95");
}

static void no_dmabuf_of_the_gpu(void **state)
{
	struct proof_pair *pair = *state;

	use_cuda_double("dma_buf=0");
	proof_pair_open(pair, NULL);
	proof_pair_run(pair, &gdr);
	json_t *record = record_of(pair, &pair->b);

	expect(record, "/peer/memory/gpu/dmabuf", "false");
	expect(record, "/peer/memory/gpu/bdf", "'0000:1b:00.0'");
	expect(run_of(record, 0, "register"), "/result/tried", "[]");
}

/* Both records have the completion that ended the first run, which puts bytes into GPU memory. */
static void failed_completion(void **state)
{
	static struct verbs_double_lie lie = { .kind = VERBS_DOUBLE_FAIL,
					       .status = IBV_WC_LOC_PROT_ERR, .amount = 0x81 };
	struct proof_pair *pair = *state;

	proof_pair_open(pair, NULL);
	verbs_double_lie(lie_always, &lie);
	proof_pair_run(pair, &gdr);
	for (int end = 0; end < 2; end++) {
		json_t *run = run_of(record_of(pair, end ? &pair->b : &pair->a), 1, "integrity");

		expect(run, "/reverse", "true");
		expect(run, "/completion",
		       "{'end': 'listener', 'status': 4, 'vendor_error': 129}");
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(proof_of_doubles), TEST(listener_has_the_gpu),
		TEST(chunks_where_the_iommu_translates), TEST(nearest_gpu),
		TEST(fingerprint_of_the_gpu), TEST(unknown_gpu),
		TEST(refused), TEST(largest_length), TEST(export_fails),
		TEST(udmabuf_double),
		TEST(no_dmabuf_of_the_gpu), TEST(failed_completion),
	};

	return cmocka_run_group_tests_name("gdr", tests, NULL, NULL);
}
