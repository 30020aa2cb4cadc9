/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of components: declared, else what the support matrix says. */
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/strings.h"
#include "base/text.h"
#include "matrix/operator.h"
#include "plan/bill.h"

#define DISTINCT_MAX 4u	/* versions that are named; a site with more has no one version */

/* Distinct texts of the nodes in one line: "rhel 10.2, rhel 9.6". */
static struct bill_version of_nodes(const struct bill *bill,
				    char *(*text)(const struct bill *bill,
						  const struct site_node *node))
{
	_cleanup_strings_ char **distinct = NULL;
	struct strbuf b = {0};
	size_t n = 0;

	for (size_t i = 0; i < bill->site->n_nodes && n <= DISTINCT_MAX; i++) {
		_cleanup_free_ char *one = text(bill, &bill->site->nodes[i]);

		if (!one || strings_have(distinct, one))
			continue;
		if (n < DISTINCT_MAX)
			strbuf_printf(&b, "%s%s", n ? ", " : "", one);
		else
			strbuf_puts(&b, ", …");
		strings_add_once(&distinct, one);
		n++;
	}
	return (struct bill_version){ .text = n ? strbuf_steal(&b) : NULL };
}

static struct bill_version of_row(json_t *row, const char *text)
{
	return (struct bill_version){ .text = text ? xstrdup(text) : NULL, .row = row };
}

/* A lowest version: "45.0 or later". */
static struct bill_version at_least(json_t *row, const char *key)
{
	const char *min = json_get_string(row, key, NULL);

	return (struct bill_version){ .text = min ? xasprintf("%s or later", min) : NULL,
				      .row = row };
}

static char *os_text(const struct bill *bill, const struct site_node *node)
{
	(void)bill;
	if (!node->os_id)
		return NULL;
	return xasprintf("%s%s%s", node->os_id, node->os_version ? " " : "",
			 node->os_version ? node->os_version : "");
}

struct bill_version bill_version_os(const struct bill *bill)
{
	return of_nodes(bill, os_text);
}

static char *kernel_text(const struct bill *bill, const struct site_node *node)
{
	(void)bill;
	return node->kernel ? xstrdup(node->kernel) : NULL;
}

struct bill_version bill_version_kernel(const struct bill *bill)
{
	struct bill_version declared = of_nodes(bill, kernel_text);
	json_t *row;
	size_t i;

	json_array_foreach(matrix_rows(bill->matrix, "kernels"), i, row) {
		_cleanup_free_ char *os = xasprintf("%s %s", json_get_string(row, "os", ""),
						    json_get_string(row, "os_version", ""));

		if (declared.text)
			break;
		for (size_t k = 0; k < bill->site->n_nodes && !declared.text; k++) {
			_cleanup_free_ char *own = os_text(bill, &bill->site->nodes[k]);

			if (own && !strcmp(own, os))
				declared = of_row(row, json_get_string(row, "kernel", NULL));
		}
	}
	return declared;
}

static char *driver_text(const struct site_node *node, const char *name)
{
	const struct site_driver *driver = site_driver_find(node, name);

	if (!driver)
		return NULL;
	return driver->version ? xasprintf("%s (%s)", driver->version, driver->source) :
				 xstrdup(driver->source);
}

static char *ice_text(const struct bill *bill, const struct site_node *node)
{
	(void)bill;
	return driver_text(node, "ice");
}

struct bill_version bill_version_ice(const struct bill *bill)
{
	return of_nodes(bill, ice_text);
}

static char *irdma_text(const struct bill *bill, const struct site_node *node)
{
	(void)bill;
	return driver_text(node, "irdma");
}

struct bill_version bill_version_irdma(const struct bill *bill)
{
	return of_nodes(bill, irdma_text);
}

static char *rdma_core_text(const struct bill *bill, const struct site_node *node)
{
	(void)bill;
	return node->rdma_core_min ? xasprintf("%s or later", node->rdma_core_min) : NULL;
}

static json_t *dmabuf_row(const struct bill *bill, const char *item, const char *family)
{
	json_t *row;
	size_t i;

	json_array_foreach(matrix_rows(bill->matrix, "dmabuf"), i, row) {
		const char *about = json_get_string(row, "family", NULL);

		if (!strcmp(json_get_string(row, "item", ""), item) &&
		    (about && family ? !strcmp(about, family) : about == family))
			return row;
	}
	return NULL;
}

struct bill_version bill_version_rdma_core(const struct bill *bill)
{
	struct bill_version declared = of_nodes(bill, rdma_core_text);

	if (declared.text || !(bill->traits & GPUDIRECT))
		return declared;
	return at_least(dmabuf_row(bill, "rdma-core", bill->traits & HAS_ICE ? "ice" : "mlx5"),
			"min");
}

