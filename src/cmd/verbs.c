/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <signal.h>
#include <string.h>

#include "cmd/cmd.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"

#define OPT_OBSERVE (OPT_REPLAY | OPT_ROOT)
#define OPT_COMMON (OPT_OUTPUT | OPT_HELP)

static const struct cmd_verb verbs[] = {
	{
		.name = "check",
		.operands = "[SNAPSHOT]...",
		.max_operands = SIZE_MAX,
		.options = OPT_SITE | OPT_NODE | OPT_OBSERVE | OPT_SINCE | OPT_PROOFS | OPT_FORMAT |
			   OPT_COLOUR | OPT_QUIET | OPT_VERBOSE | OPT_COMMON,
		.formats = "text json html junit ctrf",
		.summary = "judge this node, or snapshots, or a recording, against a site",
		.description =
			"Observes this machine, judges it gate by gate, and says how far the path from GPU\n"
			"memory to object storage is proven, what stops it, why, and how to fix it.\n"
			"With SNAPSHOT files (from `railhead snapshot`, '-' is standard input) judges those\n"
			"instead, and the gates between two nodes as well. Changes nothing on the machine.\n"
			"Without --site, RDMA ports, bonds and GPUs are discovered, and every expectation\n"
			"that was assumed is named.\n\n"
			"Exit status: 0 every applicable gate passed, 1 some gate failed, is blocked or\n"
			"unknown, 2 usage or bad input, 3 railhead itself failed.",
		.run = cmd_check,
	},
	{
		.name = "gates",
		.operands = "",
		.options = OPT_FORMAT | OPT_COLOUR | OPT_COMMON,
		.formats = "text json",
		.summary = "list the gates",
		.description =
			"Lists every gate in ladder order: phase, level, scope, and what it asks.",
		.run = cmd_gates,
	},
	{
		.name = "explain",
		.operands = "GATE...",
		.min_operands = 1,
		.max_operands = SIZE_MAX,
		.options = OPT_FORMAT | OPT_COLOUR | OPT_COMMON,
		.formats = "text json",
		.summary = "what a gate proves, why it matters, how to fix it, and the source",
		.description = "Explains gates by id, as listed by `railhead gates`.",
		.run = cmd_explain,
	},
	{
		.name = "snapshot",
		.operands = "",
		.options = OPT_OBSERVE | OPT_COMMON,
		.summary = "print the facts of this node as JSON",
		.description =
			"Prints what railhead sees of this machine (docs/snapshot.md), for `railhead check`\n"
			"on another machine, for comparison, or for a program. Judges nothing.",
		.run = cmd_snapshot,
	},
	{
		.name = "record",
		.operands = "",
		.options = OPT_ANONYMIZE | OPT_NOTE | OPT_COMMON,
		.summary = "save what the doors saw, for a bug report or a test",
		.description =
			"Takes a snapshot and saves every question to the machine with its answer: files and\n"
			"netlink messages. `railhead check --replay FILE` judges the recording anywhere, with\n"
			"the same verdicts. Needs -o FILE. Nothing is kept that no gate asked for.",
		.run = cmd_record,
	},
	{
		.name = "report",
		.operands = "REPORT",
		.min_operands = 1,
		.max_operands = 1,
		.options = OPT_FORMAT | OPT_COLOUR | OPT_QUIET | OPT_VERBOSE | OPT_COMMON,
		.formats = "text json html junit ctrf",
		.summary = "show a stored JSON report in another format",
		.description =
			"Reads what `railhead check` or `railhead plan` wrote with --format json ('-' is standard\n"
			"input) and shows it as text, page, JUnit or CTRF, without looking at any machine.\n\n"
			"Exit status: that of the check or plan which made the report.",
		.run = cmd_report,
	},
	{
		.name = "plan",
		.operands = "SITE",
		.max_operands = 1,
		.options = OPT_SITE | OPT_DATA | OPT_MATRIX | OPT_COMPONENTS | OPT_UPGRADE |
			   OPT_FORMAT | OPT_COLOUR | OPT_QUIET | OPT_VERBOSE | OPT_COMMON,
		.formats = "text json html junit ctrf",
		.summary = "judge a site on paper: support matrix and known traps",
		.description =
			"Judges a declared site before anything is bought or installed: which combinations the\n"
			"support matrix has, which traps are known, what else could be chosen where the plan\n"
			"fails, how much the switch must buffer, and what nobody can know before it was tried.\n"
			"Asks no machine. SITE is the site file; --site FILE says the same.\n"
			"--matrix and --components print text or JSON; with --upgrade only what changes is shown.\n\n"
			"Exit status: 0 nothing stands against the plan (warnings allowed), 1 some gate failed or\n"
			"is unknown, 2 usage or bad input, 3 railhead itself failed.",
		.run = cmd_plan,
	},
	{
		.name = "render",
		.operands = "SITE",
		.min_operands = 1,
		.max_operands = 1,
		.options = OPT_FOLDER | OPT_DIFF | OPT_FORCE | OPT_LANGUAGE | OPT_DATA | OPT_QUIET |
			   OPT_HELP,
		.summary = "write every file that a site needs",
		.description =
			"Writes below DIR what the declared site needs: Kubespray inventory, host network, QoS,\n"
			"values of the GPU Operator, mirror of the air gap, Kubernetes manifests, switch\n"
			"configuration, and a runbook that says what to do with them. The same site gives the\n"
			"same bytes; manifest.json and SHA256SUMS list them. Changes no machine.\n"
			"A folder that was rendered before is brought up to date; files that somebody edited\n"
			"since then are an error, with --force they are kept as FILE.orig.\n"
			"Refuses a site whose plan fails, unless --force is given.\n\n"
			"Exit status: 0 written (with --diff: nothing would change), 1 the plan fails (with\n"
			"--diff: something would change), 2 usage or bad input, 3 railhead itself failed.",
		.run = cmd_render,
	},
	{
		.name = "prove",
		.operands = "HOST",
		.max_operands = 1,
		.options = OPT_LISTEN | OPT_BIND | OPT_PORT | OPT_TOKEN | OPT_ONCE | OPT_SENDERS |
			   OPT_TIMEOUT |
			   OPT_SITE | OPT_NODE | OPT_LINK | OPT_DEVICE | OPT_GID_INDEX |
			   OPT_OPERATION | OPT_SIZE | OPT_SIZES | OPT_QPS | OPT_DEPTH |
			   OPT_DURATION | OPT_DSCP | OPT_ECN | OPT_TCLASS | OPT_MEMORY | OPT_SUITE |
			   OPT_GPU | OPT_DMABUF_DOUBLE | OPT_COMPARE | OPT_STORE |
			   OPT_NO_STORE | OPT_FORMAT | OPT_COLOUR | OPT_QUIET | OPT_VERBOSE |
			   OPT_COMMON,
		.formats = "text json html",
		.summary = "prove RDMA between two nodes, byte by byte",
		.description =
			"Runs RDMA between this node and another one, looks at every byte that arrives, and at\n"
			"the counters of both ends: RDMA must have carried it, and TCP must not. Then speed, and\n"
			"how packets are marked when they arrive. Both ends keep a record for `railhead check`.\n"
			"With --listen it waits, and prints the command line for the other node, which says what\n"
			"is to be run. Link, device and GID follow from the site, or from the route to HOST.\n\n"
			"Exit status: 0 proven, 1 not proven, 2 usage or bad input, 3 railhead itself failed.",
		.run = cmd_prove,
	},
	{
		.name = "version",
		.operands = "",
		.options = OPT_FORMAT | OPT_COMMON,
		.formats = "text json",
		.summary = "print the version, schemas and libraries",
		.description =
			"Prints railhead's version, the schema versions that it writes, and its libraries.",
		.run = cmd_version,
	},
	{
		.name = "completion",
		.operands = "",
		.options = OPT_COMMON,
		.summary = "print a bash completion script",
		.description = "Prints a bash completion script: source <(railhead completion)",
		.run = cmd_completion,
	},
};

