// Determines what became of records that are new to the registry: an entity of their own, a part of one, or a link between several.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { type EntityChange, entityChanges, type UnloggedEntityChange } from '../entity-change/model.ts'
import { entityClusters } from '../entity-cluster/model.ts'
import { entityRecords, recordUid } from '../entity-record/model.ts'
import { recordKey } from '../registry/record-key.ts'
import type { ArrivedRecordOutcome, StoredArrival } from './model.ts'

/** Changes of an entity that are searched, the latest first. */
const max_searched_changes = 100

type ArrivalRecord = StoredArrival['records'][number]
type RecordedChange = Pick<UnloggedEntityChange | EntityChange, 'change' | 'joined' | 'from'>

/** Records whose outcome is another than `new` keep it. */
export async function determineFinalOutcomes(call: Call, { value }: Doc<StoredArrival>): Promise<ArrivalRecord[]> {
  const changesOf = new Map<string, Promise<readonly RecordedChange[]>>()
  return await Promise.all(
    value.records.map(async (record) => {
      if (record.outcome !== 'new') return record
      const stored = await call.store(entityRecords).find(recordUid(value.tenant_id, value.lens, record.ref))
      const entity = stored?.value.entity
      if (entity === undefined) return record
      const changes = changesOf.get(entity) ?? listLatestChanges(call, entity)
      changesOf.set(entity, changes)
      return { ...record, ...outcomeOf(record, await changes) }
    }),
  )
}

/** The latest first. A change leaves the entity once it is in the log, so the entity is read first. */
async function listLatestChanges(call: Call, entity: string): Promise<readonly RecordedChange[]> {
  const doc = await call.store(entityClusters).find(entity)
  const order = { field: 'place', direction: 'desc' } as const
  const query = { filter: { entity }, order, limit: max_searched_changes, fresh: true }
  const { docs } = await call.store(entityChanges).list(query)
  return [...(doc?.value.unlogged_changes ?? []).toReversed(), ...docs.map(({ value }) => value.change)]
}

function outcomeOf({ ref }: ArrivalRecord, changes: readonly RecordedChange[]) {
  const key = recordKey(ref)
  const change = changes.find(({ joined = [] }) => joined.some((each) => recordKey(each) === key))
  if (!change || change.change === 'created') return { outcome: 'new' as const }
  return describeJoining(change.from)
}

/** `from`: the entities that were merged when the record came. */
export function describeJoining(from: readonly string[] = []): {
  readonly outcome: Extract<ArrivedRecordOutcome, 'joined' | 'merged'>
  readonly merged_from?: string[]
} {
  return from.length > 0 ? { outcome: 'merged', merged_from: [...from] } : { outcome: 'joined' }
}
