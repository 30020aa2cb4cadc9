/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of Kubernetes, as its API server checks them (apimachinery, util/validation). They end up
 * in commands of installers and in manifests: what passes here needs no quoting there.
 */
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "site/kubernetes_name.h"
#include "site/schema.h"

#define LABEL_PART_MAX 63u

static bool is_alnum(char c)
{
	return isalnum((unsigned char)c);
}

/* Letters, digits and any of - _ . between two letters or digits. */
static bool is_label_part(const char *text, size_t len)
{
	if (!len || len > LABEL_PART_MAX || !is_alnum(text[0]) || !is_alnum(text[len - 1]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_alnum(text[i]) && !memchr("-_.", text[i], 3))
			return false;
	return true;
}

static bool is_label_name(const char *text, size_t len)
{
	const char *slash = memchr(text, '/', len);

	if (!slash)
		return is_label_part(text, len);
	_cleanup_free_ char *prefix = xstrndup(text, (size_t)(slash - text));
	return !schema_check_name(prefix) &&
	       is_label_part(slash + 1, len - (size_t)(slash - text) - 1);
}

const char *schema_check_label_name(const char *text)
{
	/* kubelet sets these from the machine (k8s.io/api/core/v1/well_known_labels.go): another
	 * value would break what selects nodes by them */
	static const char *const of_kubelet[] = { "kubernetes.io/hostname", "kubernetes.io/os",
						  "kubernetes.io/arch" };

	for (size_t i = 0; i < ARRAY_SIZE(of_kubelet); i++)
		if (!strcmp(text, of_kubelet[i]))
			return "kubelet sets this label itself";
	return is_label_name(text, strlen(text))
		       ? NULL
		       : "write name or domain/name; a name has at most 63 letters, digits and any "
			 "of - _ . inside";
}

const char *schema_check_label_value(const char *text)
{
	return !text[0] || is_label_part(text, strlen(text))
		       ? NULL
		       : "at most 63 letters, digits and any of - _ . inside";
}

const char *schema_check_taint(const char *text)
{
	static const char *const effects[] = { "NoSchedule", "PreferNoSchedule", "NoExecute" };
	static const char wrong[] = "write key=value:NoSchedule (or PreferNoSchedule, NoExecute)";
	const char *colon = strrchr(text, ':'), *equals = strchr(text, '=');
	bool known = false;

	if (!colon)
		return wrong;
	for (size_t i = 0; i < ARRAY_SIZE(effects); i++)
		known |= !strcmp(colon + 1, effects[i]);
	if (!known)
		return wrong;
	if (!equals || equals > colon)
		equals = colon;
	if (!is_label_name(text, (size_t)(equals - text)))
		return wrong;
	/* "key=:effect" is a taint with an empty value */
	if (equals + 1 < colon && !is_label_part(equals + 1, (size_t)(colon - equals - 1)))
		return wrong;
	return NULL;
}

const char *schema_check_resource(const char *text)
{
	return strchr(text, '/') && is_label_name(text, strlen(text))
		       ? NULL
		       : "write domain/name, as in rdma/e810";
}

const char *schema_check_namespace(const char *text)
{
	size_t len = strlen(text);

	if (!len || len > LABEL_PART_MAX)
		return "1 to 63 characters";
	for (const char *s = text; *s; s++)
		if (!islower((unsigned char)*s) && !isdigit((unsigned char)*s) && *s != '-')
			return "lower-case letters, digits and '-'";
	return is_alnum(text[0]) && is_alnum(text[len - 1])
		       ? NULL
		       : "must begin and end with a letter or digit";
}

const char *schema_check_network(const char *text)
{
	const char *slash = strchr(text, '/');
	_cleanup_free_ char *namespace = slash ? xstrndup(text, (size_t)(slash - text)) : NULL;

	if (namespace && schema_check_namespace(namespace))
		return "write name or namespace/name";
	return schema_check_name(slash ? slash + 1 : text) ? "write name or namespace/name" : NULL;
}
