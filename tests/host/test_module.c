/* SPDX-License-Identifier: Apache-2.0 */
/* Module metadata on trees of hand-made module files, indexed by depmod(8); the kernel log's
 * forms. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/kmsg.h"
#include "tree.h"

/* The smallest ELF file that libkmod reads: a .modinfo section and the table of section names. */
static void write_module(struct tree *t, const char *name, const char *info, size_t len)
{
	static const char names[] = "\0.modinfo\0.shstrtab";
	struct {
		Elf64_Ehdr header;
		Elf64_Shdr sections[3];
	} elf = { .header = { .e_type = ET_REL, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
			      .e_ehsize = sizeof(Elf64_Ehdr), .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shnum = 3, .e_shstrndx = 2, .e_shoff = sizeof(Elf64_Ehdr) } };
	_cleanup_strbuf_ struct strbuf file = {0};

	memcpy(elf.header.e_ident, ELFMAG, SELFMAG);
	elf.header.e_ident[EI_CLASS] = ELFCLASS64;
	elf.header.e_ident[EI_DATA] = ELFDATA2LSB;
	elf.header.e_ident[EI_VERSION] = EV_CURRENT;
	elf.sections[1] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_size = len,
					.sh_offset = sizeof(elf), .sh_addralign = 1 };
	elf.sections[2] = (Elf64_Shdr){ .sh_name = 10,
					.sh_type = SHT_STRTAB,
					.sh_size = sizeof(names),
					.sh_offset = sizeof(elf) + len,
					.sh_addralign = 1 };
	strbuf_add(&file, &elf, sizeof(elf));
	strbuf_add(&file, info, len);
	strbuf_add(&file, names, sizeof(names));
	tree_write(t, name, file.s, file.len);
}

#define RELEASE "6.12.0-test"
#define FOLDER "lib/modules/" RELEASE

static bool make_modules(struct tree *t)
{
	static const char ice[] = "version=1.14.9\0license=GPL v2\0srcversion=533BB7E5866E52F63B9ACCB\0"
				  "vermagic=6.12.0-test SMP\0parm=debug:netif level (int)\0"
				  "parmtype=debug:int\0parm=fwlog_level:FW event level\0name=ice";
	static const char irdma[] = "license=Dual BSD/GPL\0name=irdma";
	_cleanup_free_ char *command =
		xasprintf("PATH=$PATH:/sbin:/usr/sbin depmod -b %s " RELEASE " >/dev/null 2>&1", t->path);

	tree_write(t, "proc/sys/kernel/osrelease", RELEASE "\n", sizeof(RELEASE));
	write_module(t, FOLDER "/updates/ice.ko", ice, sizeof(ice));
	write_module(t, FOLDER "/kernel/drivers/infiniband/hw/irdma/irdma.ko", irdma, sizeof(irdma));
	tree_write(t, FOLDER "/modules.builtin", "kernel/net/dcb/dcb.ko\n", 22);
	tree_write(t, FOLDER "/modules.order", "", 0);
	tree_write(t, "etc/modprobe.d/site.conf", "options ice debug=1\nblacklist irdma\n", 36);
	return system(command) == 0;
}

static void test_module(void **state)
{
	struct tree *t = *state;
	struct host_options options = { .root = t->path };
	_cleanup_error_ struct error err = {0};
	_cleanup_(host) struct host *host = NULL;
	_cleanup_json_ json_t *ice = NULL, *irdma = NULL, *builtin = NULL, *expected = NULL;
	json_t *none = NULL;

	if (!make_modules(t))
		fail_msg("depmod(8) of kmod is needed to make the index of a module tree");
	assert_int_equal(host_open(&host, &options, &err), 0);
	if (host_module_info(host, "ice", &ice, &err) < 0)
		fail_msg("%s", err.message);
	expected = json_pack("{s:s, s:s, s:s, s:s, s:s, s:[s, s], s:b, s:b, s:s}",
			     "path", "/" FOLDER "/updates/ice.ko", "version", "1.14.9", "license", "GPL v2",
			     "srcversion", "533BB7E5866E52F63B9ACCB", "vermagic", "6.12.0-test SMP",
			     "parameters", "debug", "fwlog_level", "builtin", 0, "blacklisted", 0,
			     "options", "debug=1");
	assert_true(json_equal(ice, expected));

	assert_int_equal(host_module_info(host, "irdma", &irdma, &err), 0);
	assert_string_equal(json_get_string(irdma, "path", ""),
			    "/" FOLDER "/kernel/drivers/infiniband/hw/irdma/irdma.ko");
	assert_true(json_get_bool(irdma, "blacklisted", false));
	assert_null(json_object_get(irdma, "version"));
	assert_null(json_object_get(irdma, "options"));

	assert_int_equal(host_module_info(host, "dcb", &builtin, &err), 0);
	assert_true(json_get_bool(builtin, "builtin", false));
	assert_null(json_object_get(builtin, "path"));

	assert_int_equal(host_module_info(host, "mlx5_core", &none, &err), -ENOENT);
	assert_string_equal(err.message, "no kernel module \"mlx5_core\" below /" FOLDER);
}

