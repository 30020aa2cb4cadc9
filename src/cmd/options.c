/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "cmd/cmd.h"

#include "base/strbuf.h"
#include "base/text.h"

/* In the order of enum cmd_option_bit. */
static const struct cmd_option options[] = {
	{ "site", 's', "FILE", "judge against this site.yaml" },
	{ "node", 'n', "NAME", "this machine (or snapshot) is node NAME of the site" },
	{ "replay", 0, "FILE", "answer from a recording instead of this machine" },
	{ "root", 0, "DIR", "read files below DIR (no netlink, no devices)" },
	{ "since", 0, "FILE", "earlier snapshot of the same node: counters are compared with it" },
	{ "format", 'f', "FORMAT", "output format" },
	{ "output", 'o', "FILE", "write to FILE instead of standard output" },
	{ "anonymize", 0, NULL, "replace MACs, addresses, serials and host names, consistently" },
	{ "note", 0, "TEXT", "keep TEXT in the recording" },
	{ "color", 0, "WHEN", "auto, always or never (NO_COLOR is honoured)" },
	{ "quiet", 'q', NULL, "only the closing line" },
	{ "verbose", 'v', NULL, "also the evidence of every verdict" },
	{ "help", 'h', NULL, "show this help and exit" },
	{ "data", 0, "DIR", "take tables of the support matrix from DIR" },
	{ "matrix", 0, NULL, "print the support matrix and where each table comes from" },
	{ "components", 0, NULL, "print the bill: each component, where it lives, why" },
	{ "upgrade", 0, "KEY=VALUE", "show what changes with this value; may be repeated" },
	{ "output", 'o', "DIR", "write the files below DIR" },
	{ "diff", 0, "DIR", "show what would change in DIR, and write nothing" },
	{ "force", 0, NULL, "although the plan fails; replace edited files, kept as FILE.orig" },
	{ "lang", 0, "LANG", "language of what people read: en or ko" },
};

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

static int option_store(struct cmd_args *args, unsigned bit, const char *value, struct error *err)
{
	switch ((enum cmd_option_bit)bit) {
	case OPT_SITE:
		args->site = value;
		break;
	case OPT_NODE:
		args->node = value;
		break;
	case OPT_REPLAY:
		args->replay = value;
		break;
	case OPT_ROOT:
		args->root = value;
		break;
	case OPT_SINCE:
		args->since = value;
		break;
	case OPT_FORMAT:
		args->format = value;
		break;
	case OPT_OUTPUT:
		args->output = value;
		break;
	case OPT_ANONYMIZE:
		args->anonymize = true;
		break;
	case OPT_NOTE:
		args->note = value;
		break;
	case OPT_COLOUR:
		return colour_parse(&args->colour, value, err);
	case OPT_QUIET:
		args->quiet = true;
		break;
	case OPT_VERBOSE:
		args->verbose++;
		break;
	case OPT_HELP:
		args->help = true;
		break;
	case OPT_DATA:
		args->data = value;
		break;
	case OPT_MATRIX:
		args->matrix = true;
		break;
	case OPT_COMPONENTS:
		args->components = true;
		break;
	case OPT_UPGRADE:
		value_add(&args->upgrades, value);
		break;
	case OPT_FOLDER:
		args->folder = value;
		break;
	case OPT_DIFF:
		args->diff = value;
		break;
	case OPT_FORCE:
		args->force = true;
		break;
	case OPT_LANGUAGE:
		return language_parse(&args->language, value, err);
	}
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
		if (verb->options & (1u << i))
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
		if (!(verb->options & (1u << i)))
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
		if (options[i].letter == c && (verb->options & (1u << i)))
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
		int rc = option_store(args, 1u << i, optarg, err);
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
		if (!(verb->options & (1u << i)))
			continue;
		_cleanup_free_ char *name =
			xasprintf("%c%c%c --%s%s%s", options[i].letter ? '-' : ' ',
				  options[i].letter ? options[i].letter : ' ',
				  options[i].letter ? ',' : ' ', options[i].name,
				  options[i].value ? " " : "",
				  options[i].value ? options[i].value : "");
		strbuf_printf(&b, "  %-20s %s", name, options[i].help);
		if ((1u << i) == OPT_FORMAT)
			strbuf_printf(&b, ": %s", verb->formats);
		strbuf_putc(&b, '\n');
	}
	return strbuf_steal(&b);
}
