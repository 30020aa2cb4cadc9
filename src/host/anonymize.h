/* SPDX-License-Identifier: Apache-2.0 */
/* Replacing what names a machine, its network and its owner. */
#pragma once

#include "host/door.h"

/*
 * The document of door_memory_document() with every MAC, IP address, GID, GUID, UUID, serial number
 * and host name replaced; equal things stay equal, and addresses keep their subnet relations. A key
 * is drawn for each call, so that a replacement cannot be computed back. New reference.
 */
int anonymize_document(json_t **out, json_t *document, struct error *err);
