/* SPDX-License-Identifier: Apache-2.0 */
/* A stage of a proof: connections and memory at both ends, and how the two wait for each other. */
#include "prove/conversation.h"

#include "base/alloc.h"
#include "site/pci_path.h"

#define ECT0 2u	/* ECN capable, RFC 3168 */

uint8_t conversation_traffic_class(const struct session_parameters *p)
{
	return p->dscp < 0 ? 0 : (uint8_t)((unsigned)p->dscp << 2 | (p->ecn ? ECT0 : 0));
}

int conversation_exchange(const struct conversation *c, json_t *mine, const char *type,
			  json_t **theirs, struct error *err)
{
	json_put_string(mine, "type", type);
	int rc = wire_send(c->end->wire, mine, c->end->timeout_ms, err);

	return rc < 0 ? rc : wire_receive(c->end->wire, type, theirs, c->end->timeout_ms, err);
}

int conversation_meet(const struct conversation *c, const char *type, struct error *err)
{
	_cleanup_json_ json_t *mine = json_object_new(), *theirs = NULL;

	return conversation_exchange(c, mine, type, &theirs, err);
}

void conversation_stage_close(struct conversation *c)
{
	/* its MRs belong to the protection domain of the endpoint */
	if (c->memory)
		memory_free(c->memory);
	if (c->endpoint)
		endpoint_close(c->endpoint);
	c->memory = NULL;
	c->endpoint = NULL;
}

/* Does the IOMMU translate what the NIC asks for? */
static bool iommu_translates(const struct conversation *c)
{
	json_t *nic = c->path.pci ? json_at(c->end->want.snapshot, "/pci/devices/%s", c->path.pci) :
				    NULL;

	return pci_iommu_translates(json_get_string(nic, "iommu_type", NULL));
}

struct memory_request conversation_memory_request(const struct conversation *c,
						  struct gpu_choice *gpus)
{
	gpu_choice_make(gpus, c->end->want.snapshot, c->path.pci);
	return (struct memory_request){
		.kind = c->parameters.memory[!c->initiator],
		.length = session_memory_bytes(&c->parameters),
		.numa_node = c->path.numa_node,
		.gpu = c->end->gpu,
		.gpus = gpus,
		.dmabuf_chunk = iommu_translates(c) ? MEMORY_CHUNK_IOMMU : 0,
		.dmabuf_double = c->end->dmabuf_double,
	};
}

static int stage_make(struct conversation *c, bool ud, struct error *err)
{
	const struct session_parameters *p = &c->parameters;
	const struct endpoint_request request = {
		.verbs = c->end->verbs,
		.device = c->path.device,
		.port = (uint8_t)c->path.port,
		.gid_index = c->path.gid_index,
		.qps = ud ? 1 : p->qps,
		.depth = ud ? SESSION_MARK_MESSAGES : p->depth,
		.ud = ud,
		.traffic_class = conversation_traffic_class(p),
	};
	_cleanup_gpu_choice_ struct gpu_choice gpus = {0};
	struct memory_request memory = conversation_memory_request(c, &gpus);

	/* the bytes of a marking message are read by the CPU, whatever is to be proven */
	if (ud)
		memory.kind = "host";
	int rc = endpoint_open(&c->endpoint, &request, err);
	if (!rc && !ud)
		rc = conversation_registration(c, err);
	if (!rc)
		rc = memory_new(&c->memory, &memory, err);
	if (!rc)
		rc = memory_register(c->memory, c->end->verbs, endpoint_pd(c->endpoint), err);
	return rc;
}

int conversation_stage_open(struct conversation *c, bool ud, struct error *err)
{
	_cleanup_json_ json_t *mine = NULL, *theirs = NULL;
	struct endpoint_peer peer;

	int rc = stage_make(c, ud, err);
	if (rc < 0)
		return rc;
	mine = endpoint_describe(c->endpoint);
	rc = conversation_exchange(c, mine, "endpoint", &theirs, err);
	if (!rc)
		rc = endpoint_peer_read(&peer, theirs, err);
	if (!rc)
		rc = endpoint_connect(c->endpoint, &peer, err);
	/* a packet to a QP that cannot receive yet would cost a retransmit time-out */
	if (!rc)
		rc = conversation_meet(c, "ready", err);
	return rc < 0 ? rc : conversation_go(c, err);
}
