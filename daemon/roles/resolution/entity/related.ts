// Lists entities that share values of some fields with an entity, such as an address or a telephone number.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { SharedField, SharedValue } from '../engine/lookup/find-sharing.ts'
import { entityClusters, type StoredCluster } from '../entity-cluster/model.ts'
import { entityRecords, isWithdrawn } from '../entity-record/model.ts'
import { count, shortText, uid } from '../fields.ts'
import { lenses } from '../lens/stored-lens.ts'
import type { LookupEntity, LookupRegistry } from '../lookup/lookup-registry.ts'
import { openLookupRegistry } from '../lookup/open-lookup-registry.ts'
import { requestJob } from '../matching-thread/request-job.ts'

/** Records of the entity whose values are compared, and values of one field. */
const max_own_records = 1_000
const max_own_values = 50
/** A value of more records, such as the number of a switchboard, relates nobody; it is counted. */
const max_sharing_records = 200
/** Records of other entities that are read for one answer. */
const max_read_records = 5_000
const max_concurrent_reads = 64

const shared = { field: shortText, value: z.string() }

export const related = operation({
  summary: 'List the entities that share values of some fields with an entity, and the values that too many share',
  method: 'GET',
  path: '/api/v2/entity_cluster/{uid}/related',
  tool: 'entity_related',
  input: z.strictObject({
    uid,
    by: z.string().min(1).max(1_024).meta({ description: 'Fields of the lens, separated by commas' }),
    limit: z.int().min(1).max(500).default(50),
  }),
  output: z
    .strictObject({
      entities: z
        .array(
          z
            .strictObject({
              entity: uid,
              classification: label,
              size: count,
              shared: z.array(
                z.strictObject({ ...shared, records: count.meta({ description: 'Its records with the value' }) }),
              ),
            })
            .meta({ id: 'RelatedEntity' }),
        )
        .meta({ description: 'Most shared values first' }),
      total: count.meta({ description: 'Entities that share a value, those beyond the limit included' }),
      common: z.array(z.strictObject({ ...shared, records: count })).meta({
        description: `Values of more than ${max_sharing_records} records, with their number; their entities are not listed`,
      }),
      left_out: z.strictObject({ records: count, values: count, sharing: count }).meta({
        description: `Records of the entity beyond ${max_own_records} and values of a field beyond ${max_own_values}, which were not compared; records that share a value beyond ${max_read_records}, whose entities are not listed`,
      }),
    })
    .meta({ id: 'RelatedEntities' }),
  errors: ['not_found', 'wrong_state'],
  allow: 'resolution:read',

  async run(call, { uid: id, by, limit }) {
    const entity = await call.store(entityClusters).get(id)
    const names = await readFieldNames(call, entity, by)
    if (isRefusal(names)) return names
    const registry = await openLookupRegistry(call, { lens_id: entity.value.lens })
    if (isRefusal(registry)) return registry
    // From the deletion on no values are shown, also before the records have left the entity.
    const isLive = entity.value.state === 'live'
    const { fields, left_out } = await collectOwnValues(call, entity, isLive ? names : [])
    const job = { index: registry.index, fields, max_records: max_sharing_records }
    const values = await requestJob(call, 'find_sharing', job)
    const { found, unread } = await groupByEntity(call, registry, id, values)
    const common = values
      .filter(({ records }) => records > max_sharing_records)
      .map(({ field, value, records }) => ({ field, value, records }))
    return { entities: found.slice(0, limit), total: found.length, common, left_out: { ...left_out, sharing: unread } }
  },
})

async function readFieldNames(call: Call, { value }: Doc<StoredCluster>, by: string): Promise<string[] | Refusal> {
  const { fields } = (await call.store(lenses).get(value.lens_id)).value.body
  const known = fields.map(({ name }) => name)
  const names = [...new Set(by.split(',').map((name) => name.trim()))]
  const unknown = names.find((name) => !known.includes(name))
  if (unknown === undefined) return names
  const message = `${unknown || 'an empty name'} is not a field of the lens, which has ${known.join(', ')}`
  return refuse('invalid', message, [{ path: 'by', message }])
}

async function collectOwnValues(call: Call, { id: entity, value }: Doc<StoredCluster>, names: readonly string[]) {
  const { tenant_id, lens } = value
  const values = new Map(names.map((name) => [name, new Set<string>()]))
  let read = 0
  let records = 0
  let dropped = 0
  const query = { filter: { tenant_id, lens, entity }, page_size: 500 }
  for await (const { value: record } of iterateDocuments(call.store(entityRecords), query)) {
    if (isWithdrawn(record)) continue
    if (++read > max_own_records) {
      records = Math.max(0, value.size - max_own_records)
      break
    }
    for (const [name, own] of values) {
      const text = record.values[name]
      if (text === undefined || own.has(text)) continue
      if (own.size < max_own_values) own.add(text)
      else dropped++
    }
  }
  const fields: SharedField[] = [...values].map(([field, own]) => ({ field, values: [...own] }))
  return { fields, left_out: { records, values: dropped } }
}

type Relation = { readonly entity: LookupEntity; readonly shared: Map<SharedValue, number> }

/** The store decides which records and entities the caller may see. Reads each record and each entity once. */
async function groupByEntity(call: Call, registry: LookupRegistry, own: string, values: readonly SharedValue[]) {
  const uids = [...new Set(values.flatMap((value) => value.uids))]
  const records = await readAll(call, uids.slice(0, max_read_records), (uid) => registry.record(uid))
  const ids = new Set([...records.values()].flatMap((record) => record?.entity ?? []))
  ids.delete(own)
  const entities = await readAll(call, [...ids], (id) => registry.entity(id))
  const relations = new Map<string, Relation>()
  for (const value of values) {
    for (const record_uid of value.uids) {
      const entity = entities.get(records.get(record_uid)?.entity ?? '')
      if (!entity) continue
      const relation = relations.get(entity.id) ?? { entity, shared: new Map() }
      relation.shared.set(value, (relation.shared.get(value) ?? 0) + 1)
      relations.set(entity.id, relation)
    }
  }
  return { found: orderRelations(relations), unread: Math.max(0, uids.length - max_read_records) }
}

async function readAll<T>(call: Call, keys: readonly string[], read: (key: string) => Promise<T>) {
  const found = new Map<string, T>()
  for (let at = 0; at < keys.length; at += max_concurrent_reads) {
    call.signal.throwIfAborted()
    const batch = keys.slice(at, at + max_concurrent_reads)
    const answers = await Promise.all(batch.map(read))
    for (const [index, key] of batch.entries()) found.set(key, answers[index] as T)
  }
  return found
}

function orderRelations(relations: ReadonlyMap<string, Relation>) {
  return [...relations.values()]
    .sort((a, b) => b.shared.size - a.shared.size || (a.entity.id < b.entity.id ? -1 : 1))
    .map(({ entity: { id, label: classification, size }, shared: found }) => ({
      ...{ entity: id, classification, size },
      shared: [...found].map(([{ field, value }, records]) => ({ field, value, records })),
    }))
}
