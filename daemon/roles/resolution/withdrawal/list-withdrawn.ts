// Lists the withdrawn records of a registry, which runs and exchanges leave out.
import { isCoveredBy, type Label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc, FilterCondition } from '../../../kernel/store/store.ts'
import { entityRecords, type StoredRecord } from '../entity-record/model.ts'
import type { RecordRef, RegistryKey } from '../fields.ts'

/** `is_shown`: whether everybody who may see the run may see the record, and so may know that it was left out. */
export type WithdrawnRef = RecordRef & { readonly is_shown: boolean }

/** Lists those of some nodes. `label`: that of the run; without one, all are shown. */
export async function listWithdrawnRefs(
  call: Call,
  registry: RegistryKey,
  { nodes, label }: { readonly nodes: readonly string[]; readonly label?: Label },
): Promise<WithdrawnRef[]> {
  const refs: WithdrawnRef[] = []
  for await (const { value } of iterateWithdrawn(call, registry, { exists: true }, true)) {
    if (!nodes.includes(value.ref.node_id)) continue
    refs.push({ ...value.ref, is_shown: label === undefined || isCoveredBy(value.label, label, call.site.labels) })
  }
  return refs
}

/**
 * Lists the records that were withdrawn since a time: a run that began before may have found matches of them. It may miss one of
 * the last second, whose matches are removed once the run has ended.
 */
export async function listWithdrawnSince(
  call: Call,
  registry: RegistryKey,
  since: string,
): Promise<ReadonlySet<string>> {
  const uids = new Set<string>()
  for await (const { id } of iterateWithdrawn(call, registry, { gte: since }, false)) uids.add(id)
  return uids
}

/** Orders by that field without another condition, so that the store seeks the few that are withdrawn. */
async function* iterateWithdrawn(
  call: Call,
  { tenant_id, lens }: RegistryKey,
  withdrawn_at: FilterCondition,
  fresh: boolean,
): AsyncGenerator<Doc<StoredRecord>> {
  const order = { field: 'withdrawn_at', direction: 'asc' } as const
  const query = { filter: { tenant_id, withdrawn_at }, order, fresh }
  for await (const doc of iterateDocuments(call.store(entityRecords), query)) if (doc.value.lens === lens) yield doc
}
