/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the names that Kubernetes knows: NULL when good, else what is wrong (a literal). */
#pragma once

const char *schema_check_label_name(const char *text);	/* "domain/name" or "name" */
const char *schema_check_label_value(const char *text);
const char *schema_check_taint(const char *text);	/* "key=value:effect", "key:effect" */
const char *schema_check_resource(const char *text);	/* extended resource, "rdma/e810" */
const char *schema_check_namespace(const char *text);	/* also the name of a service */
const char *schema_check_network(const char *text);	/* of Multus: "name", "namespace/name" */
