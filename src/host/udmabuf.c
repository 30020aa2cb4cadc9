/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "host/udmabuf.h"

#define DEVICE "/dev/udmabuf"

int udmabuf_memory(size_t length, struct error *err)
{
	int fd = memfd_create("railhead-udmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING), rc;

	if (fd < 0)
		return error_set_errno(err, -errno, "memfd_create for udmabuf");
	if (ftruncate(fd, (off_t)length) < 0)
		rc = error_set_errno(err, -errno, "memfd of %zu bytes for udmabuf", length);
	else if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0)
		rc = error_set_errno(err, -errno, "sealing a memfd for udmabuf");
	else
		return fd;
	close(fd);
	return rc;
}

static int open_failed(int code, struct error *err)
{
	switch (code) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
		return error_set(err, -ENODEV, "no " DEVICE ": this kernel has no udmabuf "
				 "(CONFIG_UDMABUF), or not loaded (modprobe udmabuf)");
	default:
		return error_set_errno(err, -code, DEVICE);
	}
}

int udmabuf_export(int memfd, size_t length, struct error *err)
{
	struct udmabuf_create create = { .memfd = (uint32_t)memfd, .flags = UDMABUF_FLAGS_CLOEXEC,
					 .size = length };
	_cleanup_close_ int device = open(DEVICE, O_RDWR | O_CLOEXEC);
	int fd;

	if (device < 0)
		return open_failed(errno, err);
	fd = ioctl(device, UDMABUF_CREATE, &create);
	if (fd >= 0)
		return fd;
	if (errno == EINVAL)
		return error_set_errno(err, -errno, DEVICE ": UDMABUF_CREATE of %zu bytes (at most "
				       "/sys/module/udmabuf/parameters/size_limit_mb, 64 MiB "
				       "unless it was changed)", length);
	return error_set_errno(err, -errno, DEVICE ": UDMABUF_CREATE of %zu bytes", length);
}
