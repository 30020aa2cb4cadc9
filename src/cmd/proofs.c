/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/proofs.h"

#include <errno.h>

#include "base/alloc.h"
#include "prove/record.h"

static void put_gap(json_t *gaps, const char *reason, int code)
{
	json_t *gap = json_object_new();

	json_put_string(gap, "pointer", "/proofs");
	json_put_string(gap, "reason", reason);
	json_put_int(gap, "errno", -code);
	json_append(gaps, gap);
}

int proofs_get(const struct snapshots *snapshots, const struct cmd_args *args, struct error *err)
{
	bool live = !args->n_operands && !args->replay;
	_cleanup_free_ char *usual = xasprintf("%s%s", args->root ? args->root : "", PROOF_FOLDER);
	_cleanup_json_ json_t *gaps = json_array_new(), *proofs = NULL;
	json_t *gap;
	size_t i;

	if (!args->proofs && !live)
		return 0;
	int rc = proof_load(&proofs, args->proofs ? args->proofs : usual, gaps, err);
	if (rc < 0 && args->proofs)
		return rc;
	if (rc < 0 && rc != -ENOENT)
		put_gap(gaps, error_text(err), rc);
	if (rc < 0)
		error_clear(err);
	proof_attach(snapshots->s, snapshots->n, proofs);
	for (size_t k = 0; k < snapshots->n; k++) {
		json_array_foreach(gaps, i, gap)
			json_append(json_arr(snapshots->s[k], "gaps"), json_incref(gap));
	}
	return 0;
}

json_t *proofs_list(const struct snapshots *snapshots)
{
	json_t *all = json_array_new(), *list, *record;
	const char *kind;
	size_t k;

	for (size_t i = 0; i < snapshots->n; i++) {
		json_object_foreach(json_object_get(snapshots->s[i], "proofs"), kind, list) {
			json_array_foreach(list, k, record) {
				_cleanup_error_ struct error err = {0};

				if (proof_record_check(record, kind, &err) == 0)
					json_append(all, json_incref(record));
			}
		}
	}
	return all;
}
