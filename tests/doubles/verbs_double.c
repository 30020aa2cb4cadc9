/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, ports, GIDs, protection domains, completion queues and address handles of the double,
 * and its controls. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "doubles/verbs_double_internal.h"

struct dbl dbl = {.lock = PTHREAD_MUTEX_INITIALIZER};


void dbl_complain(const char *fmt, ...)
{
	va_list ap;

	if (dbl.complaint)
		return;
	va_start(ap, fmt);
	dbl.complaint = xvasprintf(fmt, ap);
	va_end(ap);
}

int dbl_fails(const char *call)
{
	if (!dbl.failing || strcmp(dbl.failing, call))
		return 0;
	if (dbl.failing_in > 1) {
		dbl.failing_in--;
		return 0;
	}
	return dbl.failing_code;
}

enum ibv_mtu dbl_mtu(unsigned device)
{
	return dbl.setup.mtu[device] ? dbl.setup.mtu[device] : IBV_MTU_1024;
}

unsigned dbl_device(struct ibv_context *context)
{
	return (unsigned)(context->device - dbl.devices);
}

union ibv_gid dbl_gid(unsigned device, int index)
{
	union ibv_gid gid = {0};

	if (index == 0) {
		memcpy(gid.raw, (const uint8_t[]){0xfe, 0x80}, 2);
		gid.raw[15] = (uint8_t)(device + 1);
	} else {
		memset(gid.raw + 10, 0xff, 2);
		memcpy(gid.raw + 12, (const uint8_t[]){192, 0, 2, (uint8_t)(device + 1)}, 4);
	}
	return gid;
}

static struct ibv_device **get_device_list(int *n)
{
	struct ibv_device **list = xcalloc(dbl.setup.devices + 1, sizeof(struct ibv_device *));

	for (unsigned i = 0; i < dbl.setup.devices; i++)
		list[i] = &dbl.devices[i];
	*n = (int)dbl.setup.devices;
	return list;
}

static void free_device_list(struct ibv_device **list)
{
	free(list);
}

static const char *get_device_name(struct ibv_device *device)
{
	return device->name;
}

bool dbl_may_make(const char *call)
{
	int code;

	pthread_mutex_lock(&dbl.lock);
	code = dbl_fails(call);
	if (!code)
		dbl.objects++;
	pthread_mutex_unlock(&dbl.lock);
	errno = code;
	return !code;
}

int dbl_gone(void *object)
{
	free(object);
	pthread_mutex_lock(&dbl.lock);
	dbl.objects--;
	pthread_mutex_unlock(&dbl.lock);
	return 0;
}

static struct ibv_context *open_device(struct ibv_device *device)
{
	struct dbl_context *context;

	if (!dbl_may_make("open_device"))
		return NULL;
	context = xcalloc(1, sizeof(*context));
	context->base.device = device;
	context->base.cmd_fd = context->base.async_fd = -1;
	return &context->base;
}

static int close_device(struct ibv_context *context)
{
	return dbl_gone(context);
}

static int query_device(struct ibv_context *context RH_UNUSED, struct ibv_device_attr *attr)
{
	*attr = (struct ibv_device_attr){
		.max_mr_size = UINT64_MAX,
		.page_size_cap = 0x1000,
		.max_qp = 0x10000,
		.max_qp_wr = 4096,
		.max_sge = 1,
		.max_cq = 0x10000,
		.max_cqe = 1 << 20,
		.max_mr = 0x10000,
		.max_qp_rd_atom = 16,
		.max_qp_init_rd_atom = 16,
		.atomic_cap = IBV_ATOMIC_NONE,
		.phys_port_cnt = 1,
	};
	return dbl_fails("query_device");
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr)
{
	if (port != 1)
		return EINVAL;
	*attr = (struct ibv_port_attr){
		.state = dbl.setup.port_down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = dbl_mtu(dbl_device(context)),
		.gid_tbl_len = GIDS,
		.pkey_tbl_len = 1,
		.max_msg_sz = 1u << 31,
		.link_layer = IBV_LINK_LAYER_ETHERNET,
	};
	return dbl_fails("query_port");
}

static int query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	if (port != 1 || index < 0 || index >= GIDS) {
		errno = EINVAL;
		return -1;
	}
	*gid = dbl_gid(dbl_device(context), index);
	errno = dbl_fails("query_gid");
	return errno ? -1 : 0;
}

static struct ibv_pd *alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd;

	if (!dbl_may_make("alloc_pd"))
		return NULL;
	pd = xcalloc(1, sizeof(*pd));
	pd->context = context;
	return pd;
}

