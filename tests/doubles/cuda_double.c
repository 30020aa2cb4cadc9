/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for libcuda.so.1 on machines without a GPU. "GPU memory" is a memfd, mapped where its
 * GPU address says; kernels are known by name and carried out by the processor; a DMA-BUF is a real
 * one of /dev/udmabuf where there is that device, else the memfd itself. It exports
 * `railhead_double`, so that every record made with it says so: it can prove nothing of a GPU.
 *
 * CUDA_DOUBLE holds words of the form NAME=NUMBER: a function's name makes it fail with that
 * CUresult ("cuMemAlloc_v2=2"), and these set what the driver says (the defaults in brackets):
 *
 *	gpus [2]  version [13000]  dma_buf [1]  ordering [100]  flush [1]
 *	misplaced [0]	bytes that an allocation stands beside its alignment
 *	astray [0]	added to the place of the first wrong byte
 *	free_mib [64]	free memory
 *	udmabuf [1]	0: export the memfd even where there is /dev/udmabuf
 *
 * CUDA_DOUBLE_OLD makes a library of the time before DMA-BUF export, without the function for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "prove/pattern.h"

#define CALL(name, ...)                                                                        \
	__attribute__((visibility("default"))) int name(__VA_ARGS__);                          \
	__attribute__((visibility("default"))) int name(__VA_ARGS__)

/* Fails the function that it stands in, if the environment says so. */
#define MAY_FAIL()                                                                             \
	do {                                                                                   \
		int told_ = told(__func__, 0);                                                 \
		if (told_)                                                                     \
			return told_;                                                          \
	} while (0)

/* CUresult */
enum {
	SUCCESS = 0,
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	NO_DEVICE = 100,
	INVALID_DEVICE = 101,
	INVALID_CONTEXT = 201,
	INVALID_PTX = 218,
	NOT_FOUND = 500,
	ILLEGAL_ADDRESS = 700,
	NOT_SUPPORTED = 801,
};

#define HUGE (2ul << 20)
#define CONTEXTS 16

struct allocation {
	struct allocation *next;
	unsigned char *reserved;	/* address space, with room to align in */
	size_t reserved_size;
	unsigned char *start;
	size_t size;
	int memfd;
};

struct kernel {
	const char *name;
	void (*run)(void **parameters);
};

__attribute__((visibility("default"))) const int railhead_double = 1;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct allocation *allocations;
static unsigned int flushes, retained, modules;
static _Thread_local int stack[CONTEXTS], depth;

static const char *const bus_ids[] = {"0000:1B:00.0", "0000:43:00.0"};

static int told(const char *name, int fallback)
{
	const char *at = getenv("CUDA_DOUBLE");
	size_t length = strlen(name);

	while (at && *at) {
		at += strspn(at, " ");
		if (strncmp(at, name, length) == 0 && at[length] == '=')
			return atoi(at + length + 1);
		at += strcspn(at, " ");
	}
	return fallback;
}

/* The allocation that holds all of the range. */
static struct allocation *find(uint64_t address, size_t size)
{
	uint64_t start;

	for (struct allocation *a = allocations; a; a = a->next) {
		start = (uint64_t)(uintptr_t)a->start;
		if (address >= start && size <= a->size && address - start <= a->size - size)
			return a;
	}
	return NULL;
}

static int copy_text(char *out, int size, const char *text)
{
	if (size < 1 || (size_t)size <= strlen(text))
		return INVALID_VALUE;
	memcpy(out, text, strlen(text) + 1);
	return SUCCESS;
}

/* --- for tests --- */

/* Allocations, modules and references to contexts that are not given back. */
CALL(cuda_double_objects, void)
{
	int n = (int)(retained + modules);

	for (struct allocation *a = allocations; a; a = a->next)
		n++;
	return n + depth;
}

CALL(cuda_double_flushes, void)
{
	return (int)flushes;
}

/* --- driver and devices --- */

CALL(cuInit, unsigned int flags)
{
	MAY_FAIL();
	return flags == 0 ? SUCCESS : INVALID_VALUE;
}

CALL(cuDriverGetVersion, int *version)
{
	MAY_FAIL();
	*version = told("version", 13000);
	return SUCCESS;
}

