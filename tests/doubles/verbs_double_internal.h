/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the double share. All of it is read and written with `dbl.lock` held. */
#pragma once

#include <pthread.h>

#include "doubles/verbs_double.h"

#define DEVICES_MAX 8u
#define GIDS 2
#define QPN_FIRST 0x11u
#define INLINE_MAX 96u	/* bytes of a WR */
#define KEY_STEP 0x100u	/* keys of a region are n * KEY_STEP + 1 (local) and + 2 (remote) */

struct dbl_mr {
	struct ibv_mr base;
	struct dbl_mr *next;
	uint64_t iova;
	unsigned char *bytes;	/* where iova is in this process */
	int access;
	void *mapping;		/* of a dma-buf; NULL: the application's memory */
	size_t mapping_length;
};

struct dbl_cq {
	struct ibv_cq base;
	struct dbl_cq *next;
	struct ibv_wc *wc;	/* ring of base.cqe, and what each retires of its QP's queue */
	uint64_t *retires;
	uint64_t head, tail;
	unsigned users;
};

struct dbl_send {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	unsigned char inlined[INLINE_MAX];	/* taken when it was posted, if it asked for that */
	unsigned tries;	/* that found no receive */
};

struct dbl_receive {
	uint64_t id;
	struct ibv_sge sge;
};

struct dbl_qp {
	struct ibv_qp base;
	struct dbl_qp *next;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	bool left_reset;
	/* Counters of WRs. Of the send queue: posted, carried out, and known to the application
	 * to be done (by a completion that it polled), which frees their slots. */
	struct dbl_send *sq;
	uint64_t sq_posted, sq_done, sq_retired;
	uint64_t signalled;
	unsigned unsignalled, longest_unsignalled;
	struct dbl_receive *rq;
	uint64_t rq_posted, rq_done;
};

struct dbl_ah {
	struct ibv_ah base;
	struct ibv_ah_attr attr;
};

struct dbl_context {
	struct ibv_context base;
	unsigned device;
};

struct dbl {
	pthread_mutex_t lock;
	struct verbs_double_setup setup;
	struct verbs calls;
	struct ibv_device devices[DEVICES_MAX];
	struct dbl_mr *mrs;
	struct dbl_cq *cqs;
	struct dbl_qp *qps;
	unsigned objects, keys;
	uint32_t qpns;
	char *complaint;
	const char *failing;
	unsigned failing_in;
	int failing_code;
	verbs_double_hook *hook;
	void *hook_arg;
	uint64_t serial;
};
extern struct dbl dbl;

/* Keep what the program did wrong, if it is the first. */
void dbl_complain(const char *fmt, ...) RH_PRINTF(1, 2);
/* The errno with which `call` must fail, or 0. */
int dbl_fails(const char *call);
/* An object of any kind may be made: it is counted. False: errno says how it fails. */
bool dbl_may_make(const char *call);
/* Free an object, counted. 0. */
int dbl_gone(void *object);
union ibv_gid dbl_gid(unsigned device, int index);
enum ibv_mtu dbl_mtu(unsigned device);
unsigned dbl_device(struct ibv_context *context);
struct dbl_qp *dbl_qp_find(uint32_t qpn);
/* NULL: no region of `pd` has this key, these bounds and rights. */
struct dbl_mr *dbl_mr_find(struct ibv_pd *pd, uint32_t key, uint64_t address, uint64_t length,
			   int access);
static inline unsigned char *dbl_mr_bytes(const struct dbl_mr *mr, uint64_t address)
{
	return mr->bytes + (address - mr->iova);
}

/* verbs_double_qp.c */
struct ibv_qp *dbl_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
int dbl_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int dbl_destroy_qp(struct ibv_qp *qp);

/* verbs_double_memory.c */
struct ibv_mr *dbl_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access);
struct ibv_mr *dbl_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access);
int dbl_dereg_mr(struct ibv_mr *mr);

/* verbs_double_queue.c */
int dbl_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int dbl_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int dbl_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
/* `retires`: how many WRs of the QP's send queue the application knows to be done once it polls
 * this. */
void dbl_complete(struct ibv_cq *cq, const struct ibv_wc *wc, uint64_t retires);

/* verbs_double_wire.c */
/* Carry out what can be of the send queue. `polled`: by the application, which counts as a try. */
void dbl_progress(struct dbl_qp *qp, bool polled);
/* A QP has become ready, or has a receive: carry out what waited for it. */
void dbl_qp_ready(const struct dbl_qp *qp);
/* To the error state; everything in its queues completes as flushed. */
void dbl_qp_break(struct dbl_qp *qp);

/* verbs_double_lies.c */
/* Ask the hook; honest without one. Counts the operation: it is carried out at once. */
struct verbs_double_lie dbl_ask(const struct dbl_qp *qp, const struct dbl_send *send,
				uint64_t destination, uint8_t tos);
/* Move the bytes of one operation into `target`, as the lie has it. */
void dbl_move(const struct verbs_double_lie *lie, const struct dbl_mr *target, uint64_t destination,
	      const unsigned char *from, uint32_t length);
/* An operation has been carried out: duplicates whose time has come are put again. */
void dbl_operation_over(void);
/* A region goes away, and with it what was kept of it. */
void dbl_lies_forget(const struct dbl_mr *mr);
