/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of phases 13 to 16: baseline, then DSCP, PFC and ECN, each measured against the last. */
#include "render/runbook.h"

#include <string.h>

/* As few as can fill a port by more than it takes. */
#define INCAST_SENDERS 2

/* --- 13 --- */

void runbook_baseline_steps(struct runbook *b)
{
	const struct site_node *node = runbook_first(b->r, WHERE_RDMA);
	_cleanup_free_ char *ports = runbook_nics(node);
	/* phases 15 and 16 are compared with it: only what has as many senders can be */
	bool incast = b->has.qos && (b->has.pfc || b->has.ecn);

	if (b->has.qos && b->has.dcb) {
		book_step(b, PHRASE_BASELINE_OFF, node->name, NULL);
		book_command(b,
			     "for port in %s; do\n"
			     "\tdcb pfc show dev \"$port\"\n"
			     "\tdcb app show dev \"$port\"\n"
			     "done",
			     ports);
	}
	if (b->has.switches)
		book_say(b, PHRASE_BASELINE_SWITCH, NULL);
	runbook_prove(b, PHRASE_BASELINE_MEASURE, "--suite baseline", incast ? INCAST_SENDERS : 1);
	if (incast)
		book_say(b, PHRASE_BASELINE_INCAST, NULL);
	book_say(b, PHRASE_BASELINE_PERFTEST, NULL);
	runbook_prove_judge(b);
}

/* --- 14 --- */

void runbook_qos_steps(struct runbook *b)
{
	const struct site_node *node = runbook_first(b->r, WHERE_RDMA);
	/* ice refuses changes of DCB on the ports of a bond */
	const char *bond = b->has.ice ? runbook_bond(node) : NULL;

	if (!b->has.dcb) {
		book_say(b, PHRASE_QOS_NO_DCB, NULL);
	} else {
		_cleanup_free_ char *ports = runbook_nics(node);
		_cleanup_free_ char *quoted = runbook_quoted(bond ? bond : "");

		book_say(b, PHRASE_QOS_CHANGE, NULL);
		if (bond) {
			book_step(b, PHRASE_QOS_UNBOND, node->name, NULL);
			book_command(b, "nmcli connection down %s", quoted);
		}
		book_step(b, PHRASE_QOS_APPLY, node->name, NULL);
		runbook_hand_qos(b, node);
		if (bond) {
			book_step(b, PHRASE_QOS_REBOND, NULL);
			book_command(b, "nmcli connection up %s", quoted);
		}
		book_step(b, PHRASE_QOS_LOOK, NULL);
		book_command(b,
			     "for port in %s; do\n"
			     "\tdcb dcbx show dev \"$port\"\n"
			     "\tdcb app show dev \"$port\"\n"
			     "\tdcb ets show dev \"$port\"\n"
			     "\tdcb pfc show dev \"$port\"\n"
			     "done",
			     ports);
		if (book_has(b, "qos/")) {
			book_step(b, PHRASE_QOS_INSTALL, node->name, NULL);
			runbook_copy(b, "qos", node, NULL);
			runbook_hand_boot(b);
		}
	}
	runbook_prove(b, PHRASE_PROVE_PAIR, "", 1);
	book_say(b, PHRASE_QOS_MARK, NULL);
	runbook_prove_judge(b);
}

void runbook_qos_undo(struct runbook *b)
{
	if (b->has.dcb)
		runbook_hand_qos_undo(b, runbook_first(b->r, WHERE_RDMA));
}

/* --- 15 --- */

/* How a network operating system keeps what it has, and takes it back. */
static const struct {
	const char *platform, *save, *restore;
} platforms[] = {
	{ "sonic", "sudo cp /etc/sonic/config_db.json /etc/sonic/config_db.before-roce.json",
	  "sudo config reload -y /etc/sonic/config_db.before-roce.json" },
	{ "nvue", "nv config history", "nv config apply REVISION" },
	{ "eos", "configure checkpoint save before-roce", "configure checkpoint restore before-roce" },
	{ "nxos", "checkpoint before-roce", "rollback running-config checkpoint before-roce" },
};

static size_t platform_of(const struct runbook *b)
{
	const char *declared = json_string_value(
		json_pointer_get(b->r->site->document, "/switch/platform"));
	size_t i = 0;

	while (declared && i < ARRAY_SIZE(platforms) && strcmp(platforms[i].platform, declared) != 0)
		i++;
	return declared ? i : ARRAY_SIZE(platforms);
}

/* One step for each kind of switch, with the files of the first switch. */
static void put_switches(struct runbook *b)
{
	_cleanup_free_ const char **files = runbook_files_below(b, "switch/", "/verify.txt");
	_cleanup_free_ char *last = NULL;

	if (!files[0])
		book_step(b, PHRASE_PFC_CONFIGURE_NONE, NULL);
	for (const char **verify = files; *verify; verify++) {
		/* switch/PLATFORM/SWITCH/verify.txt */
		const char *platform = *verify + strlen("switch/");
		size_t len = strcspn(platform, "/");
		_cleanup_free_ char *folder =
			xasprintf("%.*s", (int)(strrchr(*verify, '/') + 1 - *verify), *verify);

		if (last && !strncmp(last, platform, len) && !last[len])
			continue;
		free(last);
		last = xstrndup(platform, len);
		_cleanup_free_ const char **paths = runbook_files_below(b, folder, "");
		const char *config = strcmp(paths[0], *verify) ? paths[0] : paths[1];

		book_step(b, PHRASE_PFC_CONFIGURE, last, config ? config : folder, *verify, NULL);
	}
	if (last && b->has.ecn)
		book_say(b, PHRASE_PFC_ORDER, NULL);
}

void runbook_pfc_steps(struct runbook *b)
{
	const struct site_node *node = runbook_first(b->r, WHERE_RDMA);
	_cleanup_free_ char *ports = runbook_nics(node);
	size_t platform = platform_of(b);

	if (platform < ARRAY_SIZE(platforms)) {
		book_step(b, PHRASE_PFC_SAVE, NULL);
		book_command(b, "%s", platforms[platform].save);
	} else {
		book_step(b, PHRASE_PFC_SAVE_PLAIN, NULL);
	}
	put_switches(b);
	runbook_prove(b, PHRASE_PFC_INCAST, "--suite pfc", INCAST_SENDERS);
	book_step(b, PHRASE_PFC_COUNTERS, node->name, NULL);
	book_command(b,
		     "for port in %s; do\n"
		     "\tdcb -s pfc show dev \"$port\"\n"
		     "\tethtool -S \"$port\" | grep -i -e prio -e pause -e xoff -e drop -e discard\n"
		     "done",
		     ports);
	runbook_prove_judge(b);
}

void runbook_pfc_undo(struct runbook *b)
{
	size_t platform = platform_of(b);

	if (platform < ARRAY_SIZE(platforms))
		book_command(b, "%s", platforms[platform].restore);
}

/* --- 16 --- */

void runbook_ecn_steps(struct runbook *b)
{
	const struct site_node *node = runbook_first(b->r, WHERE_RDMA);

	book_step(b, PHRASE_ECN_SWITCH, NULL);
	book_say(b, b->has.ecn_host ? PHRASE_ECN_HOST : PHRASE_ECN_SWITCH_ONLY, NULL);
	runbook_prove(b, PHRASE_ECN_MEASURE, "--suite ecn", INCAST_SENDERS);
	book_step(b, PHRASE_ECN_COUNTERS, node->name, NULL);
	book_command(b, "grep . /sys/class/infiniband/*/ports/1/hw_counters/* | grep -i -e cnp -e ecn");
	runbook_prove_judge(b);
}
