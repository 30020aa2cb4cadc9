/* SPDX-License-Identifier: Apache-2.0 */
#include "render/installer.h"

#include <string.h>

#include "render/scripts.h"

void installer_add(struct installer *installer, unsigned mode, const char *source,
		   const char *target, ...)
{
	va_list ap;

	va_start(ap, target);
	_cleanup_free_ char *path = xvasprintf(target, ap);
	va_end(ap);
	strbuf_printf(&installer->files, "%s%o %s %s", installer->files.len ? "\n" : "", mode,
		      source, path);
}

void installer_render(struct render *r, struct installer *installer, const char *folder)
{
	const char *node = installer->node->name;
	_cleanup_free_ char *path = xasprintf("%s/install.sh", folder);
	_cleanup_free_ char *what = xasprintf("installs the files beside it on %s; --dry-run, "
					      "--rollback", node);

	scripts_add(r, "install", what, path);
	struct render_file *conf = render_file_add(r, 0644, "what install.sh installs",
						   "%s/install.conf", folder);
	scripts_setting(conf, "node", node);
	scripts_setting(conf, "key", installer->key);
	scripts_setting(conf, "files", strbuf_str(&installer->files));
	scripts_setting(conf, "reload", installer->reload);
	scripts_setting(conf, "next", installer->next);
	strbuf_clear(&installer->files);
}
