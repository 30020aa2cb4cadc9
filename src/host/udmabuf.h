/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DMA-BUFs of system memory (drivers/dma-buf/udmabuf.c, include/uapi/linux/udmabuf.h): what a GPU
 * exports, without a GPU. The pages are a memfd's, and can be mapped through it.
 */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* A memfd of `length` bytes (whole pages) that can no longer shrink, as udmabuf demands. The
 * descriptor or a negative errno. */
int udmabuf_memory(size_t length, struct error *err);

/* All of `memfd` as a DMA-BUF: its descriptor or a negative errno. -ENODEV: the kernel has no
 * udmabuf. -EACCES: /dev/udmabuf is not ours to open. -EINVAL: larger than its limit. */
int udmabuf_export(int memfd, size_t length, struct error *err);
