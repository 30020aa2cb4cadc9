/* SPDX-License-Identifier: Apache-2.0 */
/* What runs are made of: sizes, speeds and their steadiness, times, the header of a UD message. */
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "prove/run_grh.h"
#include "prove/run_histogram.h"
#include "prove/run_samples.h"
#include "prove/run_sizes.h"
#include "prove/run_wait.h"

static bool has_size(const struct run_sizes *sizes, size_t size)
{
	for (size_t i = 0; i < sizes->n; i++)
		if (sizes->size[i] == size)
			return true;
	return false;
}

static void sizes(void **state RH_UNUSED)
{
	static const size_t some[] = { 1, 2, 3, 4, 5, 7, 9, 63, 65, 1023, 1024, 1025, 2047, 2049, 4095, 4096,
				       4097, 65535, 65537, (1 << 20) - 1, (1 << 20) + 1,
				       (64 << 20) - 1, 64 << 20 };
	_cleanup_run_sizes_ struct run_sizes all = {0};

	run_sizes_make(&all, 1, 64 << 20, 1024);
	for (size_t i = 0; i < ARRAY_SIZE(some); i++)
		assert_true(has_size(&all, some[i]));
	for (size_t i = 1; i < all.n; i++)
		assert_true(all.size[i - 1] < all.size[i]);

	run_sizes_make(&all, 5000, 5000, 1024);
	assert_int_equal(all.n, 1);
	assert_int_equal(all.size[0], 5000);

	run_sizes_make(&all, 100, 700, 1024);
	assert_int_equal(all.size[0], 100);
	assert_true(has_size(&all, 400));
	assert_int_equal(all.size[all.n - 1], 700);
}

/* `rate` messages in each of `n` samples; every other one is `off` more. */
static void samples_of(struct run_samples *samples, size_t n, uint64_t rate, uint64_t off,
		       uint64_t drift)
{
	uint64_t messages = 0;

	run_samples_begin(samples, (double)n * RUN_SAMPLE_NS / 1e9);
	for (size_t i = 1; i <= n; i++) {
		messages += rate + (i % 2 ? off : 0) + i * drift;
		assert_true(run_samples_add(samples, i * RUN_SAMPLE_NS, messages));
	}
}

static bool is_steady(uint64_t off, uint64_t drift)
{
	_cleanup_run_samples_ struct run_samples samples = {0};

	samples_of(&samples, 40, 1000, off, drift);
	_cleanup_json_ json_t *speed = run_samples_speed(&samples, 1000, 40000, 2000000000);
	assert_non_null(json_get_string(speed, "steady_why", NULL));
	return json_get_bool(speed, "steady", false);
}

static void steadiness(void **state RH_UNUSED)
{
	assert_true(is_steady(0, 0));
	assert_true(is_steady(100, 0));
	assert_false(is_steady(500, 0));
	assert_false(is_steady(0, 10));
}

/* The warm-up does not count, and what was not a whole sample. */
static void speed(void **state RH_UNUSED)
{
	_cleanup_run_samples_ struct run_samples samples = {0};
	uint64_t messages = 0;

	run_samples_begin(&samples, 2);
	assert_false(run_samples_add(&samples, RUN_SAMPLE_NS - 1, 1));
	for (size_t i = 1; i <= 40; i++) {
		messages += i <= 10 ? 1 : i == 40 ? 77 : 500;
		assert_true(run_samples_add(&samples, i * RUN_SAMPLE_NS, messages));
	}
	_cleanup_json_ json_t *told = run_samples_speed(&samples, 1000, messages, 2000000000);
	/* 500 messages of 8000 bits in 50 ms */
	assert_true(fabs(json_real_value(json_object_get(told, "gbit_per_s")) - 0.08) < 1e-9);
	assert_true(fabs(json_real_value(json_object_get(told, "messages_per_s")) - 10000) < 1e-6);
	assert_true(json_get_bool(told, "steady", false));
	assert_int_equal(json_get_int(told, "bytes", 0), messages * 1000);
	assert_int_equal(json_array_size(json_object_get(told, "samples_gbit_per_s")), 40);

	_cleanup_run_samples_ struct run_samples none = {0};
	run_samples_begin(&none, 0);
	_cleanup_json_ json_t *little = run_samples_speed(&none, 8, 10, 1000);
	assert_false(json_get_bool(little, "steady", true));
	assert_true(fabs(json_real_value(json_object_get(little, "gbit_per_s")) - 0.64) < 1e-9);
}

/* On a slow network everything may be done between two samples, before the middle or behind it. */
static void speed_of_lumps(void **state RH_UNUSED)
{
	_cleanup_run_samples_ struct run_samples samples = {0};

	run_samples_begin(&samples, 2);
	for (size_t i = 1; i <= 40; i++)
		assert_true(run_samples_add(&samples, i * RUN_SAMPLE_NS, i < 5 ? 0 : 32));
	_cleanup_json_ json_t *told = run_samples_speed(&samples, 1000000, 64, 4000000000);
	/* 64 messages of 8 million bits in 4 s */
	assert_true(fabs(json_real_value(json_object_get(told, "gbit_per_s")) - 0.128) < 1e-9);
	assert_true(fabs(json_real_value(json_object_get(told, "messages_per_s")) - 16) < 1e-9);
	assert_non_null(strstr(json_get_string(told, "derivation", ""), "all messages of the run"));
	assert_false(json_get_bool(told, "steady", true));
	assert_non_null(strstr(json_get_string(told, "steady_why", ""), "fewer than 8"));
}

