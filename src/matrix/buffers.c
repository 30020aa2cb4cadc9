/* SPDX-License-Identifier: Apache-2.0 */
#include "matrix/buffers.h"

#include "site/schema.h"

/* Largest frame that common switches carry: 9000 bytes and what belongs around them. */
#define PORT_MTU_USUAL 9216

/* Numbers with a unit stay as they are written: "128KiB". */
static int64_t number_of(json_t *section, const char *key,
			 bool (*convert)(const char *text, int64_t *value), int64_t fallback)
{
	json_t *value = json_object_get(section, key);
	int64_t number;

	if (json_is_integer(value))
		return json_integer_value(value);
	if (json_is_string(value) && convert(json_string_value(value), &number))
		return number;
	return fallback;
}

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

struct switch_buffers switch_buffers_of(const struct site *site)
{
	json_t *section = json_object_get(site->document, "switch");
	json_t *ecn = json_object_get(section, "ecn");
	struct switch_buffers b = {
		.declared = section,
		.input = {
			.speed_mbps = number_of(section, "port_speed", schema_convert_speed, 0),
			.cable_metres = json_get_int(section, "cable_metres", 0),
			.port_mtu_bytes = json_get_int(section, "mtu", 0),
			.cell_bytes = number_of(section, "cell", schema_convert_bytes, 0),
		},
		.headroom_bytes = number_of(section, "headroom", schema_convert_bytes, 0),
		.ecn_min_bytes = number_of(ecn, "min", schema_convert_bytes, 0),
		.ecn_max_bytes = number_of(ecn, "max", schema_convert_bytes, 0),
		.ecn_percent = (int)number_of(ecn, "probability", schema_convert_percent, -1),
	};

	if (!b.input.speed_mbps) {
		b.speed_of_hosts = true;
		b.input.speed_mbps = fastest_host(site);
	}
	if (!b.input.port_mtu_bytes) {
		b.mtu_assumed = true;
		b.input.port_mtu_bytes = PORT_MTU_USUAL;
	}
	b.input.mtu_bytes = b.input.port_mtu_bytes;
	b.cell_unknown = !b.input.cell_bytes;
	return b;
}

bool ecn_thresholds_usual(struct ecn_thresholds *ecn, const struct matrix *matrix,
			  int64_t speed_mbps)
{
	json_t *rows = matrix_rows(matrix, "ecn"), *row, *best = json_array_get(rows, 0);
	int64_t of_row = 0;
	size_t i;

	json_array_foreach(rows, i, row) {
		if (number_of(row, "speed", schema_convert_speed, 0) == speed_mbps)
			best = row;
	}
	if (!best)
		return false;
	*ecn = (struct ecn_thresholds){
		.min_bytes = json_get_int(best, "min", 0),
		.max_bytes = json_get_int(best, "max", 0),
		.percent = (int)number_of(best, "probability", schema_convert_percent, 0),
		.row = best,
	};
	of_row = number_of(best, "speed", schema_convert_speed, 0);
	ecn->scaled = speed_mbps && of_row && of_row != speed_mbps;
	if (ecn->scaled) {
		ecn->min_bytes = (int64_t)((__int128)ecn->min_bytes * speed_mbps / of_row);
		ecn->max_bytes = (int64_t)((__int128)ecn->max_bytes * speed_mbps / of_row);
	}
	return true;
}
