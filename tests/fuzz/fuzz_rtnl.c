/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as one rtnetlink message: its type chooses the parser (links, addresses, routes, DCB).
 * The transport guarantees the length, so it is set to that of the input.
 */
#include <linux/rtnetlink.h>
#include <string.h>

#include "base/alloc.h"
#include "observe/dcb.h"
#include "observe/links.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_json_ json_t *snapshot = json_object();
	struct observation o = {.snapshot = snapshot};
	json_t *link = json_obj(json_obj(snapshot, "links"), "eth0");
	_cleanup_link_table_ struct link_table table = {0};
	_cleanup_free_ struct nlmsghdr *nlh = NULL;
	struct links_dump dump = {.o = &o};
	struct links_context context = {.o = &o, .table = &table};
	struct dcb_context dcb = {.o = &o, .name = "eth0", .link = link};

	if (size < sizeof(*nlh))
		return 0;
	nlh = xmalloc(size);
	memcpy(nlh, data, size);
	nlh->nlmsg_len = (uint32_t)size;
	json_put_int(link, "index", 2);
	link_table_load(&table, snapshot);

	switch (nlh->nlmsg_type) {
	case RTM_NEWLINK:
		links_parse_link(nlh, &dump);
		links_resolve(&dump);
		links_dump_clear(&dump);
		break;
	case RTM_NEWADDR:
		links_parse_address(nlh, &context);
		break;
	case RTM_NEWROUTE:
		routes_parse_route(nlh, &context);
		break;
	case RTM_GETDCB:
		dcb_parse(nlh, &dcb);
		break;
	}

	/* whatever was made of it can be printed */
	_cleanup_free_ RH_UNUSED char *text = json_to_text(snapshot, false);
	return 0;
}
