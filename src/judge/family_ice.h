/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the two files of the ice family. */
#pragma once

#include "judge/family.h"

/* Package name of the DDP that linux-firmware installs as ice.pkg; it has no LAG support. */
#define ICE_DDP_DEFAULT "ICE OS Default Package"

bool family_ice_no_device(struct judging *g, const char *nic);
