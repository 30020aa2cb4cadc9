/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <string.h>

#include "cmd/cmd.h"

#include "base/strbuf.h"
#include "base/text.h"
#include "prove/record.h"

#define TO(member) .offset = offsetof(struct cmd_args, member)

/* In the order of enum cmd_option_bit. */
static const struct cmd_option options[] = {
	{ "site", 's', "FILE", "judge against this site.yaml", TO(site) },
	{ "node", 'n', "NAME", "this machine (or snapshot) is node NAME of the site", TO(node) },
	{ "replay", 0, "FILE", "answer from a recording instead of this machine", TO(replay) },
	{ "root", 0, "DIR", "read files below DIR (no netlink, no devices)", TO(root) },
	{ "since", 0, "FILE", "earlier snapshot of the same node: counters are compared with it",
	  TO(since) },
	{ "format", 'f', "FORMAT", "output format", TO(format) },
	{ "output", 'o', "FILE", "write to FILE instead of standard output", TO(output) },
	{ "anonymize", 0, NULL, "replace MACs, addresses, serials and host names, consistently",
	  TO(anonymize) },
	{ "note", 0, "TEXT", "keep TEXT in the recording", TO(note) },
	{ "color", 0, "WHEN", "auto, always or never (NO_COLOR is honoured)", TO(colour) },
	{ "quiet", 'q', NULL, "only the closing line", TO(quiet) },
	{ "verbose", 'v', NULL, "also the evidence of every verdict", TO(verbose) },
	{ "help", 'h', NULL, "show this help and exit", TO(help) },
	{ "data", 0, "DIR", "take tables of the support matrix from DIR", TO(data) },
	{ "matrix", 0, NULL, "print the support matrix and where each table comes from",
	  TO(matrix) },
	{ "components", 0, NULL, "print the bill: each component, where it lives, why",
	  TO(components) },
	{ "upgrade", 0, "KEY=VALUE", "show what changes with this value; may be repeated",
	  TO(upgrades) },
	{ "output", 'o', "DIR", "write the files below DIR", TO(folder) },
	{ "diff", 0, "DIR", "show what would change in DIR, and write nothing", TO(diff) },
	{ "force", 0, NULL, "although the plan fails; replace edited files, kept as FILE.orig",
	  TO(force) },
	{ "lang", 0, "LANG", "language of what people read: en or ko", TO(language) },
	{ "listen", 0, NULL, "wait for the other node; print its command line", TO(prove.listen) },
	{ "bind", 0, "ADDR", "listen on this address only", TO(prove.bind) },
	{ "port", 0, "N", "TCP port of the control channel (default: 18516)", TO(prove.port) },
	{ "token", 0, "T", "one-time token that the listener printed", TO(prove.token) },
	{ "once", 0, NULL, "serve one peer and end", TO(prove.once) },
	{ "timeout", 0, "S", "give up when the other end says nothing for S seconds",
	  TO(prove.timeout) },
	{ "link", 0, "NAME", "link of the RDMA port, instead of the one that leads there",
	  TO(prove.link) },
	{ "device", 0, "NAME", "RDMA device", TO(prove.device) },
	{ "gid-index", 0, "N", "GID index of the RDMA port", TO(prove.gid_index) },
	{ "operation", 0, "LIST", "write, read, send, separated by commas (default: all)",
	  TO(prove.operation) },
	{ "size", 0, "N", "bytes of a message; K and M count in 1024s", TO(prove.size) },
	{ "sizes", 0, "A..B", "sizes doubling from A to B (default: 1..1M)", TO(prove.sizes) },
	{ "qps", 0, "N", "queue pairs (default: 1)", TO(prove.qps) },
	{ "depth", 0, "N", "work requests of one queue (default: 64, of 4 MiB at most)", TO(prove.depth) },
	{ "duration", 0, "S", "seconds of each speed run (default: 2; 0: none)",
	  TO(prove.duration) },
	{ "dscp", 0, "N", "mark with this DSCP and see what arrives (default: the site's)",
	  TO(prove.dscp) },
	{ "ecn", 0, NULL, "mark as ECN capable (ECT) too", TO(prove.ecn) },
	{ "tclass", 0, "N", "the same as one byte: DSCP times 4, and 2 for ECT",
	  TO(prove.tclass) },
	{ "memory", 0, "KIND", "memory of both ends, or LOCAL,REMOTE (default: host)",
	  TO(prove.memory) },
	{ "suite", 0, "NAME", "the runs of a phase: baseline, pfc, ecn or gdr", TO(prove.suite) },
	{ "gpu", 0, "BDF", "GPU whose memory is used (default: the first)",
	  TO(prove.gpu) },
	{ "dmabuf-double", 0, NULL, "register the mapping below a DMA-BUF; proves nothing",
	  TO(prove.dmabuf_double) },
	{ "store", 0, "DIR", "keep the record below DIR (default: " PROOF_FOLDER ")",
	  TO(prove.store) },
	{ "no-store", 0, NULL, "keep no record", TO(prove.no_store) },
	{ "proofs", 0, "DIR", "take proof records from DIR (default: " PROOF_FOLDER ")",
	  TO(proofs) },
	{ "senders", 0, "N", "with --listen: N peers, which send at the same time (incast)",
	  TO(prove.senders) },
	{ "compare", 0, "TOOL", "at both ends: after each speed run the same by TOOL: perftest",
	  TO(prove.compare) },
};

