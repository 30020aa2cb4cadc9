/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One script for each node, with its file list in it, so that a folder can be copied to a machine
 * and used there without railhead. What stood in the places is kept on the first installation, and
 * only then: installing twice must not lose the state before railhead.
 */
#include "render/installer.h"

#include "render/format.h"

static const char head[] =
	"#\n"
	"# Without options it installs. --dry-run: say what would be done. --rollback: put back what\n"
	"# was there before the first installation. DESTDIR=DIR: work below DIR, as for an image.\n"
	"set -euo pipefail\n"
	"\n";

static const char functions[] =
	"here=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\n"
	"root=${DESTDIR:-}\n"
	"saved=$root/var/lib/railhead/before/$key\n"
	"action=install\n"
	"\n"
	"die() {\n"
	"\tprintf '%s: %s\\n' \"${0##*/}\" \"$*\" >&2\n"
	"\texit 1\n"
	"}\n"
	"\n"
	"# run COMMAND...: or say it\n"
	"run() {\n"
	"\tif [ \"$dry\" = yes ]; then\n"
	"\t\tprintf 'would run:'\n"
	"\t\tprintf ' %q' \"$@\"\n"
	"\t\tprintf '\\n'\n"
	"\telse\n"
	"\t\t\"$@\"\n"
	"\tfi\n"
	"}\n"
	"\n"
	"# keep TARGET: what is there before the first installation, or that nothing is\n"
	"keep() {\n"
	"\tif [ -e \"$saved/files$1\" ] || [ -e \"$saved/absent$1\" ]; then\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tif [ -e \"$root$1\" ]; then\n"
	"\t\trun mkdir -p \"$saved/files${1%/*}\"\n"
	"\t\trun cp -p \"$root$1\" \"$saved/files$1\"\n"
	"\telse\n"
	"\t\trun mkdir -p \"$saved/absent${1%/*}\"\n"
	"\t\trun touch \"$saved/absent$1\"\n"
	"\tfi\n"
	"}\n"
	"\n"
	"# put MODE SOURCE TARGET\n"
	"put() {\n"
	"\tif cmp -s \"$here/$2\" \"$root$3\" && [ \"$(stat -c %a \"$root$3\")\" = \"$1\" ]; then\n"
	"\t\tprintf 'unchanged: %s\\n' \"$3\"\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tkeep \"$3\"\n"
	"\trun mkdir -p \"$root${3%/*}\"\n"
	"\trun install -m \"$1\" \"${owner[@]}\" \"$here/$2\" \"$root$3\"\n"
	"\tprintf 'installed: %s\\n' \"$3\"\n"
	"}\n"
	"\n"
	"# back MODE SOURCE TARGET\n"
	"back() {\n"
	"\tif [ -e \"$saved/files$3\" ]; then\n"
	"\t\trun cp -p \"$saved/files$3\" \"$root$3\"\n"
	"\t\tprintf 'put back: %s\\n' \"$3\"\n"
	"\telif [ -e \"$saved/absent$3\" ]; then\n"
	"\t\trun rm -f \"$root$3\"\n"
	"\t\tprintf 'removed: %s\\n' \"$3\"\n"
	"\tfi\n"
	"}\n"
	"\n"
	"dry=no\n"
	"for option; do\n"
	"\tcase $option in\n"
	"\t--dry-run) dry=yes ;;\n"
	"\t--rollback) action=rollback ;;\n"
	"\t*) die \"unknown option '$option' (--dry-run, --rollback)\" ;;\n"
	"\tesac\n"
	"done\n"
	"owner=()\n"
	"if [ -z \"$root\" ]; then\n"
	"\thost=$(uname -n)\n"
	"\t[ \"$host\" = \"$node\" ] || [ \"${host%%.*}\" = \"${node%%.*}\" ] ||\n"
	"\t\tdie \"these files are for $node, this is $host\"\n"
	"\t[ \"$dry\" = yes ] || [ \"$(id -u)\" = 0 ] || die \"run it as root\"\n"
	"\towner=(-o root -g root)\n"
	"fi\n"
	"step=put\n"
	"[ \"$action\" = install ] || step=back\n"
	"\n";

void installer_add(struct installer *installer, unsigned mode, const char *source,
		   const char *target, ...)
{
	struct installer_file *file;
	va_list ap;

	array_reserve(installer->files, installer->n, installer->capacity);
	file = &installer->files[installer->n++];
	file->mode = mode;
	file->source = xstrdup(source);
	va_start(ap, target);
	file->target = xvasprintf(target, ap);
	va_end(ap);
}

static void assign(struct strbuf *text, const char *name, const char *value)
{
	strbuf_printf(text, "%s=", name);
	format_shell(text, value);
	strbuf_putc(text, '\n');
}

void installer_render(struct render *r, struct installer *installer, const char *folder,
		      const char *reload, const char *next)
{
	_cleanup_free_ char *what = xasprintf("installs the %s of %s; --dry-run, --rollback",
					      installer->subject, installer->node->name);
	struct render_file *script = render_file_add(r, 0755, what, "%s/install.sh", folder);
	struct strbuf *text = &script->text;

	strbuf_puts(text, "#!/bin/bash\n");
	_cleanup_free_ char *title = xasprintf("Installs the %s of %s, rendered for site %s.",
					       installer->subject, installer->node->name,
					       r->site->name);
	format_comment(text, title);
	strbuf_puts(text, head);
	assign(text, "node", installer->node->name);
	assign(text, "key", installer->key);
	strbuf_puts(text, functions);
	for (size_t i = 0; i < installer->n; i++) {
		struct installer_file *file = &installer->files[i];

		strbuf_printf(text, "$step %o ", file->mode);
		format_shell(text, file->source);
		strbuf_putc(text, ' ');
		format_shell(text, file->target);
		strbuf_putc(text, '\n');
		free(file->source);
		free(file->target);
	}
	free(installer->files);
	installer->files = NULL;
	installer->n = installer->capacity = 0;
	if (reload)
		strbuf_printf(text, "if [ -z \"$root\" ]; then\n\trun %s\nfi\n", reload);
	if (next)
		strbuf_printf(text, "cat <<'EOF'\n%sEOF\n", next);
}
