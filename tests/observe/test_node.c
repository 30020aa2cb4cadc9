/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/node.h"
#include "tree.h"

static void undoes_shell_quoting(void **state)
{
	_cleanup_json_ json_t *r = os_release_parse(
		"# comment\n"
		"NAME=\"Red Hat Enterprise Linux\"\n"
		"ID=rhel\n"
		"VERSION_ID='10.2'\n"
		"PRETTY_NAME=\"a \\\"quoted\\\" \\$ \\\\ back\\slash\"\n"
		"SINGLE='no \\ escape'\n"
		"TRAILING=word # comment\n"
		"  ID=second\n"
		"not an assignment\n"
		"lower=ignored\n"
		"EMPTY=\n"
		"OPEN=\"no end\n");

	(void)state;
	assert_string_equal(json_get_string(r, "name", ""), "Red Hat Enterprise Linux");
	assert_string_equal(json_get_string(r, "version_id", ""), "10.2");
	assert_string_equal(json_get_string(r, "pretty_name", ""), "a \"quoted\" $ \\ back\\slash");
	assert_string_equal(json_get_string(r, "single", ""), "no \\ escape");
	assert_string_equal(json_get_string(r, "trailing", ""), "word");
	assert_string_equal(json_get_string(r, "id", ""), "second");
	assert_string_equal(json_get_string(r, "empty", "absent"), "");
	assert_string_equal(json_get_string(r, "open", ""), "no end");
	assert_null(json_object_get(r, "lower"));
	assert_int_equal(json_object_size(r), 8);
}

static const char *const options[] = {
	"CONFIG_PCI_P2PDMA", "CONFIG_INFINIBAND", "CONFIG_DCB", "CONFIG_UDMABUF", NULL,
};

static void reads_a_kernel_configuration(void **state)
{
	_cleanup_json_ json_t *c = kernel_config_parse(
		"CONFIG_PCI_P2PDMA=y\n"
		"CONFIG_INFINIBAND=m\n"
		"CONFIG_INFINIBAND_IRDMA=m\n"
		"# CONFIG_DCB is not set\n"
		"# CONFIG_UDMABUF is a comment\n", options);

	(void)state;
	assert_int_equal(json_object_size(c), 4);
	assert_string_equal(json_get_string(c, "CONFIG_PCI_P2PDMA", ""), "y");
	assert_string_equal(json_get_string(c, "CONFIG_INFINIBAND", ""), "m");
	assert_string_equal(json_get_string(c, "CONFIG_DCB", ""), "n");
	/* no line: kconfig leaves out what cannot be chosen */
	assert_string_equal(json_get_string(c, "CONFIG_UDMABUF", ""), "n");
}

static void says_nothing_about_other_files(void **state)
{
	(void)state;
	assert_null(kernel_config_parse("", options));
	assert_null(kernel_config_parse("# CONFIG_DCB is a comment\n", options));
	assert_null(kernel_config_parse("<html>CONFIG_DCB</html>\nCONFIG_DCB\n#CONFIG_DCB=y\n", options));
}