static void test_no_modules(void **state)
{
	struct tree *t = *state;
	struct host_options options = { .root = t->path };
	_cleanup_error_ struct error err = {0};
	_cleanup_(host) struct host *host = NULL;
	json_t *info;

	assert_int_equal(host_open(&host, &options, &err), 0);
	assert_int_equal(host_module_info(host, "ice", &info, &err), -ENOENT);
	assert_non_null(strstr(err.message, "/proc/sys/kernel/osrelease"));
	tree_write(t, "proc/sys/kernel/osrelease", "9.9\n", 4);
	assert_int_equal(host_module_info(host, "ice", &info, &err), -ENOENT);
	assert_non_null(strstr(err.message, "/lib/modules/9.9"));
}

/* --- kernel log ------------------------------------------------------------------------------- */

static const char *const needles[] = { "ice 0000", "DMAR", NULL };

static void record(json_t *lines, const char *text)
{
	_cleanup_free_ char *copy = xstrdup(text);

	kmsg_parse_record(lines, needles, copy);
}

static void test_kmsg(void **state RH_UNUSED)
{
	_cleanup_json_ json_t *lines = json_array(), *expected = NULL;

	record(lines, "30,12,4500123,-;ice 0000:01:00.0: DDP loaded\n SUBSYSTEM=pci\n DEVICE=+pci:x\n");
	record(lines, "6,13,5,-;usb 1-1: not asked for DMA\n");
	record(lines, "4,14,18446744073709551615,c,caller=T1;DMAR: fault\\x0a\n");
	record(lines, "no form at all");
	record(lines, ";DMAR");
	record(lines, "x,1,2;DMAR");
	record(lines, "6;DMAR");
	record(lines, "6,1;DMAR");
	record(lines, "");
	expected = json_pack("[{s:i, s:i, s:s}, {s:s, s:i, s:s}]",
			     "time_us", 4500123, "level", 6, "text", "ice 0000:01:00.0: DDP loaded",
			     "time_us", "18446744073709551615", "level", 4, "text", "DMAR: fault\\x0a");
	assert_true(json_equal(lines, expected));
}

static void test_syslog(void **state RH_UNUSED)
{
	_cleanup_json_ json_t *lines = json_array(), *expected = NULL;

	kmsg_parse_syslog_line(lines, needles, "<14>[   12.000345] ice 0000:01:00.0: up");
	kmsg_parse_syslog_line(lines, needles, "<3>DMAR: no time");
	kmsg_parse_syslog_line(lines, needles, "<3DMAR");
	kmsg_parse_syslog_line(lines, needles, "<6>[ 1.5] other");
	kmsg_parse_syslog_line(lines, needles, "");
	expected = json_pack("[{s:i, s:i, s:s}, {s:i, s:i, s:s}]",
			     "time_us", 12000345, "level", 6, "text", "ice 0000:01:00.0: up",
			     "time_us", 0, "level", 3, "text", "DMAR: no time");
	assert_true(json_equal(lines, expected));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_module, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_no_modules, tree_setup, tree_teardown),
		cmocka_unit_test(test_kmsg),
		cmocka_unit_test(test_syslog),
	};

	return cmocka_run_group_tests_name("host/module", tests, NULL, NULL);
}
