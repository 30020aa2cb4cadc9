/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A RoCE v2 provider within the process, behind `struct verbs`: what is posted on one QP arrives at
 * the QP that it is connected to, whichever thread owns that. It is strict where providers are
 * lenient: keys, bounds and access rights, the steps of a QP, the attributes of each step, PSNs and
 * queue lengths. What a program must never do is kept as a complaint; a test ends with
 *
 *	assert_null(verbs_double_complaint());
 *
 * Each device ("double0", "double1", …) has one port with two GIDs: index 0 is link-local, index 1
 * is the IPv4-mapped 192.0.2.(1 + n). There is no cable: every device reaches every other.
 *
 * Operations are carried out in order, by the thread that posts or polls. A SEND without a receive
 * at the other end waits for one, and whatever stands behind it waits too; with an RNR retry count
 * below 7 each poll of its CQ is a try. An operation to a QP that is not ready to receive waits; to
 * one that does not exist, or has other PSNs, MTU or GIDs, it ends with IBV_WC_RETRY_EXC_ERR.
 */
#pragma once

#include "host/verbs.h"

struct verbs_double_setup {
	unsigned devices;	/* 0: two */
	enum ibv_mtu mtu[8];	/* active MTU of each device's port; 0: 1024 */
	bool port_down;
	int dmabuf_errno;	/* reg_dmabuf_mr() of this provider fails so, as EOPNOTSUPP */
	bool no_inline;		/* create_qp() refuses to be asked for inline data */
	bool no_dmabuf;		/* a library without ibv_reg_dmabuf_mr() */
};

/* A fresh provider; forgets everything of an earlier one. NULL: two devices, MTU 1024. */
void verbs_double_reset(const struct verbs_double_setup *setup);
/* Its calls. */
const struct verbs *verbs_double(void);

/* What the program did wrong first: overflow of a send queue, a receive queue or a CQ, several SGEs,
 * RESET of a fresh QP, objects destroyed while others use them, double frees. NULL: nothing. */
const char *verbs_double_complaint(void);
/* Objects not destroyed, over all kinds. A test that ends cleanly has 0. */
unsigned verbs_double_objects(void);
/* The named call ("alloc_pd", "modify_qp", "post_send", …) fails with errno `code` from its
 * `nth` call on, counted from now and from 1. `call` NULL: none fails. */
void verbs_double_fail(const char *call, unsigned nth, int code);
/* What the application asked for. -1 where there is no such QP. */
struct verbs_double_qp {
	enum ibv_qp_state state;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;	/* everything that modify_qp() was given */
	uint64_t posted, signalled;	/* of the send queue */
	unsigned longest_unsignalled;	/* run of operations */
};
int verbs_double_qp_state(uint32_t qpn, struct verbs_double_qp *qp);
/* The QP goes to error as if its link had died: all that stands in its queues is flushed. */
void verbs_double_break(uint32_t qpn);

/* --- lies --- */

enum verbs_double_lie_kind {
	VERBS_DOUBLE_HONEST,
	/* Vanishes: no byte moves, no completion at either end. */
	VERBS_DOUBLE_DROP,
	/* Completes with success at both ends, and moves no byte. */
	VERBS_DOUBLE_LOSE,
	/* Carried out now. A SEND (or WRITE with immediate) takes a second receive, if one stands
	 * there. The bytes of any kind are put there again after `amount` more operations of the
	 * double (0: one), over what came in between. */
	VERBS_DOUBLE_DUPLICATE,
	/* Lands `amount` bytes further (0: one), as far as the memory region reaches. */
	VERBS_DOUBLE_SHIFT,
	/* The last `amount` bytes (0: one) do not arrive; lengths in completions are full. */
	VERBS_DOUBLE_TRUNCATE,
	/* The bytes that went to the same place before are put there; with none, no byte moves. */
	VERBS_DOUBLE_STALE,
	/* The byte at `amount` arrives with one bit turned. */
	VERBS_DOUBLE_CORRUPT,
	/* Arrives with the IPv4 ToS `tos` (seen by receivers of UD messages only). */
	VERBS_DOUBLE_REMARK,
	/* Completes with `status`, vendor_err `amount`; the QP goes to error. */
	VERBS_DOUBLE_FAIL,
};

struct verbs_double_lie {
	enum verbs_double_lie_kind kind;
	uint32_t amount;
	uint8_t tos;
	enum ibv_wc_status status;
};

/* One operation that is about to be carried out. */
struct verbs_double_operation {
	uint64_t serial;	/* counts the operations of all QPs since reset, from 0 */
	enum ibv_wr_opcode opcode;
	uint32_t qpn;		/* that it was posted on */
	uint64_t destination;	/* address, in the address space of its memory region */
	uint32_t length;
	uint8_t tos;
};

/* Asked for each operation, once, with the double's lock held: it must not call the double. NULL:
 * honest. Set it before the threads start. */
typedef struct verbs_double_lie verbs_double_hook(void *arg,
						  const struct verbs_double_operation *operation);
void verbs_double_lie(verbs_double_hook *hook, void *arg);