static uint64_t option_bit(size_t i)
{
	return UINT64_C(1) << i;
}

const struct cmd_option *cmd_options(size_t *n)
{
	*n = ARRAY_SIZE(options);
	return options;
}

static int colour_parse(enum cmd_colour *colour, const char *value, struct error *err)
{
	if (!strcmp(value, "auto"))
		*colour = CMD_COLOUR_AUTO;
	else if (!strcmp(value, "always"))
		*colour = CMD_COLOUR_ALWAYS;
	else if (!strcmp(value, "never"))
		*colour = CMD_COLOUR_NEVER;
	else
		return error_set(err, -EINVAL, "--color takes auto, always or never, not '%s'",
				 value);
	return 0;
}

static int language_parse(const char **language, const char *value, struct error *err)
{
	if (strcmp(value, "en") && strcmp(value, "ko"))
		return error_set(err, -EINVAL, "--lang takes en or ko, not '%s'", value);
	*language = value;
	return 0;
}

/* Options that may be repeated keep all of their values. */
static void value_add(const char ***values, const char *value)
{
	size_t n = 0;

	while (*values && (*values)[n])
		n++;
	*values = xreallocarray(*values, n + 2, sizeof(**values));
	(*values)[n] = value;
	(*values)[n + 1] = NULL;
}

void cmd_args_clear(struct cmd_args *args)
{
	free(args->upgrades);
	args->upgrades = NULL;
}

static int option_store(struct cmd_args *args, size_t i, const char *value, struct error *err)
{
	void *member = (char *)args + options[i].offset;

	switch (option_bit(i)) {
	case OPT_COLOUR:
		return colour_parse(&args->colour, value, err);
	case OPT_VERBOSE:
		args->verbose++;
		return 0;
	case OPT_UPGRADE:
		value_add(&args->upgrades, value);
		return 0;
	case OPT_LANGUAGE:
		return language_parse(&args->language, value, err);
	}
	if (options[i].value)
		*(const char **)member = value;
	else
		*(bool *)member = true;
	return 0;
}

/* Is `word` one of the blank-separated `list`? */
static bool word_in(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list; len && (p = strstr(p, word)); p += len) {
		if ((p == list || p[-1] == ' ') && (p[len] == '\0' || p[len] == ' '))
			return true;
	}
	return false;
}

static int unknown_option(const struct cmd_verb *verb, const char *text, struct error *err)
{
	const char *names[ARRAY_SIZE(options)];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (verb->options & option_bit(i))
			names[n++] = options[i].name;
	}
	const char *near = text_starts_with(text, "--") ? text_nearest(text + 2, names, n) : NULL;
	_cleanup_free_ char *safe = text_printable(text, strlen(text));

	return error_set(err, -EINVAL, "%s: unknown option %s%s%s%s", verb->name, safe,
			 near ? " (did you mean --" : "", near ? near : "", near ? "?)" : "");
}

