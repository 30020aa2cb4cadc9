/* SPDX-License-Identifier: Apache-2.0 */
/* How much the switch must buffer, and where it should mark: computed, with what is declared. */
#include <string.h>

#include "base/alloc.h"
#include "matrix/headroom.h"
#include "plan/plan.h"
#include "site/schema.h"

/*
 * Thresholds where nothing better is known: the RoCE profile of NVIDIA Cumulus Linux 5.14 and Onyx
 * for 100 Gbit/s ports. Queues of other speeds are taken in proportion, which keeps their delay.
 */
#define ECN_MIN_BYTES 150000
#define ECN_MAX_BYTES 1500000
#define ECN_PROBABILITY_PERCENT 100
#define ECN_SPEED_MBPS 100000
#define ECN_SOURCE "NVIDIA Cumulus Linux 5.14, Quality of Service (default RoCE profile)"

static int64_t number_of(json_t *value, bool (*convert)(const char *text, int64_t *value))
{
	int64_t number;

	if (json_is_integer(value))
		return json_integer_value(value);
	if (json_is_string(value) && convert(json_string_value(value), &number))
		return number;
	return 0;
}

/* Numbers with a unit stay as they are written. */
static char *as_written(json_t *value)
{
	if (json_is_string(value))
		return xstrdup(json_string_value(value));
	if (json_is_integer(value))
		return xasprintf("%lld", (long long)json_integer_value(value));
	return NULL;
}

/* Largest frame that common switches carry: 9000 bytes and what belongs around them. */
#define PORT_MTU_USUAL 9216

/* Highest declared speed of a node with RDMA ports, 0: none. */
static int64_t fastest_host(const struct site *site)
{
	int64_t fastest = 0;

	for (size_t i = 0; i < site->n_nodes; i++) {
		const struct site_node *node = &site->nodes[i];

		for (size_t k = 0; node->n_rdma && k < node->n_links; k++) {
			const struct site_number *speed = &node->links[k].speed_mbps;

			if (speed->set && speed->value > fastest)
				fastest = speed->value;
		}
	}
	return fastest;
}

/* One number of the table that reports show; `formula` and `value` are taken over. */
static json_t *number_new(json_t *numbers, const char *name, char *value, char *formula,
			  const char *source, json_t *declared)
{
	_cleanup_free_ char *written = as_written(declared);
	json_t *one = json_object_new();

	json_put_string(one, "name", name);
	json_put_string(one, "value", value);
	json_put_string(one, "declared", written);
	json_put_string(one, "formula", formula);
	json_put_string(one, "source", source);
	json_append(numbers, one);
	free(value);
	free(formula);
	return one;
}

/* 1 KiB and above in KiB, rounded up: what a switch is configured with. */
static char *size_text(int64_t bytes)
{
	return xasprintf("%lld KiB", (long long)((bytes + 1023) / 1024));
}

static void put_headroom(json_t *numbers, const struct headroom_input *input,
			 const struct matrix *matrix, json_t *section)
{
	static const char name[] = "PFC headroom";
	static const char source[] =
		"sonic-net/SONiC doc/qos/dynamically-headroom-calculation.md; IEEE 802.3 31B.3.7";
	json_t *declared = json_object_get(section, "headroom"), *one;
	struct headroom need = headroom_compute(matrix, input);

	if (!input->speed_mbps || !input->cable_metres) {
		number_new(numbers, name,
			   xasprintf("not computed: declare switch/%s",
				     input->speed_mbps ? "cable_metres" : "port_speed"),
			   NULL, source, declared);
		return;
	}
	if (!need.known) {
		number_new(numbers, name, headroom_text(input, &need), NULL, source, declared);
		return;
	}
	_cleanup_free_ char *low = size_text(need.low_bytes);
	_cleanup_free_ char *high = size_text(need.high_bytes);
	one = number_new(numbers, name,
			 xasprintf("%s to %s, for each lossless priority of a port", low, high),
			 headroom_text(input, &need), source, declared);
	json_put_int(one, "low_bytes", need.low_bytes);
	json_put_int(one, "high_bytes", need.high_bytes);
	if (declared)
		json_put_int(one, "declared_bytes", number_of(declared, schema_convert_bytes));
}

static void put_threshold(json_t *numbers, const char *name, int64_t at_100g, int64_t speed_mbps,
			  json_t *declared)
{
	int64_t bytes = speed_mbps ? (int64_t)((__int128)at_100g * speed_mbps / ECN_SPEED_MBPS) :
				     at_100g;
	bool other = speed_mbps && speed_mbps != ECN_SPEED_MBPS;
	json_t *one = number_new(
		numbers, name, xasprintf("%lld kB", (long long)(bytes / 1000)),
		other ? xasprintf("%lld kB of a 100G port * %lld / 100000 Mb/s (inferred: the same "
				  "delay of the queue)", (long long)(at_100g / 1000),
				  (long long)speed_mbps) :
			NULL,
		ECN_SOURCE, declared);

	json_put_int(one, "low_bytes", bytes);
	json_put_int(one, "high_bytes", bytes);
	if (declared)
		json_put_int(one, "declared_bytes", number_of(declared, schema_convert_bytes));
}

static void put_ecn(json_t *numbers, int64_t speed_mbps, json_t *section, bool wanted)
{
	json_t *ecn = json_object_get(section, "ecn");

	if (!ecn && !wanted)
		return;
	put_threshold(numbers, "ECN minimum", ECN_MIN_BYTES, speed_mbps,
		      json_object_get(ecn, "min"));
	put_threshold(numbers, "ECN maximum", ECN_MAX_BYTES, speed_mbps,
		      json_object_get(ecn, "max"));
	number_new(numbers, "ECN probability",
		   xasprintf("%d %% at the maximum", ECN_PROBABILITY_PERCENT), NULL, ECN_SOURCE,
		   json_object_get(ecn, "probability"));
	number_new(numbers, "ECN order", xstrdup("minimum < maximum < where PFC pauses (xoff)"),
		   xstrdup("else PFC pauses before a sender was told to slow down"),
		   "Intel guide 635330", NULL);
}

/* The same numbers as gate plan.headroom takes: a frame of any size that the port carries may belong
 * to the lossless class. */
json_t *plan_buffers(const struct site *site, const struct matrix *matrix)
{
	json_t *section = json_object_get(site->document, "switch"), *buffers, *numbers;

	if (!section)
		return NULL;
	struct headroom_input input = {
		.speed_mbps = number_of(json_object_get(section, "port_speed"),
					schema_convert_speed),
		.cable_metres = json_get_int(section, "cable_metres", 0),
		.port_mtu_bytes = json_get_int(section, "mtu", PORT_MTU_USUAL),
		.cell_bytes = number_of(json_object_get(section, "cell"), schema_convert_bytes),
	};

	if (!input.speed_mbps)
		input.speed_mbps = fastest_host(site);
	input.mtu_bytes = input.port_mtu_bytes;
	buffers = json_object_new();
	json_put_int(buffers, "speed_mbps", input.speed_mbps);
	json_put_int(buffers, "cable_metres", input.cable_metres);
	json_put_int(buffers, "mtu_bytes", input.mtu_bytes);
	json_put_int(buffers, "port_mtu_bytes", input.port_mtu_bytes);
	if (input.cell_bytes)
		json_put_int(buffers, "cell_bytes", input.cell_bytes);
	numbers = json_arr(buffers, "numbers");
	put_headroom(numbers, &input, matrix, section);
	put_ecn(numbers, input.speed_mbps, section,
		site->qos.ecn.set && site->qos.ecn.value);
	return buffers;
}