CALL(cuGetErrorName, int result, const char **name)
{
	static const struct {
		int result;
		const char *name;
	} names[] = {
		{1, "CUDA_ERROR_INVALID_VALUE"}, {2, "CUDA_ERROR_OUT_OF_MEMORY"},
		{100, "CUDA_ERROR_NO_DEVICE"}, {101, "CUDA_ERROR_INVALID_DEVICE"},
		{201, "CUDA_ERROR_INVALID_CONTEXT"}, {218, "CUDA_ERROR_INVALID_PTX"},
		{221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"}, {500, "CUDA_ERROR_NOT_FOUND"},
		{700, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {719, "CUDA_ERROR_LAUNCH_FAILED"},
		{801, "CUDA_ERROR_NOT_SUPPORTED"}, {802, "CUDA_ERROR_SYSTEM_NOT_READY"},
		{999, "CUDA_ERROR_UNKNOWN"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].result == result) {
			*name = names[i].name;
			return SUCCESS;
		}
	*name = NULL;
	return INVALID_VALUE;
}

CALL(cuDeviceGetCount, int *n)
{
	MAY_FAIL();
	*n = told("gpus", 2);
	return SUCCESS;
}

CALL(cuDeviceGet, int *device, int ordinal)
{
	MAY_FAIL();
	if (ordinal < 0 || ordinal >= told("gpus", 2))
		return INVALID_DEVICE;
	*device = ordinal;
	return SUCCESS;
}

CALL(cuDeviceGetByPCIBusId, int *device, const char *bus_id)
{
	MAY_FAIL();
	for (int i = 0; i < told("gpus", 2); i++)
		if (strcasecmp(bus_ids[i], bus_id) == 0) {
			*device = i;
			return SUCCESS;
		}
	return INVALID_DEVICE;
}

CALL(cuDeviceGetPCIBusId, char *bus_id, int size, int device)
{
	MAY_FAIL();
	return copy_text(bus_id, size, bus_ids[device]);
}

CALL(cuDeviceGetName, char *name, int size, int device)
{
	MAY_FAIL();
	(void)device;
	return copy_text(name, size, "CUDA test double");
}

CALL(cuDeviceGetAttribute, int *value, int attribute, int device)
{
	MAY_FAIL();
	(void)device;
	switch (attribute) {
	case 16:	/* MULTIPROCESSOR_COUNT */
		*value = 4;
		return SUCCESS;
	case 75:	/* COMPUTE_CAPABILITY_MAJOR */
		*value = 10;
		return SUCCESS;
	case 76:	/* COMPUTE_CAPABILITY_MINOR */
		*value = 3;
		return SUCCESS;
	case 117:	/* GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS */
		*value = told("flush", 1);
		return SUCCESS;
	case 118:	/* GPU_DIRECT_RDMA_WRITES_ORDERING */
		*value = told("ordering", 100);
		return SUCCESS;
	case 124:	/* DMA_BUF_SUPPORTED */
		*value = told("dma_buf", 1);
		return SUCCESS;
	default:
		return INVALID_VALUE;
	}
}

/* --- contexts: the handle is the number of the device, from 1 on --- */

CALL(cuDevicePrimaryCtxRetain, uintptr_t *context, int device)
{
	MAY_FAIL();
	retained++;
	*context = (uintptr_t)device + 1;
	return SUCCESS;
}

CALL(cuDevicePrimaryCtxRelease_v2, int device)
{
	(void)device;
	MAY_FAIL();
	if (retained == 0)
		return INVALID_CONTEXT;
	retained--;
	return SUCCESS;
}

CALL(cuCtxPushCurrent_v2, uintptr_t context)
{
	MAY_FAIL();
	if (!context || retained == 0 || depth == CONTEXTS)
		return INVALID_CONTEXT;
	stack[depth++] = (int)context;
	return SUCCESS;
}

CALL(cuCtxPopCurrent_v2, uintptr_t *context)
{
	MAY_FAIL();
	if (depth == 0)
		return INVALID_CONTEXT;
	depth--;
	if (context)
		*context = (uintptr_t)stack[depth];
	return SUCCESS;
}

CALL(cuCtxSynchronize, void)
{
	MAY_FAIL();
	return depth > 0 ? SUCCESS : INVALID_CONTEXT;
}

/* --- memory --- */

/* A memfd of the size; it becomes what the range from `start` on is. -1: errno. */
static int map_memfd(unsigned char *start, size_t size)
{
	int fd = memfd_create("cuda-double", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -1;
	/* udmabuf wants the seal */
	if (ftruncate(fd, (off_t)size) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0 ||
	    mmap(start, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
		    MAP_FAILED) {
		close(fd);
		return -1;
	}
	return fd;
}

CALL(cuMemAlloc_v2, uint64_t *address, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t rounded = (size + page - 1) / page * page;
	struct allocation *a;

	/* What goes wrong with the memory that the test is about; not with a few bytes. */
	if (size >= HUGE)
		MAY_FAIL();
	if (depth == 0)
		return INVALID_CONTEXT;
	if (size == 0)
		return INVALID_VALUE;
	a = calloc(1, sizeof(*a));
	if (!a)
		return OUT_OF_MEMORY;
	a->reserved_size = rounded + 2 * HUGE;
	a->reserved = mmap(NULL, a->reserved_size, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (a->reserved == MAP_FAILED) {
		free(a);
		return OUT_OF_MEMORY;
	}
	a->start = a->reserved + (HUGE - (uintptr_t)a->reserved % HUGE);
	a->size = rounded;
	a->memfd = map_memfd(a->start, rounded);
	if (a->memfd < 0) {
		munmap(a->reserved, a->reserved_size);
		free(a);
		return OUT_OF_MEMORY;
	}
	if (size >= HUGE)
		a->start += told("misplaced", 0);
	pthread_mutex_lock(&lock);
	a->next = allocations;
	allocations = a;
	pthread_mutex_unlock(&lock);
	*address = (uint64_t)(uintptr_t)a->start;
	return SUCCESS;
}

CALL(cuMemFree_v2, uint64_t address)
{
	struct allocation **link = &allocations, *a;

	MAY_FAIL();
	if (depth == 0)
		return INVALID_CONTEXT;
	pthread_mutex_lock(&lock);
	while (*link && (uint64_t)(uintptr_t)(*link)->start != address)
		link = &(*link)->next;
	a = *link;
	if (a)
		*link = a->next;
	pthread_mutex_unlock(&lock);
	if (!a)
		return INVALID_VALUE;
	munmap(a->reserved, a->reserved_size);
	close(a->memfd);
	free(a);
	return SUCCESS;
}

CALL(cuMemGetInfo_v2, size_t *free_bytes, size_t *total)
{
	MAY_FAIL();
	if (depth == 0)
		return INVALID_CONTEXT;
	*free_bytes = (size_t)told("free_mib", 64) << 20;
	*total = 2 * *free_bytes;
	return SUCCESS;
}

CALL(cuMemGetAddressRange_v2, uint64_t *base, size_t *size, uint64_t address)
{
	struct allocation *a = find(address, 1);

	MAY_FAIL();
	if (!a)
		return INVALID_VALUE;
	*base = (uint64_t)(uintptr_t)a->start;
	*size = a->size;
	return SUCCESS;
}

CALL(cuMemcpyHtoD_v2, uint64_t to, const void *from, size_t size)
{
	MAY_FAIL();
	if (depth == 0)
		return INVALID_CONTEXT;
	if (!find(to, size))
		return INVALID_VALUE;
	memcpy((void *)(uintptr_t)to, from, size);
	return SUCCESS;
}

CALL(cuMemcpyDtoH_v2, void *to, uint64_t from, size_t size)
{
	MAY_FAIL();
	if (depth == 0)
		return INVALID_CONTEXT;
	if (!find(from, size))
		return INVALID_VALUE;
	memcpy(to, (const void *)(uintptr_t)from, size);
	return SUCCESS;
}

#ifndef CUDA_DOUBLE_OLD
static int export_udmabuf(int memfd, uint64_t offset, size_t size)
{
	struct udmabuf_create create = {
		.memfd = (uint32_t)memfd,
		.flags = UDMABUF_FLAGS_CLOEXEC,
		.offset = offset,
		.size = size,
	};
	int device = told("udmabuf", 1) ? open("/dev/udmabuf", O_RDWR | O_CLOEXEC) : -1;
	int fd;

	if (device < 0)
		return -1;
	fd = ioctl(device, UDMABUF_CREATE, &create);
	close(device);
	return fd;
}

/*
 * A file descriptor whose byte 0 is the byte at `address`. A memfd cannot be handed out from its
 * middle on: there the range gets a memfd of its own, with the same contents.
 */
static int export_memfd(struct allocation *a, uint64_t offset, size_t size)
{
	unsigned char *start = a->start + offset, *kept;
	int fd;

	if (offset == 0 && size == a->size)
		return fcntl(a->memfd, F_DUPFD_CLOEXEC, 0);
	kept = malloc(size);
	if (!kept)
		return -1;
	memcpy(kept, start, size);
	fd = map_memfd(start, size);
	if (fd >= 0)
		memcpy(start, kept, size);
	free(kept);
	return fd;
}

CALL(cuMemGetHandleForAddressRange, void *handle, uint64_t address, size_t size, int type,
     unsigned long long flags)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct allocation *a = find(address, size);
	uint64_t offset;
	int fd;

	MAY_FAIL();
	if (!a || type != 1 || address % page || size % page || depth == 0)
		return INVALID_VALUE;
	/* CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE, which x86 machines refuse at attach */
	if (flags != 0 || !told("dma_buf", 1))
		return NOT_SUPPORTED;
	offset = address - (uint64_t)(uintptr_t)a->start;
	fd = export_udmabuf(a->memfd, offset, size);
	if (fd < 0)
		fd = export_memfd(a, offset, size);
	if (fd < 0)
		return OUT_OF_MEMORY;
	*(int *)handle = fd;
	return SUCCESS;
}
#endif

CALL(cuFlushGPUDirectRDMAWrites, int target, int scope)
{
	MAY_FAIL();
	if (depth == 0)
		return INVALID_CONTEXT;
	if (target != 0 || (scope != 100 && scope != 200))
		return INVALID_VALUE;
	if (!(told("flush", 1) & 1))
		return NOT_SUPPORTED;
	flushes++;
	return SUCCESS;
}

/* --- kernels; what they do is told in src/prove/cuda_words.ptx --- */

static unsigned char byte_of(void **parameters, uint64_t at)
{
	uint64_t place = at + *(uint32_t *)parameters[5] / 8;
	uint64_t state = *(uint64_t *)parameters[3], step = *(uint64_t *)parameters[4];

	return (unsigned char)(pattern_word_of(state + place / 8 * step) >> place % 8 * 8);
}

static void run_words(void **parameters)
{
	unsigned char *first = *(unsigned char **)parameters[0];
	uint64_t *result = *(uint64_t **)parameters[6];

	for (uint64_t at = *(uint64_t *)parameters[1]; at < *(uint64_t *)parameters[2]; at++) {
		unsigned char byte = byte_of(parameters, at);

		if (!result) {
			first[at] = byte;
		} else if (first[at] != byte) {
			result[0] = at < result[0] ? at : result[0];
			result[1]++;
		}
	}
	if (result && result[1])
		result[0] += (uint64_t)told("astray", 0);
}

static const struct kernel kernels[] = {
	{"railhead_words", run_words},
};

CALL(cuModuleLoadDataEx, void **module, const char *image, unsigned int n, const int *options,
     void **values)
{
	int rc = told(__func__, strstr(image, "\n.version ") ? SUCCESS : INVALID_PTX);

	if (depth == 0)
		return INVALID_CONTEXT;
	for (unsigned int i = 0; rc && i < n; i++)
		if (options[i] == 5)	/* CU_JIT_ERROR_LOG_BUFFER */
			snprintf(values[i], 64, "ptxas fatal   : the double says no\nand more\n");
	if (rc)
		return rc;
	*module = strdup(image);
	modules++;
	return SUCCESS;
}

CALL(cuModuleUnload, void *module)
{
	MAY_FAIL();
	free(module);
	modules--;
	return SUCCESS;
}

CALL(cuModuleGetFunction, const struct kernel **function, const char *module, const char *name)
{
	MAY_FAIL();
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		if (strcmp(kernels[i].name, name) == 0 && strstr(module, name)) {
			*function = &kernels[i];
			return SUCCESS;
		}
	return NOT_FOUND;
}

CALL(cuLaunchKernel, const struct kernel *function, unsigned int grid_x, unsigned int grid_y,
     unsigned int grid_z, unsigned int block_x, unsigned int block_y, unsigned int block_z,
     unsigned int shared_bytes, void *stream, void **parameters, void **extra)
{
	uint64_t first = *(uint64_t *)parameters[0], head = *(uint64_t *)parameters[1];
	uint64_t end = *(uint64_t *)parameters[2];

	MAY_FAIL();
	if (depth == 0)
		return INVALID_CONTEXT;
	if (!grid_x || grid_y != 1 || grid_z != 1 || !block_x || block_x > 1024 || block_y != 1 ||
	    block_z != 1 || shared_bytes || stream || extra || first % 16 || head > end)
		return INVALID_VALUE;
	if (!find(first + head, end - head))
		return ILLEGAL_ADDRESS;
	function->run(parameters);
	return SUCCESS;
}