/* Letters and long options of one verb, for getopt_long(). */
static void getopt_tables(const struct cmd_verb *verb, struct strbuf *letters,
			  struct option *longs)
{
	strbuf_puts(letters, ":");
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (!(verb->options & option_bit(i)))
			continue;
		*longs++ = (struct option){
			.name = options[i].name,
			.has_arg = options[i].value ? required_argument : no_argument,
			.val = 256 + (int)i,
		};
		if (options[i].letter) {
			strbuf_putc(letters, options[i].letter);
			if (options[i].value)
				strbuf_putc(letters, ':');
		}
	}
	*longs = (struct option){0};
}

/* The same letter may stand for other options of other verbs. */
static int option_index(const struct cmd_verb *verb, int c)
{
	if (c >= 256)
		return c - 256;
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (options[i].letter == c && (verb->options & option_bit(i)))
			return (int)i;
	}
	return -1;
}

static int operands_check(const struct cmd_args *args, const struct cmd_verb *verb,
			  struct error *err)
{
	if (args->help)
		return 0;
	if (args->n_operands < verb->min_operands)
		return error_set(err, -EINVAL, "%s: %s is missing", verb->name, verb->operands);
	if (args->n_operands > verb->max_operands) {
		const char *extra = args->operands[verb->max_operands];
		_cleanup_free_ char *safe = text_printable(extra, strlen(extra));
		return error_set(err, -EINVAL, "%s: unexpected operand '%s'", verb->name, safe);
	}
	if (args->format && !word_in(verb->formats, args->format)) {
		_cleanup_free_ char *safe = text_printable(args->format, strlen(args->format));
		return error_set(err, -EINVAL, "%s: unknown format '%s' (one of: %s)", verb->name,
				 safe, verb->formats);
	}
	return 0;
}

int cmd_args_parse(struct cmd_args *args, const struct cmd_verb *verb, int argc, char **argv,
		   struct error *err)
{
	_cleanup_strbuf_ struct strbuf letters = {0};
	struct option longs[ARRAY_SIZE(options) + 1];
	int c;

	*args = (struct cmd_args){0};
	getopt_tables(verb, &letters, longs);
	optind = 0;	/* glibc: start anew */
	opterr = 0;
	while ((c = getopt_long(argc, argv, letters.s, longs, NULL)) != -1) {
		if (c == ':')
			return error_set(err, -EINVAL, "%s: option %s needs a value", verb->name,
					 argv[optind - 1]);
		int i = c == '?' ? -1 : option_index(verb, c);

		if (i < 0) {
			char letter[] = { '-', (char)optopt, '\0' };

			/* optopt is 0 for an unknown long option */
			return unknown_option(verb, optopt && optopt < 256 ? letter :
					      argv[optind - 1], err);
		}
		int rc = option_store(args, (size_t)i, optarg, err);
		if (rc < 0)
			return rc;
	}
	args->operands = argv + optind;
	args->n_operands = (size_t)(argc - optind);
	return operands_check(args, verb, err);
}

char *cmd_usage(const struct cmd_verb *verb)
{
	struct strbuf b = {0};

	strbuf_printf(&b, "Usage: railhead %s [OPTION]...%s%s\n\n%s\n\nOptions:\n", verb->name,
		      *verb->operands ? " " : "", verb->operands, verb->description);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (!(verb->options & option_bit(i)))
			continue;
		_cleanup_free_ char *name =
			xasprintf("%c%c%c --%s%s%s", options[i].letter ? '-' : ' ',
				  options[i].letter ? options[i].letter : ' ',
				  options[i].letter ? ',' : ' ', options[i].name,
				  options[i].value ? " " : "",
				  options[i].value ? options[i].value : "");
		strbuf_printf(&b, "  %-20s %s", name, options[i].help);
		if (option_bit(i) == OPT_FORMAT)
			strbuf_printf(&b, ": %s", verb->formats);
		strbuf_putc(&b, '\n');
	}
	return strbuf_steal(&b);
}
