/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line. Two tables drive it: options (options.c) and verbs (verbs.c). Parsing, usage,
 * `--help`, the completion script and a test that the man pages name every option come from them.
 * This is the only room that prints usage and chooses exit statuses.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Exit statuses; the same for every verb, and an interface. */
enum cmd_status {
	CMD_OK = 0,		/* every applicable gate passed; the work is done */
	CMD_NOT_PROVEN = 1,	/* some gate failed, is blocked or unknown */
	CMD_USAGE = 2,		/* usage, or bad input */
	CMD_INTERNAL = 3,	/* railhead itself failed */
};

enum cmd_colour { CMD_COLOUR_AUTO, CMD_COLOUR_ALWAYS, CMD_COLOUR_NEVER };

/* Values of `railhead prove` as they were given; prove.c reads the numbers. */
struct cmd_prove_args {
	const char *bind, *port, *token, *timeout, *senders;
	const char *link, *device, *gid_index;
	const char *operation, *size, *sizes, *qps, *depth, *duration, *dscp, *tclass, *memory;
	const char *suite, *gpu, *compare;
	const char *store;
	bool listen, once, ecn, no_store, dmabuf_double;
};

/* Values of all options; a verb looks at those that it accepts. Strings point into argv. */
struct cmd_args {
	const char *site;
	const char *node;
	const char *format;
	const char *output;
	const char *replay;
	const char *root;
	const char *since;
	const char *proofs;
	const char *note;
	const char *folder;	/* -o DIR of verbs that write several files */
	const char *diff;
	const char *language;
	const char *data;
	const char **upgrades;	/* NULL-terminated, NULL: none; see cmd_args_clear() */
	enum cmd_colour colour;
	bool anonymize;
	bool force;
	bool matrix;
	bool components;
	bool quiet;
	unsigned verbose;
	bool help;
	struct cmd_prove_args prove;
	char **operands;	/* what is left of argv */
	size_t n_operands;
};

/* Bits for struct cmd_verb.options, in the order of the table in options.c. */
enum cmd_option_bit {
	OPT_SITE = 1 << 0,
	OPT_NODE = 1 << 1,
	OPT_REPLAY = 1 << 2,
	OPT_ROOT = 1 << 3,
	OPT_SINCE = 1 << 4,
	OPT_FORMAT = 1 << 5,
	OPT_OUTPUT = 1 << 6,
	OPT_ANONYMIZE = 1 << 7,
	OPT_NOTE = 1 << 8,
	OPT_COLOUR = 1 << 9,
	OPT_QUIET = 1 << 10,
	OPT_VERBOSE = 1 << 11,
	OPT_HELP = 1 << 12,
	OPT_DATA = 1 << 13,
	OPT_MATRIX = 1 << 14,
	OPT_COMPONENTS = 1 << 15,
	OPT_UPGRADE = 1 << 16,
	OPT_FOLDER = 1 << 17,
	OPT_DIFF = 1 << 18,
	OPT_FORCE = 1 << 19,
	OPT_LANGUAGE = 1 << 20,
	OPT_LISTEN = 1ll << 21,
	OPT_BIND = 1ll << 22,
	OPT_PORT = 1ll << 23,
	OPT_TOKEN = 1ll << 24,
	OPT_ONCE = 1ll << 25,
	OPT_TIMEOUT = 1ll << 26,
	OPT_LINK = 1ll << 27,
	OPT_DEVICE = 1ll << 28,
	OPT_GID_INDEX = 1ll << 29,
	OPT_OPERATION = 1ll << 30,
	OPT_SIZE = 1ll << 31,
	OPT_SIZES = 1ll << 32,
	OPT_QPS = 1ll << 33,
	OPT_DEPTH = 1ll << 34,
	OPT_DURATION = 1ll << 35,
	OPT_DSCP = 1ll << 36,
	OPT_ECN = 1ll << 37,
	OPT_TCLASS = 1ll << 38,
	OPT_MEMORY = 1ll << 39,
	OPT_SUITE = 1ll << 40,
	OPT_GPU = 1ll << 41,
	OPT_DMABUF_DOUBLE = 1ll << 42,
	OPT_STORE = 1ll << 43,
	OPT_NO_STORE = 1ll << 44,
	OPT_PROOFS = 1ll << 45,
	OPT_SENDERS = 1ll << 46,
	OPT_COMPARE = 1ll << 47,
};

struct cmd_verb {
	const char *name;
	const char *operands;	/* synopsis of what follows the options, "" for none */
	size_t min_operands, max_operands;
	uint64_t options;	/* enum cmd_option_bit */
	const char *formats;	/* values of --format, "text json …"; NULL: no such option */
	const char *summary;	/* one line */
	const char *description;	/* for --help, wrapped by hand at 78 columns */
	int (*run)(const struct cmd_args *args);
};

/* --- verbs.c ---------------------------------------------------------------------------------- */
const struct cmd_verb *cmd_verbs(size_t *n);
int cmd_main(int argc, char **argv);

int cmd_check(const struct cmd_args *args);
int cmd_gates(const struct cmd_args *args);
int cmd_explain(const struct cmd_args *args);
int cmd_snapshot(const struct cmd_args *args);
int cmd_record(const struct cmd_args *args);
int cmd_report(const struct cmd_args *args);
int cmd_plan(const struct cmd_args *args);
int cmd_render(const struct cmd_args *args);
int cmd_prove(const struct cmd_args *args);
int cmd_version(const struct cmd_args *args);
int cmd_completion(const struct cmd_args *args);

/* --- options.c -------------------------------------------------------------------------------- */
struct cmd_option {
	const char *name;	/* long name */
	char letter;		/* 0: long only */
	const char *value;	/* name of its value, NULL: a flag */
	const char *help;	/* one line */
	size_t offset;		/* of its member in struct cmd_args */
};

const struct cmd_option *cmd_options(size_t *n);

/* Parse argv[1…] of a verb. 0, or -EINVAL with the message; the caller clears `args` either way. */
int cmd_args_parse(struct cmd_args *args, const struct cmd_verb *verb, int argc, char **argv,
		   struct error *err);
void cmd_args_clear(struct cmd_args *args);
#define _cleanup_args_ __attribute__((cleanup(cmd_args_clear)))
/* "railhead check [OPTION]... [SNAPSHOT]..." with the options of the verb. Caller frees. */
char *cmd_usage(const struct cmd_verb *verb);

/* --- output.c --------------------------------------------------------------------------------- */
/* Print "railhead: message" on standard error and return `status`. */
int cmd_complain(enum cmd_status status, const struct error *err);

/* Colour for standard output: option, NO_COLOR (no-color.org), TERM=dumb, terminal. Never for
 * files. */
bool cmd_use_colour(const struct cmd_args *args);
/* Columns of the terminal, 80 when there is none; COLUMNS overrides. */
unsigned cmd_columns(void);

/* Whole file ("-": standard input) as bytes with an added NUL; the caller frees. -EFBIG beyond
 * `max` bytes. `what` names the expected content in that message. */
int cmd_input_read(char **data, size_t *len, const char *path, size_t max, const char *what,
		   struct error *err);

/* Write `len` bytes to standard output, or to --output by way of a temporary file beside it, so
 * that a full disk or an interrupt leaves no half file. */
int cmd_output_write(const struct cmd_args *args, const char *data, size_t len, struct error *err);
