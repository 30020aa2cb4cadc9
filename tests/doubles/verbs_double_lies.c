/* SPDX-License-Identifier: Apache-2.0 */
/* How the double moves bytes, and how it does so wrongly when a test wants it. */
#include <string.h>

#include "base/alloc.h"
#include "doubles/verbs_double_internal.h"

/* Bytes that went to a place: the last of each place, for stale deliveries; and duplicates that
 * wait for their time. */
struct kept {
	struct kept *next;
	const struct dbl_mr *target;
	uint64_t destination;
	uint32_t length;
	uint64_t due;	/* duplicates: when dbl.serial is this */
	unsigned char *bytes;
};
static struct kept *places, *duplicates;

struct verbs_double_lie dbl_ask(const struct dbl_qp *qp, const struct dbl_send *send,
				uint64_t destination, uint8_t tos)
{
	const struct verbs_double_operation operation = {
		.serial = dbl.serial++,
		.opcode = send->wr.opcode,
		.qpn = qp->base.qp_num,
		.destination = destination,
		.length = send->sge.length,
		.tos = tos,
	};
	struct verbs_double_lie honest = {VERBS_DOUBLE_HONEST};

	return dbl.hook ? dbl.hook(dbl.hook_arg, &operation) : honest;
}

/* The last byte comes last, as a program that waits for it expects of a NIC. */
static void put(unsigned char *to, const unsigned char *from, size_t length)
{
	if (!length)
		return;
	memmove(to, from, length - 1);
	__atomic_store_n(to + length - 1, from[length - 1], __ATOMIC_RELEASE);
}

static struct kept *keep(struct kept **list, const struct dbl_mr *target, uint64_t destination,
			 const unsigned char *from, uint32_t length)
{
	struct kept *k = xcalloc(1, sizeof(*k));

	k->target = target;
	k->destination = destination;
	k->length = length;
	k->bytes = xmalloc(length + 1);
	memcpy(k->bytes, from, length);
	k->next = *list;
	*list = k;
	return k;
}

static void drop(struct kept **link)
{
	struct kept *k = *link;

	*link = k->next;
	free(k->bytes);
	free(k);
}

static struct kept **place(const struct dbl_mr *target, uint64_t destination)
{
	struct kept **link = &places;

	while (*link && ((*link)->target != target || (*link)->destination != destination))
		link = &(*link)->next;
	return link;
}

void dbl_move(const struct verbs_double_lie *lie, const struct dbl_mr *target, uint64_t destination,
	      const unsigned char *from, uint32_t length)
{
	unsigned char *to = dbl_mr_bytes(target, destination);
	uint32_t amount = lie->amount ? lie->amount : 1;
	uint64_t room = target->iova + target->base.length - destination;
	struct kept **before;

	if (!length)
		return;
	if (!dbl.hook) {
		put(to, from, length);
		return;
	}
	before = place(target, destination);
	if (lie->kind == VERBS_DOUBLE_STALE && *before)
		put(to, (*before)->bytes, length < (*before)->length ? length : (*before)->length);
	/* What should be there now; taken before source and target can overlap. */
	if (*before)
		drop(before);
	from = keep(&places, target, destination, from, length)->bytes;
	if (lie->kind == VERBS_DOUBLE_DUPLICATE)
		keep(&duplicates, target, destination, from, length)->due = dbl.serial + amount;

	switch (lie->kind) {
	case VERBS_DOUBLE_DROP:
	case VERBS_DOUBLE_LOSE:
	case VERBS_DOUBLE_STALE:
	case VERBS_DOUBLE_FAIL:
		break;
	case VERBS_DOUBLE_HONEST:
	case VERBS_DOUBLE_DUPLICATE:
	case VERBS_DOUBLE_REMARK:
		put(to, from, length);
		break;
	case VERBS_DOUBLE_SHIFT:
		if (room > amount)
			put(to + amount, from, length < room - amount ? length : room - amount);
		break;
	case VERBS_DOUBLE_TRUNCATE:
		put(to, from, length > amount ? length - amount : 0);
		break;
	case VERBS_DOUBLE_CORRUPT:
		put(to, from, length);
		to[lie->amount % length] ^= 0x10;
		break;
	}
}

void dbl_operation_over(void)
{
	struct kept **link = &duplicates;

	while (*link) {
		const struct kept *k = *link;

		if (k->due > dbl.serial) {
			link = &(*link)->next;
			continue;
		}
		put(dbl_mr_bytes(k->target, k->destination), k->bytes, k->length);
		drop(link);
	}
}

static void forget(struct kept **link, const struct dbl_mr *mr)
{
	while (*link) {
		if (mr && (*link)->target != mr)
			link = &(*link)->next;
		else
			drop(link);
	}
}

void dbl_lies_forget(const struct dbl_mr *mr)
{
	forget(&places, mr);
	forget(&duplicates, mr);
}
