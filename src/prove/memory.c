/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of memory, and what is the same for all of them. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "prove/memory_kind.h"

static const struct memory_kind *const kinds[] = {
	&memory_kind_host,
	&memory_kind_huge,
	&memory_kind_udmabuf,
	&memory_kind_cuda,
};

const struct memory_kind *memory_kind_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
	return NULL;
}

int memory_size_region(struct memory *memory, size_t page, struct error *err)
{
	size_t bytes;

	if (!memory->length ||
	    __builtin_add_overflow(memory->length, 2 * MEMORY_CANARY + page - 1, &bytes))
		return error_set(err, -EINVAL, "%s memory of %zu bytes", memory->kind->name,
				 memory->length);
	memory->region = bytes & ~(page - 1);
	return 0;
}

int memory_new(struct memory **memory, const struct memory_request *request, struct error *err)
{
	const struct memory_kind *kind = memory_kind_find(request->kind);
	struct memory *m;
	int rc;

	*memory = NULL;
	if (!kind)
		return error_set(err, -EINVAL, "'%s' is no kind of memory", request->kind);
	m = xcalloc(1, sizeof(*m));
	m->kind = kind;
	m->length = request->length;
	m->facts = json_object_new();
	rc = kind->make(m, request, err);
	if (rc < 0) {
		memory_free(m);
		return rc;
	}
	*memory = m;
	return 0;
}

void memory_free(struct memory *memory)
{
	if (!memory)
		return;
	while (memory->n_chunks)
		memory->verbs->dereg_mr(memory->chunks[--memory->n_chunks].mr);
	free(memory->chunks);
	memory->kind->close(memory);
	json_decref(memory->facts);
	free(memory);
}

static int64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int memory_register(struct memory *memory, const struct verbs *v, struct ibv_pd *pd,
		    struct error *err)
{
	int64_t start = monotonic_ns();
	int rc;

	if (memory->n_chunks)
		return error_set(err, -EALREADY, "%s memory is registered", memory->kind->name);
	memory->verbs = v;
	rc = memory->kind->reg(memory, pd, err);
	if (rc < 0) {
		while (memory->n_chunks)
			v->dereg_mr(memory->chunks[--memory->n_chunks].mr);
		return rc;
	}
	memory->registration_ns = monotonic_ns() - start;
	return 0;
}

struct memory_place memory_at(const struct memory *memory, size_t offset)
{
	size_t at = MEMORY_CANARY + offset, end = MEMORY_CANARY + memory->length, i = 0, until;
	const struct memory_chunk *chunk;

	while (i + 1 < memory->n_chunks && memory->chunks[i + 1].start <= at)
		i++;
	chunk = &memory->chunks[i];
	until = chunk->start + chunk->length < end ? chunk->start + chunk->length : end;
	return (struct memory_place){ .address = memory->address + at, .lkey = chunk->mr->lkey,
				      .rkey = chunk->mr->rkey, .length = until - at };
}

static int check_range(const struct memory *memory, size_t offset, size_t len, struct error *err)
{
	if (offset <= memory->length && len <= memory->length - offset)
		return 0;
	return error_set(err, -EINVAL, "%zu bytes from %zu on are not in %s memory of %zu bytes",
			 len, offset, memory->kind->name, memory->length);
}

static uint8_t *mapped_at(const struct memory *memory, size_t at)
{
	return (uint8_t *)memory->mapped + at;
}

int memory_fill(struct memory *memory, size_t offset, size_t len, uint64_t stream_offset,
		const struct pattern *p, struct error *err)
{
	size_t at = MEMORY_CANARY + offset;
	int rc = check_range(memory, offset, len, err);

	if (rc < 0)
		return rc;
	if (!memory->mapped)
		return memory->kind->fill(memory, at, len, stream_offset, p, err);
	pattern_fill(mapped_at(memory, at), len, stream_offset, p);
	return 0;
}

int memory_check(struct memory *memory, size_t offset, size_t len, uint64_t stream_offset,
		 const struct pattern *p, struct pattern_fault *fault, struct error *err)
{
	size_t at = MEMORY_CANARY + offset;
	int rc = check_range(memory, offset, len, err);

	if (rc < 0)
		return rc;
	if (!memory->mapped)
		rc = memory->kind->check(memory, at, len, stream_offset, p, fault, err);
	else if (!pattern_check(mapped_at(memory, at), len, stream_offset, p, fault))
		rc = -EBADMSG;
	if (rc == -EBADMSG) {
		fault->offset += offset;
		_cleanup_free_ char *text = pattern_fault_text(fault);

		return error_set(err, rc, "%s", text);
	}
	return rc;
}

