/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about GPUs that several gates ask, and the judges of the GPU gates. */
#pragma once

#include "judge/gate.h"

/* not_applicable: has this node no GPU, and does the site declare none for it? An unseen PCI bus is
 * no reason. */
const char *gpu_absent(struct judging *g);
/* not_applicable of level 3: the site does not want GPUDirect RDMA, or gpu_absent(). */
const char *gpu_direct_absent(struct judging *g);

/* Does the site ask for GPUs on this node, by role or by declaration? */
bool gpu_declared(const struct judging *g);
/* Number of NVIDIA GPUs on the PCI bus of this node. */
size_t gpu_count(const struct judging *g);

/* "B300 SXM6 AC" for the device ID "0x3182" of an NVIDIA GPU, NULL when this table lacks it. */
const char *gpu_model_name(const char *device_id);

/* gpu_driver.c */
void judge_gpu_driver(struct judging *g);
/* gpu_nvml.c */
void judge_gpu_nvml(struct judging *g);
