/* SPDX-License-Identifier: Apache-2.0 */
/* The gate registry: one list in ladder order, made once from the arrays of the gate files. */
#include "judge/registry.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const struct gate **registry;
static size_t n_registry;

/* Within a phase: on paper first, then what is seen, then what is proven by traffic. */
static int by_phase(const void *a, const void *b)
{
	const struct gate *x = *(const struct gate *const *)a, *y = *(const struct gate *const *)b;

	return x->phase < y->phase ? -1 : x->phase > y->phase;
}

static void add(const struct gate *gates, size_t n)
{
	for (size_t i = 0; i < n; i++)
		registry[n_registry++] = &gates[i];
}

/* Stable sort of few elements (mergesort is not in C): insertion by phase keeps the files'
 * order. */
static void order(void)
{
	for (size_t i = 1; i < n_registry; i++) {
		const struct gate *gate = registry[i];
		size_t at = i;

		while (at && by_phase(&gate, &registry[at - 1]) < 0) {
			registry[at] = registry[at - 1];
			at--;
		}
		registry[at] = gate;
	}
}

static void registry_release(void)
{
	free(registry);
}

const struct gate *const *gate_registry(size_t *n)
{
	if (!registry) {
		registry = xcalloc(n_gates_plan + n_gates_os + n_gates_net + n_gates_nic +
					   n_gates_rdma + n_gates_qos + n_gates_gpu + n_gates_gdr +
					   n_gates_later,
				   sizeof(*registry));
		add(gates_plan, n_gates_plan);
		add(gates_os, n_gates_os);
		add(gates_net, n_gates_net);
		add(gates_nic, n_gates_nic);
		add(gates_rdma, n_gates_rdma);
		add(gates_qos, n_gates_qos);
		add(gates_gpu, n_gates_gpu);
		add(gates_gdr, n_gates_gdr);
		add(gates_later, n_gates_later);
		order();
		atexit(registry_release);
	}
	*n = n_registry;
	return registry;
}

const struct gate *gate_find(const char *id)
{
	size_t n;
	const struct gate *const *gates = gate_registry(&n);

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(gates[i]->id, id))
			return gates[i];
	}
	return NULL;
}