static int poison(struct memory *memory, size_t at, size_t len, uint64_t seed, struct error *err)
{
	if (!memory->mapped)
		return memory->kind->poison(memory, at, len, seed, err);
	pattern_poison(mapped_at(memory, at), len, seed);
	return 0;
}

static int set_canaries(struct memory *memory, uint64_t seed, struct error *err)
{
	size_t behind = MEMORY_CANARY + memory->length;
	int rc = poison(memory, 0, MEMORY_CANARY, seed, err);

	if (rc == 0)
		rc = poison(memory, behind, memory->region - behind, seed, err);
	memory->canaries_set = rc == 0;
	memory->canary_seed = seed;
	return rc;
}

int memory_poison(struct memory *memory, size_t offset, size_t len, uint64_t seed,
		  struct error *err)
{
	int rc = check_range(memory, offset, len, err);

	if (rc == 0 && !(memory->canaries_set && memory->canary_seed == seed))
		rc = set_canaries(memory, seed, err);
	return rc < 0 ? rc : poison(memory, MEMORY_CANARY + offset, len, seed, err);
}

/* fault->offset counts from the first usable byte. */
static int poison_check(struct memory *memory, size_t at, size_t len, uint64_t seed,
			struct pattern_fault *fault, struct error *err)
{
	uint64_t offset = 0, wrong = 0;
	int rc = 0;

	if (!memory->mapped)
		rc = memory->kind->poison_check(memory, at, len, seed, &offset, &wrong, err);
	else if (!pattern_poison_intact(mapped_at(memory, at), len, seed, &offset, &wrong))
		rc = -EBADMSG;
	if (rc == -EBADMSG)
		*fault = (struct pattern_fault){ .kind = PATTERN_CORRUPT,
						 .offset = at + offset - MEMORY_CANARY,
						 .wrong_bytes = wrong };
	return rc;
}

int memory_untouched(struct memory *memory, size_t offset, size_t len, uint64_t seed,
		     struct pattern_fault *fault, struct error *err)
{
	int rc = check_range(memory, offset, len, err);

	if (rc == 0)
		rc = poison_check(memory, MEMORY_CANARY + offset, len, seed, fault, err);
	if (rc == -EBADMSG)
		return error_set(err, rc, "%llu bytes that nothing should write to were written "
				 "to, the first at offset %llu",
				 (unsigned long long)fault->wrong_bytes,
				 (unsigned long long)fault->offset);
	return rc;
}

static int check_canary(struct memory *memory, size_t at, size_t len, uint64_t seed,
			struct pattern_fault *fault, struct error *err)
{
	int rc = poison_check(memory, at, len, seed, fault, err);

	if (rc == -EBADMSG)
		return error_set(err, rc, "%llu bytes %s the memory of %zu bytes were written to, "
				 "the first at offset %lld",
				 (unsigned long long)fault->wrong_bytes, at ? "behind" : "before",
				 memory->length, (long long)(int64_t)fault->offset);
	return rc;
}

int memory_canaries(struct memory *memory, uint64_t seed, struct pattern_fault *fault,
		    struct error *err)
{
	size_t behind = MEMORY_CANARY + memory->length;
	int rc = check_canary(memory, 0, MEMORY_CANARY, seed, fault, err);

	if (rc < 0)
		return rc;
	return check_canary(memory, behind, memory->region - behind, seed, fault, err);
}

size_t memory_length(const struct memory *memory)
{
	return memory->length;
}

void *memory_pointer(const struct memory *memory, size_t offset)
{
	return memory->mapped ? mapped_at(memory, MEMORY_CANARY + offset) : NULL;
}

json_t *memory_facts(const struct memory *memory)
{
	bool is_double = memory->is_double || (memory->verbs && memory->verbs->is_double);
	json_t *facts = json_object_new();

	json_put_string(facts, "kind", memory->kind->name);
	json_put_u64(facts, "length", memory->length);
	json_put_int(facts, "canary", MEMORY_CANARY);
	if (memory->n_chunks) {
		json_put_u64(facts, "registrations", memory->n_chunks);
		json_put_int(facts, "registration_ns", memory->registration_ns);
	}
	json_put_bool(facts, "double", is_double);
	json_object_update(facts, memory->facts);
	return facts;
}