/* Only the last look of a row gives the processor away, and sees the clock. */
static void waits(void **state RH_UNUSED)
{
	struct run_wait wait = run_wait_begin(3, 0), patient = run_wait_begin(1, 3600000);

	assert_false(run_wait_idle(&wait));
	assert_false(run_wait_idle(&wait));
	assert_true(wait.begun_ns == 0);
	assert_false(run_wait_idle(&wait));
	assert_true(wait.begun_ns > 0);
	assert_false(run_wait_is_over(&wait));
	while (!run_wait_idle(&wait))
		;
	assert_true(run_wait_is_over(&wait));
	while (!run_wait_idle(&patient))
		;
	assert_false(run_wait_is_over(&patient));
}

/* On one processor no look is in vain: whoever brings the message needs it. */
static void spins_on_several_processors_only(void **state RH_UNUSED)
{
	cpu_set_t all, one;
	int cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	assert_true(CPU_COUNT(&all) == 1 || run_wait_spin() > 1);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(run_wait_spin(), 1);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

static void histogram(void **state RH_UNUSED)
{
	uint64_t ns[1000];

	for (size_t i = 0; i < ARRAY_SIZE(ns); i++)
		ns[i] = (i * 7 % 1000) + 1;
	_cleanup_json_ json_t *told = run_histogram(ns, ARRAY_SIZE(ns));
	static const struct {
		const char *key;
		json_int_t ns;
	} wanted[] = { { "min_ns", 1 },	  { "mean_ns", 500 }, { "median_ns", 500 },
		       { "p99_ns", 990 }, { "p99_9_ns", 999 }, { "max_ns", 1000 } };
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		assert_int_equal(json_get_int(told, wanted[i].key, -1), wanted[i].ns);
	json_t *bucket = json_at(told, "/histogram/9");
	assert_int_equal(json_get_int(bucket, "from_ns", 0), 512);
	assert_int_equal(json_get_int(bucket, "to_ns", 0), 1023);
	assert_int_equal(json_get_int(bucket, "count", 0), 489);

	uint64_t some[] = { 0, 1, UINT64_MAX };
	_cleanup_json_ json_t *edges = run_histogram(some, ARRAY_SIZE(some));
	assert_int_equal(json_array_size(json_object_get(edges, "histogram")), 2);
	_cleanup_json_ json_t *none = run_histogram(some, 0);
	assert_int_equal(json_get_int(none, "samples", -1), 0);
}

/* 20 bytes of anything, and an IPv4 header of UDP with this ToS. */
static void ipv4(uint8_t area[GRH_BYTES], uint8_t tos)
{
	static const uint8_t header[20] = { 0x45, 0, 0, 60, 0, 1, 0x40, 0, 64, 17, 0, 0,
					    192, 0, 2, 1, 192, 0, 2, 2 };
	uint32_t sum = 0;

	memset(area, 0x60, 20);
	memcpy(area + 20, header, sizeof(header));
	area[21] = tos;
	for (unsigned i = 20; i < 40; i += 2)
		sum += (uint32_t)area[i] << 8 | area[i + 1];
	sum = ~((sum & 0xffff) + (sum >> 16));
	area[30] = (uint8_t)(sum >> 8);
	area[31] = (uint8_t)sum;
}

static void grh_of_ipv4(void **state RH_UNUSED)
{
	uint8_t area[GRH_BYTES];
	struct grh grh;

	ipv4(area, 24 << 2 | 2);
	assert_true(run_grh_read(&grh, area));
	assert_int_equal(grh.ip_version, 4);
	assert_int_equal(grh.dscp, 24);
	assert_int_equal(grh.ecn, 2);
	/* also where the bytes before it look like IPv6 of UDP */
	area[6] = 17;
	assert_true(run_grh_read(&grh, area));
	assert_int_equal(grh.ip_version, 4);

	area[21] ^= 4;
	area[6] = 0;
	assert_false(run_grh_read(&grh, area));
	assert_string_equal(grh.why, "an IPv4 header with a wrong checksum");
	ipv4(area, 0);
	area[29] = 6;
	assert_false(run_grh_read(&grh, area));
	assert_string_equal(grh.why, "an IPv4 header, but not of UDP");
	ipv4(area, 0);
	area[20] = 0x46;
	assert_false(run_grh_read(&grh, area));
}

static void grh_of_ipv6(void **state RH_UNUSED)
{
	uint8_t area[GRH_BYTES] = { 0x66, 0x21, 0x23, 0x45, 0, 60, 17, 64, 0x20, 1, 0xd, 0xb8 };
	struct grh grh;

	assert_true(run_grh_read(&grh, area));
	assert_int_equal(grh.ip_version, 6);
	assert_int_equal(grh.dscp, 24);
	assert_int_equal(grh.ecn, 2);
	area[6] = 27;
	assert_true(run_grh_read(&grh, area));
	area[6] = 6;
	assert_false(run_grh_read(&grh, area));
	assert_non_null(grh.why);
	memset(area, 0, sizeof(area));
	assert_false(run_grh_read(&grh, area));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),	   cmocka_unit_test(steadiness),
		cmocka_unit_test(speed),	   cmocka_unit_test(speed_of_lumps),
		cmocka_unit_test(waits),	   cmocka_unit_test(spins_on_several_processors_only),
		cmocka_unit_test(histogram),
		cmocka_unit_test(grh_of_ipv4),	   cmocka_unit_test(grh_of_ipv6),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
