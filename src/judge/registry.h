/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of gates that the files of this room define; gate_registry() orders them. */
#pragma once

#include "judge/gate.h"

#define GATES(group)                                                                           \
	extern const struct gate gates_##group[];                                              \
	extern const size_t n_gates_##group

GATES(plan);
GATES(os);
GATES(net);
GATES(nic);
GATES(rdma);
GATES(qos);
GATES(gpu);
GATES(gdr);
GATES(later);

#undef GATES
