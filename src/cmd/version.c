/* SPDX-License-Identifier: Apache-2.0 */
/* railhead version, and the completion script. */
#include <string.h>
#include <yaml.h>
#include <zlib.h>

#include "config.h"

#include "cmd/cmd.h"

#include "base/json.h"
#include "base/strbuf.h"
#include "host/host.h"
#include "judge/gate.h"
#include "observe/observe.h"
#include "prove/record.h"
#include "report/report.h"
#include "site/site.h"

int cmd_version(const struct cmd_args *args)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_strbuf_ struct strbuf b = {0};

	if (args->format && !strcmp(args->format, "json")) {
		_cleanup_json_ json_t *j = json_object_new();
		json_t *schemas = json_obj(j, "schemas"), *libraries = json_obj(j, "libraries");

		json_put_string(j, "version", RAILHEAD_VERSION);
		json_put_string(schemas, "snapshot", SNAPSHOT_SCHEMA);
		json_put_string(schemas, "report", REPORT_SCHEMA);
		json_put_string(schemas, "components", REPORT_COMPONENTS_SCHEMA);
		json_put_string(schemas, "difference", REPORT_DIFFERENCE_SCHEMA);
		json_put_string(schemas, "recording", RECORDING_SCHEMA);
		json_put_string(schemas, "proof", PROOF_SCHEMA);
		json_put_string(schemas, "site", SITE_SCHEMA);
		json_put_string(libraries, "jansson", jansson_version_str());
		json_put_string(libraries, "libyaml", yaml_get_version_string());
		json_put_string(libraries, "zlib", zlibVersion());
		_cleanup_free_ char *text = json_to_text(j, true);
		strbuf_printf(&b, "%s\n", text);
	} else {
		strbuf_printf(&b,
			      "railhead %s\n"
			      "schemas: snapshot/1 report/1 components/1 difference/1 recording/1 proof/1 site/1\n"
			      "libraries: jansson %s, libyaml %s, zlib %s\n",
			      RAILHEAD_VERSION, jansson_version_str(), yaml_get_version_string(),
			      zlibVersion());
	}
	if (cmd_output_write(args, strbuf_str(&b), b.len, &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	return CMD_OK;
}

static void completion_verb(struct strbuf *b, const struct cmd_verb *verb)
{
	size_t n;
	const struct cmd_option *options = cmd_options(&n);

	strbuf_printf(b, "\t%s) words=\"", verb->name);
	for (size_t i = 0; i < n; i++) {
		if (verb->options & (UINT64_C(1) << i))
			strbuf_printf(b, "--%s ", options[i].name);
	}
	strbuf_printf(b, "\"; formats=\"%s\" ;;\n", verb->formats ? verb->formats : "");
}

int cmd_completion(const struct cmd_args *args)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_strbuf_ struct strbuf b = {0};
	size_t n_verbs, n_gates;
	const struct cmd_verb *verbs = cmd_verbs(&n_verbs);
	const struct gate *const *gates = gate_registry(&n_gates);

	strbuf_puts(&b, "# bash completion for railhead\n"
			"_railhead()\n{\n"
			"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
			"\tlocal words formats\n\tCOMPREPLY=()\n"
			"\tif ((COMP_CWORD == 1)); then\n\t\tmapfile -t COMPREPLY < <(compgen -W \"");
	for (size_t i = 0; i < n_verbs; i++)
		strbuf_printf(&b, "%s ", verbs[i].name);
	strbuf_puts(&b, "--help --version\" -- \"$cur\")\n\t\treturn\n\tfi\n"
			"\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; i < n_verbs; i++)
		completion_verb(&b, &verbs[i]);
	strbuf_puts(&b, "\t*) return ;;\n\tesac\n"
			"\tcase $prev in\n"
			"\t--format|-f) mapfile -t COMPREPLY < <(compgen -W \"$formats\" -- \"$cur\"); return ;;\n"
			"\t--color) mapfile -t COMPREPLY < <(compgen -W \"auto always never\" -- \"$cur\"); return ;;\n"
			"\t--root|--data|--diff) mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"); return ;;\n"
			"\t--site|-s|--replay|--since|--output|-o)\n"
			"\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return ;;\n\tesac\n"
			"\tif [[ $cur == -* ]]; then\n"
			"\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
			"\telif [[ ${COMP_WORDS[1]} == explain ]]; then\n"
			"\t\tmapfile -t COMPREPLY < <(compgen -W \"");
	for (size_t i = 0; i < n_gates; i++)
		strbuf_printf(&b, "%s ", gates[i]->id);
	strbuf_puts(&b, "\" -- \"$cur\")\n\telse\n"
			"\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n\tfi\n}\n"
			"complete -F _railhead railhead\n");
	if (cmd_output_write(args, strbuf_str(&b), b.len, &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	return CMD_OK;
}
