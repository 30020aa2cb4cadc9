/* SPDX-License-Identifier: Apache-2.0 */
/* Judges of the nic gates that have a file of their own. */
#pragma once

#include "judge/gate.h"

void judge_pci_link(struct judging *g);
void judge_nic_firmware(struct judging *g);
void judge_nic_firmware_pair(struct judging *g);
