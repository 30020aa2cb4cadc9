/* SPDX-License-Identifier: Apache-2.0 */
#include "matrix/headroom.h"

#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "site/schema.h"

#define QUANTUM_BYTES 64	/* 512 bit times */
#define MINIMAL_FRAME_BYTES 64
/* mbps * metres / (2e8 m/s) in bytes: 1e6 / 8 / 2e8 */
#define MBPS_METRES_PER_BYTE 1600

/* value * numerator / denominator, rounded up. */
static int64_t scaled(int64_t value, int64_t numerator, int64_t denominator)
{
	__int128 product = (__int128)value * numerator;
	__int128 result = (product + denominator - 1) / denominator;

	return result > INT64_MAX ? INT64_MAX : (int64_t)result;
}

static int64_t sum(int64_t a, int64_t b)
{
	int64_t result;

	return __builtin_add_overflow(a, b, &result) ? INT64_MAX : result;
}

static json_t *row_of_speed(const struct matrix *matrix, int64_t mbps)
{
	json_t *row;
	size_t i;

	json_array_foreach(matrix_rows(matrix, "pause-quanta"), i, row) {
		int64_t speed;

		if (schema_convert_speed(json_get_string(row, "speed", ""), &speed) && speed == mbps)
			return row;
	}
	return NULL;
}

static void set_worst_case(struct headroom *h, int64_t cell)
{
	h->worst_numerator = 2;
	h->worst_denominator = 1;
	if (cell > 2 * MINIMAL_FRAME_BYTES) {
		h->worst_numerator = cell;
		h->worst_denominator = MINIMAL_FRAME_BYTES;
	} else if (cell > 0) {
		h->worst_numerator = 2 * cell;
		h->worst_denominator = cell + 1;
	}
}

struct headroom headroom_compute(const struct matrix *matrix, const struct headroom_input *input)
{
	json_t *quanta = row_of_speed(matrix, input->speed_mbps);
	json_t *phy = matrix_row(matrix, "buffers", "item", "mac-phy-delay");
	struct headroom h = { .row = quanta };

	if (!quanta || !phy)
		return h;
	h.known = true;
	h.quanta = json_get_int(quanta, "quanta", 0);
	h.response_bytes = h.quanta * QUANTUM_BYTES;
	h.cable_bytes = scaled(2 * input->cable_metres, input->speed_mbps, MBPS_METRES_PER_BYTE);
	h.phy_bytes = json_get_int(phy, "bytes", 0);
	set_worst_case(&h, input->cell_bytes);

	int64_t delay = sum(sum(input->port_mtu_bytes, h.cable_bytes),
			    sum(h.phy_bytes, h.response_bytes));
	h.low_bytes = sum(input->mtu_bytes, delay);
	h.high_bytes = sum(input->mtu_bytes,
			   scaled(delay, h.worst_numerator, h.worst_denominator));
	if (input->cell_bytes > 0) {
		h.low_bytes = scaled(scaled(h.low_bytes, 1, input->cell_bytes), input->cell_bytes, 1);
		h.high_bytes =
			scaled(scaled(h.high_bytes, 1, input->cell_bytes), input->cell_bytes, 1);
	}
	return h;
}

char *headroom_text(const struct headroom_input *input, const struct headroom *h)
{
	struct strbuf b = {0};

	if (!h->known)
		return xasprintf("not computed: the support matrix has no pause quanta for %lld Mb/s",
				 (long long)input->speed_mbps);
	strbuf_printf(&b, "%lld + (%lld + %lld for %lld m of cable + %lld MAC and PHY + %lld quanta * %d) * ",
		      (long long)input->mtu_bytes, (long long)input->port_mtu_bytes,
		      (long long)h->cable_bytes, (long long)input->cable_metres,
		      (long long)h->phy_bytes, (long long)h->quanta, QUANTUM_BYTES);
	if (h->worst_denominator == 1)
		strbuf_printf(&b, "1 to %lld", (long long)h->worst_numerator);
	else
		strbuf_printf(&b, "1 to %lld/%lld in cells of %lld", (long long)h->worst_numerator,
			      (long long)h->worst_denominator, (long long)input->cell_bytes);
	strbuf_printf(&b, " = %lld to %lld bytes", (long long)h->low_bytes, (long long)h->high_bytes);
	return strbuf_steal(&b);
}
