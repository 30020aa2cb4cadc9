/* SPDX-License-Identifier: Apache-2.0 */
/* How much the switch must buffer, and where it should mark: computed, with what is declared. */
#include "base/alloc.h"
#include "matrix/buffers.h"
#include "plan/plan.h"

/* Numbers with a unit stay as they are written. */
static char *as_written(json_t *value)
{
	if (json_is_string(value))
		return xstrdup(json_string_value(value));
	if (json_is_integer(value))
		return xasprintf("%lld", (long long)json_integer_value(value));
	return NULL;
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

static void put_headroom(json_t *numbers, const struct switch_buffers *buffers,
			 const struct matrix *matrix, json_t *section)
{
	const struct headroom_input *input = &buffers->input;

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
		json_put_int(one, "declared_bytes", buffers->headroom_bytes);
}

/* One threshold: `usual` bytes, of which `of_row` stand in the matrix. */
static void put_threshold(json_t *numbers, const char *name, int64_t usual, json_t *of_row,
			  const struct ecn_thresholds *ecn, int64_t declared_bytes,
			  json_t *declared)
{
	char *formula = NULL;

	if (ecn->scaled)
		formula = xasprintf("%lld kB of a %s port, in proportion to the speed (inferred: "
				    "the same delay of the queue)",
				    (long long)json_integer_value(of_row) / 1000,
				    json_get_string(ecn->row, "speed", "?"));
	json_t *one = number_new(numbers, name, xasprintf("%lld kB", (long long)(usual / 1000)),
				 formula, json_get_string(ecn->row, "source", NULL), declared);

	json_put_int(one, "low_bytes", usual);
	json_put_int(one, "high_bytes", usual);
	if (declared)
		json_put_int(one, "declared_bytes", declared_bytes);
}

static void put_ecn(json_t *numbers, const struct switch_buffers *buffers,
		    const struct matrix *matrix, json_t *section, bool wanted)
{
	json_t *declared = json_object_get(section, "ecn");
	struct ecn_thresholds ecn;

	if ((!declared && !wanted) ||
	    !ecn_thresholds_usual(&ecn, matrix, buffers->input.speed_mbps))
		return;
	put_threshold(numbers, "ECN minimum", ecn.min_bytes, json_object_get(ecn.row, "min"), &ecn,
		      buffers->ecn_min_bytes, json_object_get(declared, "min"));
	put_threshold(numbers, "ECN maximum", ecn.max_bytes, json_object_get(ecn.row, "max"), &ecn,
		      buffers->ecn_max_bytes, json_object_get(declared, "max"));
	number_new(numbers, "ECN probability", xasprintf("%d %% at the maximum", ecn.percent), NULL,
		   json_get_string(ecn.row, "source", NULL),
		   json_object_get(declared, "probability"));
	number_new(numbers, "ECN order", xstrdup("minimum < maximum < where PFC pauses (xoff)"),
		   xstrdup("else PFC pauses before a sender was told to slow down"),
		   "Intel guide 635330", NULL);
}

json_t *plan_buffers(const struct site *site, const struct matrix *matrix)
{
	json_t *section = json_object_get(site->document, "switch"), *buffers, *numbers;
	struct switch_buffers b = switch_buffers_of(site);

	if (!b.declared)
		return NULL;
	buffers = json_object_new();
	json_put_int(buffers, "speed_mbps", b.input.speed_mbps);
	json_put_int(buffers, "cable_metres", b.input.cable_metres);
	json_put_int(buffers, "mtu_bytes", b.input.mtu_bytes);
	json_put_int(buffers, "port_mtu_bytes", b.input.port_mtu_bytes);
	if (b.input.cell_bytes)
		json_put_int(buffers, "cell_bytes", b.input.cell_bytes);
	numbers = json_arr(buffers, "numbers");
	put_headroom(numbers, &b, matrix, section);
	put_ecn(numbers, &b, matrix, section, site->qos.ecn.set && site->qos.ecn.value);
	return buffers;
}