static int dealloc_pd(struct ibv_pd *pd)
{
	bool used = false;

	pthread_mutex_lock(&dbl.lock);
	for (const struct dbl_mr *mr = dbl.mrs; mr; mr = mr->next)
		used |= mr->base.pd == pd;
	for (const struct dbl_qp *qp = dbl.qps; qp; qp = qp->next)
		used |= qp->base.pd == pd;
	if (used)
		dbl_complain("dealloc_pd while regions or QPs use it");
	pthread_mutex_unlock(&dbl.lock);
	return used ? EBUSY : dbl_gone(pd);
}

static struct ibv_cq *create_cq(struct ibv_context *context, int cqe, void *cq_context,
				struct ibv_comp_channel *channel, int vector RH_UNUSED)
{
	struct dbl_cq *cq;

	if (cqe < 1) {
		errno = EINVAL;
		return NULL;
	}
	if (!dbl_may_make("create_cq"))
		return NULL;
	cq = xcalloc(1, sizeof(*cq));
	cq->base.context = context;
	cq->base.channel = channel;
	cq->base.cq_context = cq_context;
	cq->base.cqe = cqe;
	cq->wc = xcalloc((size_t)cqe, sizeof(*cq->wc));
	cq->retires = xcalloc((size_t)cqe, sizeof(*cq->retires));
	return &cq->base;
}

static int destroy_cq(struct ibv_cq *ibv)
{
	struct dbl_cq *cq = (struct dbl_cq *)ibv;
	bool used;

	pthread_mutex_lock(&dbl.lock);
	used = cq->users;
	if (used)
		dbl_complain("destroy_cq while QPs use it");
	pthread_mutex_unlock(&dbl.lock);
	if (used)
		return EBUSY;
	free(cq->wc);
	free(cq->retires);
	return dbl_gone(cq);
}

static struct ibv_ah *create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct dbl_ah *ah;

	if (!attr->is_global || attr->port_num != 1 || attr->grh.sgid_index >= GIDS) {
		errno = EINVAL;
		return NULL;
	}
	if (!dbl_may_make("create_ah"))
		return NULL;
	ah = xcalloc(1, sizeof(*ah));
	ah->base.context = pd->context;
	ah->base.pd = pd;
	ah->attr = *attr;
	return &ah->base;
}

static int destroy_ah(struct ibv_ah *ah)
{
	return dbl_gone(ah);
}

static const struct verbs calls = {
	.name = "double",
	.is_double = true,
	.get_device_list = get_device_list,
	.free_device_list = free_device_list,
	.get_device_name = get_device_name,
	.open_device = open_device,
	.close_device = close_device,
	.query_device = query_device,
	.query_port = query_port,
	.query_gid = query_gid,
	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
	.reg_mr = dbl_reg_mr,
	.reg_dmabuf_mr = dbl_reg_dmabuf_mr,
	.dereg_mr = dbl_dereg_mr,
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.create_qp = dbl_create_qp,
	.modify_qp = dbl_modify_qp,
	.destroy_qp = dbl_destroy_qp,
	.create_ah = create_ah,
	.destroy_ah = destroy_ah,
	.post_send = dbl_post_send,
	.post_recv = dbl_post_recv,
	.poll_cq = dbl_poll_cq,
};

void verbs_double_reset(const struct verbs_double_setup *setup)
{
	free(dbl.complaint);
	dbl_lies_forget(NULL);
	dbl = (struct dbl){.lock = PTHREAD_MUTEX_INITIALIZER, .calls = calls, .qpns = QPN_FIRST};
	if (setup)
		dbl.setup = *setup;
	if (!dbl.setup.devices)
		dbl.setup.devices = 2;
	if (dbl.setup.no_dmabuf)
		dbl.calls.reg_dmabuf_mr = NULL;
	for (unsigned i = 0; i < dbl.setup.devices; i++) {
		dbl.devices[i].node_type = IBV_NODE_CA;
		dbl.devices[i].transport_type = IBV_TRANSPORT_IB;
		snprintf(dbl.devices[i].name, sizeof(dbl.devices[i].name), "double%u", i);
	}
}

const struct verbs *verbs_double(void)
{
	if (!dbl.setup.devices)
		verbs_double_reset(NULL);
	return &dbl.calls;
}

const char *verbs_double_complaint(void)
{
	return dbl.complaint;
}

unsigned verbs_double_objects(void)
{
	return dbl.objects;
}

void verbs_double_fail(const char *call, unsigned nth, int code)
{
	pthread_mutex_lock(&dbl.lock);
	dbl.failing = call;
	dbl.failing_in = nth;
	dbl.failing_code = code;
	pthread_mutex_unlock(&dbl.lock);
}

void verbs_double_lie(verbs_double_hook *hook, void *arg)
{
	pthread_mutex_lock(&dbl.lock);
	dbl.hook = hook;
	dbl.hook_arg = arg;
	pthread_mutex_unlock(&dbl.lock);
}