static void tells_the_node(void **state)
{
	struct tree t;

	(void)state;
	tree_start(&t);
	tree_file(&t, "/proc/sys/kernel/hostname", "gpu-node-01\n");
	tree_file(&t, "/proc/sys/kernel/osrelease", "6.12.0-124.el10.x86_64\n");
	tree_file(&t, "/proc/sys/kernel/version", "#1 SMP\n");
	tree_file(&t, "/proc/sys/kernel/tainted", "4096\n");
	tree_file(&t, "/proc/sys/kernel/random/boot_id", "5c3f\n");
	tree_file(&t, "/proc/cmdline", "root=/dev/sda1 iommu=pt\n");
	tree_file(&t, "/proc/sys/net/ipv4/conf/all/arp_ignore", "1\n");
	tree_file(&t, "/usr/lib/os-release", "ID=\"rhel\"\nVERSION_ID=\"10.2\"\nANSI_COLOR=\"0;31\"\n");
	tree_file(&t, "/lib/modules/6.12.0-124.el10.x86_64/config", "CONFIG_DCB=y\n");
	tree_link(&t, "/lib/modules/6.12.0-124.el10.x86_64/build", "../../../usr/src/kernels/x");
	tree_folder(&t, "/usr/src/kernels/x");
	tree_folder(&t, "/lib/modules/6.12.0-100.el10.x86_64");
	observe_node(&t.o);

	assert_fact(&t.o, "/node", "{\"hostname\": \"gpu-node-01\", \"boot_id\": \"5c3f\"}");
	assert_fact(&t.o, "/os/release", "{\"id\": \"rhel\", \"version_id\": \"10.2\"}");
	assert_fact(&t.o, "/os/kernel/release", "\"6.12.0-124.el10.x86_64\"");
	assert_fact(&t.o, "/os/kernel/cmdline", "\"root=/dev/sda1 iommu=pt\"");
	assert_fact(&t.o, "/os/kernel/tainted", "4096");
	assert_fact(&t.o, "/os/kernel/config/CONFIG_DCB", "\"y\"");
	assert_fact(&t.o, "/os/kernel/config/CONFIG_PCI_P2PDMA", "\"n\"");
	assert_fact(&t.o, "/os/kernel/headers", "true");
	assert_fact(&t.o, "/os/kernel/installed",
		    "[\"6.12.0-100.el10.x86_64\", \"6.12.0-124.el10.x86_64\"]");
	assert_fact(&t.o, "/os/sysctl", "{\"net.ipv4.conf.all.arp_ignore\": \"1\"}");
	assert_int_equal(gaps(&t.o), 0);
	tree_end(&t);
}

static void headers_need_a_folder(void **state)
{
	struct tree t;

	(void)state;
	tree_start(&t);
	tree_file(&t, "/proc/sys/kernel/osrelease", "6.12\n");
	tree_link(&t, "/lib/modules/6.12/build", "/usr/src/missing");
	observe_node(&t.o);
	assert_fact(&t.o, "/os/kernel/headers", "false");
	tree_end(&t);

	tree_start(&t);
	tree_file(&t, "/proc/sys/kernel/osrelease", "6.12\n");
	tree_file(&t, "/lib/modules/6.12/build", "");
	observe_node(&t.o);
	assert_fact(&t.o, "/os/kernel/headers", "false");
	tree_end(&t);
}

static void an_empty_tree_gives_gaps(void **state)
{
	struct tree t;

	(void)state;
	tree_start(&t);
	observe_node(&t.o);
	assert_gap(&t.o, "/node");
	assert_gap(&t.o, "/os/release");
	assert_gap(&t.o, "/os/kernel/config");
	assert_gap(&t.o, "/os/kernel/installed");
	assert_gap(&t.o, "/os/kernel/headers");
	assert_absent(&t.o, "/os/release");
	assert_absent(&t.o, "/os/kernel/installed");
	tree_end(&t);
}

static void broken_files_give_gaps(void **state)
{
	static char huge[(4u << 20) + 2];
	struct tree t;

	(void)state;
	tree_start(&t);
	memset(huge, 'A', sizeof(huge));
	tree_bytes(&t, "/etc/os-release", huge, sizeof(huge));
	tree_file(&t, "/proc/sys/kernel/osrelease", "../../etc\n");
	tree_file(&t, "/proc/sys/kernel/tainted", "yes\n");
	tree_folder(&t, "/proc/cmdline");
	observe_node(&t.o);
	assert_int_equal(json_get_int(gap_at(&t.o, "/os/release"), "errno", 0), EFBIG);
	assert_int_equal(json_get_int(gap_at(&t.o, "/os/kernel/cmdline"), "errno", 0), EISDIR);
	assert_gap(&t.o, "/os/kernel/tainted");
	assert_absent(&t.o, "/os/kernel/tainted");
	assert_gap(&t.o, "/os/kernel/config");
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(undoes_shell_quoting),
		cmocka_unit_test(reads_a_kernel_configuration),
		cmocka_unit_test(says_nothing_about_other_files),
		cmocka_unit_test(tells_the_node),
		cmocka_unit_test(headers_need_a_folder),
		cmocka_unit_test(an_empty_tree_gives_gaps),
		cmocka_unit_test(broken_files_give_gaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
