/* SPDX-License-Identifier: Apache-2.0 */
#include "render/scripts.h"

#include <string.h>

#include "render/format.h"
#include "render_scripts.h"	/* written by tools/embed.py */

const char *scripts_text(const char *name)
{
	for (size_t i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++) {
		if (!strcmp(built_in[i].name, name))
			return built_in[i].text;
	}
	return NULL;
}

void scripts_add(struct render *r, const char *name, const char *what, const char *path)
{
	struct render_file *file = render_file_add(r, 0755, what, "%s", path);

	strbuf_puts(&file->text, scripts_text(name));
}

void scripts_setting(struct render_file *file, const char *name, const char *value)
{
	if (!file->text.len)
		strbuf_puts(&file->text,
			    "# shellcheck shell=bash disable=SC2016,SC2034,SC2100  # sourced by the script beside it\n");
	strbuf_printf(&file->text, "%s=", name);
	format_shell(&file->text, value);
	strbuf_putc(&file->text, '\n');
}
