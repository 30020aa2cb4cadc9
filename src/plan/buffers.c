/* SPDX-License-Identifier: Apache-2.0 */
/* How much the switch must buffer, and where it should mark: computed, with what is declared. */
#include <string.h>

#include "base/alloc.h"
#include "judge/subject.h"
#include "matrix/headroom.h"
#include "plan/plan.h"
#include "site/schema.h"

/*
 * Thresholds where nothing better is known: the RoCE profile of NVIDIA Cumulus Linux 5.14 and Onyx
 * for 100 Gbit/s ports. Queues of other speeds are taken in proportion, which keeps their delay.
 */
#define ECN_MIN_BYTES 150000
#define ECN_MAX_BYTES 1500000
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

/* Highest MTU and speed of the links below RDMA ports. */
static void look_at_hosts(const struct site *site, int64_t *mtu, int64_t *speed_mbps)
{
	*mtu = 0;
	*speed_mbps = 0;
	for (size_t i = 0; i < site->n_nodes; i++) {
		const struct site_node *node = &site->nodes[i];
		_cleanup_strings_ char **links = subject_nics_of_node(node, NULL);

		for (char **name = links; name && *name; name++) {
			const struct site_link *link = site_link_find(node, *name);

			if (link && link->mtu.set && link->mtu.value > *mtu)
				*mtu = link->mtu.value;
			if (link && link->speed_mbps.set && link->speed_mbps.value > *speed_mbps)
				*speed_mbps = link->speed_mbps.value;
		}
	}
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

	if (!input->speed_mbps || !input->cable_metres || !input->port_mtu_bytes) {
		number_new(numbers, name,
			   xasprintf("not computed: declare switch/%s",
				     !input->speed_mbps	  ? "port_speed" :
				     !input->cable_metres ? "cable_metres" :
							    "mtu"),
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
	number_new(numbers, "ECN order", xstrdup("minimum < maximum < where PFC pauses (xoff)"),
		   xstrdup("else PFC pauses before a sender was told to slow down"),
		   "Intel guide 635330", NULL);
}

json_t *plan_buffers(const struct site *site, const struct matrix *matrix)
{
	json_t *section = json_object_get(site->document, "switch"), *buffers, *numbers;
	int64_t host_mtu, host_speed;

	if (!section)
		return NULL;
	look_at_hosts(site, &host_mtu, &host_speed);
	struct headroom_input input = {
		.speed_mbps = number_of(json_object_get(section, "port_speed"),
					schema_convert_speed),
		.cable_metres = json_get_int(section, "cable_metres", 0),
		.port_mtu_bytes = json_get_int(section, "mtu", 0),
		.cell_bytes = number_of(json_object_get(section, "cell"), schema_convert_bytes),
	};

	if (!input.speed_mbps)
		input.speed_mbps = host_speed;
	input.mtu_bytes = host_mtu ? host_mtu : input.port_mtu_bytes;
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