const struct cmd_verb *cmd_verbs(size_t *n)
{
	*n = ARRAY_SIZE(verbs);
	return verbs;
}

static const struct cmd_verb *verb_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	}
	return NULL;
}

static void print_help(FILE *out)
{
	fputs("Usage: railhead VERB [OPTION]...\n\n"
	      "Proves, gate by gate, the path from GPU memory over GPUDirect RDMA and RoCEv2 to\n"
	      "object storage, and says where it ends.\n\nVerbs:\n",
	      out);
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		fprintf(out, "  %-11s %s\n", verbs[i].name, verbs[i].summary);
	fputs("\n`railhead VERB --help` and the man page railhead-VERB(1) say more.\n"
	      "Start with: railhead check\n",
	      out);
}

static int unknown_verb(const char *name)
{
	const char *names[ARRAY_SIZE(verbs)];

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		names[i] = verbs[i].name;
	const char *near = text_nearest(name, names, ARRAY_SIZE(names));
	_cleanup_free_ char *safe = text_printable(name, strlen(name));

	fprintf(stderr, "railhead: unknown verb '%s'%s%s%s\nTry 'railhead --help'.\n", safe,
		near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
	return CMD_USAGE;
}

/* Everything was printed; did it arrive? A full disk or a closed pipe must not look like
 * success. */
static int flush_output(int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "railhead: cannot write to standard output: %m\n");
		return CMD_INTERNAL;
	}
	return status;
}

int cmd_main(int argc, char **argv)
{
	file_hold_streams();
	/* a closed reader and RLIMIT_FSIZE are errors of write(2), told as such */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (argc < 2) {
		print_help(stderr);
		return CMD_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		const struct cmd_verb *about = argc > 2 ? verb_find(argv[2]) : NULL;

		if (argc > 2 && !about)
			return unknown_verb(argv[2]);
		if (about) {
			_cleanup_free_ char *usage = cmd_usage(about);
			fputs(usage, stdout);
		} else {
			print_help(stdout);
		}
		return flush_output(CMD_OK);
	}

	const struct cmd_verb *verb = verb_find(
		strcmp(argv[1], "--version") && strcmp(argv[1], "-V") ? argv[1] : "version");
	if (!verb)
		return unknown_verb(argv[1]);

	_cleanup_error_ struct error err = {0};
	_cleanup_args_ struct cmd_args args = {0};

	if (cmd_args_parse(&args, verb, argc - 1, argv + 1, &err) < 0) {
		cmd_complain(CMD_USAGE, &err);
		fprintf(stderr, "Try 'railhead %s --help'.\n", verb->name);
		return CMD_USAGE;
	}
	if (args.help) {
		_cleanup_free_ char *usage = cmd_usage(verb);
		fputs(usage, stdout);
		return flush_output(CMD_OK);
	}
	return flush_output(verb->run(&args));
}
