/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libibverbs, opened at run time. Its providers are code of vendors: whoever only wants to know
 * what is there asks in a child (host_probe_run()).
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "host/verbs.h"

/* In the library the data path is inline: it goes through the provider's table in the context. */
static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	return ibv_post_send(qp, wr, bad);
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return ibv_post_recv(qp, wr, bad);
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	return ibv_poll_cq(cq, n, wc);
}

/*
 * verbs.h puts macros over two of these names. ibv_query_port() of the library fills the members
 * that it knew of when it was written, the MTUs and the state among them: callers zero the rest.
 * ibv_reg_mr() of the library takes the address as iova, and none of the optional access flags.
 */
int verbs_load(struct verbs *v, struct error *err)
{
	const struct {
		const char *name;
		void *function;
		bool optional;
	} table[] = {
		{"ibv_get_device_list", &v->get_device_list},
		{"ibv_free_device_list", &v->free_device_list},
		{"ibv_get_device_name", &v->get_device_name},
		{"ibv_open_device", &v->open_device},
		{"ibv_close_device", &v->close_device},
		{"ibv_query_device", &v->query_device},
		{"ibv_query_port", &v->query_port},
		{"ibv_query_gid", &v->query_gid},
		{"ibv_alloc_pd", &v->alloc_pd},
		{"ibv_dealloc_pd", &v->dealloc_pd},
		{"ibv_reg_mr", &v->reg_mr},
		{"ibv_reg_dmabuf_mr", &v->reg_dmabuf_mr, .optional = true},
		{"ibv_dereg_mr", &v->dereg_mr},
		{"ibv_create_cq", &v->create_cq},
		{"ibv_destroy_cq", &v->destroy_cq},
		{"ibv_create_qp", &v->create_qp},
		{"ibv_modify_qp", &v->modify_qp},
		{"ibv_destroy_qp", &v->destroy_qp},
		{"ibv_create_ah", &v->create_ah},
		{"ibv_destroy_ah", &v->destroy_ah},
	};
	void *library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_GLOBAL);

	if (!library)
		return error_set(err, -ELIBACC, "%s", dlerror());
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		void *symbol = dlsym(library, table[i].name);
		if (!symbol && !table[i].optional)
			return error_set(err, -ELIBACC, "libibverbs.so.1 has no %s", table[i].name);
		memcpy(table[i].function, &symbol, sizeof(symbol));
	}
	v->name = "libibverbs";
	v->is_double = false;
	v->post_send = post_send;
	v->post_recv = post_recv;
	v->poll_cq = poll_cq;
	return 0;
}