/* Of the first link of a node that declares it; links of one node are alike. */
static char *link_text(const struct site_node *node, bool ddp)
{
	for (size_t i = 0; i < node->n_links; i++) {
		const char *text = ddp ? node->links[i].ddp : node->links[i].firmware;

		if (text)
			return xstrdup(text);
	}
	return NULL;
}

static char *firmware_text(const struct bill *bill, const struct site_node *node)
{
	(void)bill;
	return link_text(node, false);
}

struct bill_version bill_version_firmware(const struct bill *bill)
{
	return of_nodes(bill, firmware_text);
}

static char *ddp_text(const struct bill *bill, const struct site_node *node)
{
	(void)bill;
	return link_text(node, true);
}

struct bill_version bill_version_ddp(const struct bill *bill)
{
	return of_nodes(bill, ddp_text);
}

static char *memlock_text(const struct bill *bill, const struct site_node *node)
{
	(void)bill;
	if (!node->memlock_bytes.set)
		return NULL;
	if (node->memlock_bytes.value < 0)
		return xstrdup("unlimited");
	return xasprintf("%lld bytes or more", (long long)node->memlock_bytes.value);
}

struct bill_version bill_version_memlock(const struct bill *bill)
{
	return of_nodes(bill, memlock_text);
}

struct bill_version bill_version_at(const struct bill *bill, const char *pointer)
{
	const char *text = json_string_value(json_pointer_get(bill->site->document, pointer));

	return (struct bill_version){ .text = text ? xstrdup(text) : NULL };
}

/* Row of the declared release of Kubespray, or NULL. */
static json_t *kubespray_row(const struct bill *bill)
{
	const char *release = json_string_value(
		json_pointer_get(bill->site->document, "/kubernetes/kubespray/version"));
	_cleanup_free_ char *tag = release ? xasprintf("v%s", text_version_number(release)) : NULL;

	return matrix_row(bill->matrix, "kubespray", "release", tag);
}

struct bill_version bill_version_containerd(const struct bill *bill)
{
	struct bill_version declared = bill_version_at(bill, "/kubernetes/containerd");
	json_t *row = kubespray_row(bill);

	return declared.text ? declared : of_row(row, json_get_string(row, "containerd", NULL));
}

struct bill_version bill_version_cni(const struct bill *bill)
{
	json_t *cni = json_pointer_get(bill->site->document, "/kubernetes/cni");
	const char *name = json_get_string(cni, "name", NULL);
	const char *version = json_get_string(cni, "version", NULL);
	json_t *row = name && !strcmp(name, "cilium") ? kubespray_row(bill) : NULL;
	const char *known = json_get_string(row, "cilium", NULL);

	if (!name)
		return (struct bill_version){0};
	if (version || !known)
		return (struct bill_version){ .text = xasprintf("%s%s%s", name, version ? " " : "",
								version ? version : "") };
	return (struct bill_version){ .text = xasprintf("%s %s", name, known), .row = row };
}

struct bill_version bill_version_image(const struct bill *bill, const char *key)
{
	const char *operator_version = text_version_number(json_string_value(
		json_pointer_get(bill->site->document, "/gpu_operator/version")));
	_cleanup_free_ char *value_key = xasprintf("%s.version", key);
	const char *declared = operator_value(bill->site, value_key);
	json_t *row;
	size_t i;

	if (declared)
		return (struct bill_version){ .text = xstrdup(declared) };
	json_array_foreach(matrix_rows(bill->matrix, "images"), i, row) {
		if (operator_version && !strcmp(json_get_string(row, "key", ""), key) &&
		    !strcmp(text_version_number(json_get_string(row, "operator", "")),
			    operator_version))
			return of_row(row, json_get_string(row, "version", NULL));
	}
	return (struct bill_version){0};
}

struct bill_version bill_version_cuda(const struct bill *bill)
{
	if (!(bill->traits & GPUDIRECT))
		return (struct bill_version){0};
	return at_least(dmabuf_row(bill, "cuda", NULL), "min");
}

/* Tag of an image, without its digest. The caller frees. */
static char *tag_of(const char *image)
{
	const char *slash = strrchr(image, '/'), *colon = strchr(slash ? slash : image, ':');

	return colon ? xstrndup(colon + 1, strcspn(colon + 1, "@")) : NULL;
}

struct bill_version bill_version_device_plugin(const struct bill *bill)
{
	const char *declared = json_string_value(
		json_pointer_get(bill->site->document, "/kubernetes/images/device_plugin"));
	json_t *row;

	if (declared)
		return (struct bill_version){ .text = tag_of(declared) };
	row = matrix_row(bill->matrix, "other-images", "what", "device-plugin");
	return (struct bill_version){ .text = row ? tag_of(json_get_string(row, "image", "")) : NULL,
				      .row = row };
}
