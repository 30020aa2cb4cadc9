/* SPDX-License-Identifier: Apache-2.0 */
/* Installed packages that matter to the path: /os/packages. */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "observe/modules.h"

/* A query of a large rpm database takes tenths of a second on a slow disk. */
#define QUERY_TIMEOUT_MS 3000

#define PATTERNS                                                                                \
	"rdma-core*", "libibverbs*", "librdmacm*", "ibverbs-providers", "perftest",             \
	"linux-firmware*", "firmware-misc-nonfree", "kmod-ice*", "kmod-irdma*", "ice-dkms",      \
	"irdma-dkms", "kmod-nvidia*", "kmod-open-nvidia*", "nvidia-*", "libnvidia-*",           \
	"cuda-drivers*", "gdrcopy*", "mlnx-ofa_kernel*", "doca-ofed*", "mft", "kernel-core",     \
	"kernel-modules-extra", "kernel-devel"

/*
 * The first whose database is there is asked. dpkg comes first: Debian's package of rpm makes an
 * empty /var/lib/rpm. A package that dpkg removed but did not purge keeps its record, hence the
 * status.
 */
static const struct {
	const char *database;
	const char *const argv[40];
} managers[] = {
	{"/var/lib/dpkg/status",
	 {"dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Version}\\n", PATTERNS}},
	{"/usr/lib/sysimage/rpm",
	 {"rpm", "-qa", "--qf", "installed %{NAME} %{VERSION}-%{RELEASE}\\n", PATTERNS}},
	{"/var/lib/rpm",
	 {"rpm", "-qa", "--qf", "installed %{NAME} %{VERSION}-%{RELEASE}\\n", PATTERNS}},
};

void packages_parse(json_t *packages, const char *text)
{
	_cleanup_free_ char *copy = xstrdup(text);
	char *cursor = copy, *line;

	while ((line = text_next_line(&cursor))) {
		char *words = line;
		const char *status = text_next_word(&words);
		const char *name = text_next_word(&words);
		const char *version = text_next_word(&words);

		if (version && strcmp(status, "installed") == 0)
			json_append_text(json_arr(packages, name), version);
	}
}

void observe_packages(struct observation *o)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *output = NULL;
	struct host_stat st;
	int rc = -ENOENT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(managers) && rc < 0; i++)
		rc = host_stat(o->host, &st, false, NULL, "%s", managers[i].database);
	if (rc < 0) {
		observe_gap(o, rc, NULL, "neither the database of rpm nor that of dpkg is here",
			    "/os/packages");
		return;
	}
	const char *const *argv = managers[i - 1].argv;
	rc = host_exec(o->host, argv, QUERY_TIMEOUT_MS, &output, &err);
	/* dpkg-query: 1 = some pattern matched nothing. */
	if (rc > 1)
		error_set(&err, -EIO, "%s failed with status %d", argv[0], rc);
	if (rc < 0 || rc > 1) {
		observe_gap(o, err.code, NULL, error_text(&err), "/os/packages");
		return;
	}
	packages_parse(json_obj(json_obj(o->snapshot, "os"), "packages"), output);
}
