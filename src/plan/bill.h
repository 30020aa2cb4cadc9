/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the bill of components is made: a site is asked a fixed set of questions, once, and each
 * component has rules that are chosen by the answers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "plan/plan.h"

/* What a rule may ask for; each bit has its question in components.c. */
enum bill_trait {
	HAS_RDMA = 1 << 0,		/* some node has an RDMA port */
	HAS_ICE = 1 << 1,		/* a NIC of that family below one */
	HAS_MLX5 = 1 << 2,
	HAS_BNXT = 1 << 3,
	HAS_RXE = 1 << 4,
	ICE_OUT_OF_TREE = 1 << 5,
	RDMA_ON_BOND = 1 << 6,
	RDMA_ON_VLAN = 1 << 7,
	HAS_GPU = 1 << 8,
	GPUDIRECT = 1 << 9,		/* level 3 is wanted */
	NVLINK_5 = 1 << 10,
	GPU_OPERATOR = 1 << 11,
	HOST_DRIVER = 1 << 12,		/* the GPU driver is not the operator's */
	PRECOMPILED = 1 << 13,
	WANTS_GDS = 1 << 14,
	WANTS_GDRCOPY = 1 << 15,
	SANDBOX = 1 << 16,		/* sandboxWorkloads.enabled */
	KUBERNETES = 1 << 17,
	KUBESPRAY = 1 << 18,
	PODS_HOST_GID = 1 << 19,
	PODS_HOST_NETWORK = 1 << 20,
	PODS_SECOND_NETWORK = 1 << 21,
	PODS_RDMA_CM = 1 << 22,
	AIR_GAPPED = 1 << 23,
	WANTS_PFC = 1 << 24,
	WANTS_ECN = 1 << 25,
	ECN_BY_SWITCH = 1 << 26,	/* declared so, or the driver has no DCQCN */
	HAS_STORAGE = 1 << 27,
	RDMA_CLIENT = 1 << 28,		/* a client library that is not plain HTTP */
	DC_CLIENT_WITHOUT_DC = 1 << 29,	/* the library needs DC, the NIC has none */
	HAS_WORKLOAD = 1 << 30,
};

struct bill {
	const struct site *site;
	const struct matrix *matrix;
	uint32_t traits;
};

/* Where a version was taken from. */
struct bill_version {
	char *text;	/* owned; NULL: nobody says */
	json_t *row;	/* of the matrix, borrowed; NULL: declared */
};

struct bill_rule {
	uint32_t with, without;	/* traits that must all be there, and none of these */
	const char *need;	/* "required", "recommended", "not-needed", "must-not" */
	const char *why;	/* one sentence without full stop */
	const char *source;
};

#define BILL_RULES_MAX 6

struct bill_component {
	const char *name, *where;
	/* the chart's key of its image; then `version` is looked up in the matrix */
	const char *image;
	/* else where its version is declared: a JSON pointer of the site's document */
	const char *pointer;
	/* or this knows */
	struct bill_version (*version)(const struct bill *bill);
	/* The first that fits is taken; a component without one is not part of the bill. */
	struct bill_rule rules[BILL_RULES_MAX];
};

/* Tables, each ending with a NULL name: components_host.c, components_gpu.c,
 * components_fabric.c. */
extern const struct bill_component bill_host[], bill_gpu[], bill_fabric[];

/*
 * --- version.c: versions that take more than a pointer ---
 *
 * Each gives what the site declares, else what follows from the matrix, with the row that says so;
 * no text when neither knows. The caller frees the text.
 */
struct bill_version bill_version_os(const struct bill *bill);
struct bill_version bill_version_kernel(const struct bill *bill);
struct bill_version bill_version_ice(const struct bill *bill);
struct bill_version bill_version_irdma(const struct bill *bill);
struct bill_version bill_version_rdma_core(const struct bill *bill);
struct bill_version bill_version_firmware(const struct bill *bill);
struct bill_version bill_version_ddp(const struct bill *bill);
struct bill_version bill_version_memlock(const struct bill *bill);
struct bill_version bill_version_containerd(const struct bill *bill);
struct bill_version bill_version_cni(const struct bill *bill);
struct bill_version bill_version_cuda(const struct bill *bill);
struct bill_version bill_version_device_plugin(const struct bill *bill);
/* Of an image of the GPU Operator by its key in the chart ("driver.manager"). */
struct bill_version bill_version_image(const struct bill *bill, const char *key);
/* What is declared at a JSON pointer of the site's document. */
struct bill_version bill_version_at(const struct bill *bill, const char *pointer);
