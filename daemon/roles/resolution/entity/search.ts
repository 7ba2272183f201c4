// Searches the records of a registry by the values of fields, and names their entities.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { readCursor, writeCursor } from '../../../kernel/store/list-cursor.ts'
import type { ListQuery } from '../../../kernel/store/store.ts'
import type { FoundRecord, WantedValues } from '../engine/lookup/search-records.ts'
import { entityRecords } from '../entity-record/model.ts'
import { count, recordRef, shortText, uid } from '../fields.ts'
import type { Lens } from '../lens/model.ts'
import type { LookupRegistry } from '../lookup/lookup-registry.ts'
import { openLookupRegistry } from '../lookup/open-lookup-registry.ts'
import { requestJob } from '../matching-thread/request-job.ts'

const foundRecord = z
  .strictObject({
    record: recordRef,
    values: z.record(z.string(), z.string()).meta({ description: 'In the normal form of the lens' }),
    entity: uid.optional().meta({ description: 'Absent until it is matched, and where the caller may not see it' }),
    classification: label.optional().meta({ description: 'Label of the entity' }),
    size: count.optional().meta({ description: 'Records of the entity' }),
  })
  .meta({ id: 'FoundRecord' })

export const search = operation({
  summary: 'Search records by the values of fields, in the normal form of the lens, and name their entities',
  method: 'POST',
  path: '/api/v2/entity_search',
  tool: 'entity_search',
  input: z.strictObject({
    where: z
      .record(shortText, requiredText(1_024))
      .refine((fields) => Object.keys(fields).length > 0, 'must name a field')
      .meta({ description: 'Field of the lens to its value; all must hold. A value that ends with * is a beginning' }),
    lens_id: uid.optional().meta({ description: 'uid or name of the lens; the lens in use when absent' }),
    lens_version: shortText.optional(),
    entity_type: shortText.optional().meta({ description: 'Selects the lens in use for this entity type' }),
    ...listFields,
  }),
  output: pageSchema(foundRecord).meta({ id: 'EntitySearchPage' }),
  errors: ['not_found', 'wrong_state'],
  allow: 'resolution:read',
  reads: true,

  async run(call, { where, limit, cursor, ...selector }) {
    const registry = await openLookupRegistry(call, selector)
    if (isRefusal(registry)) return registry
    const unknown = refuseUnknownFields(registry.lens, where)
    if (unknown) return unknown
    const query = buildQuery(call, registry, where)
    const after = readCursor(entityRecords.name, cursor === undefined ? query : { ...query, cursor })?.id
    const found = await findVisible(call, registry, { where, after, limit: limit + 1 })
    if (isRefusal(found)) return found
    const items = found.slice(0, limit).map(({ item }) => item)
    const last = found.length > limit ? found[limit - 1] : undefined
    const counted = { total: found.length, total_is: last || after !== undefined ? 'at_least' : 'exact' } as const
    if (!last) return { items, ...counted }
    return { items, next_cursor: writeCursor(entityRecords.name, query, { value: null, id: last.uid }), ...counted }
  },
})

type VisibleRecord = { readonly uid: string; readonly item: z.infer<typeof foundRecord> }

/**
 * The store decides what the caller may see. The index may still have a record whose label became stricter, which therefore must
 * neither be counted nor leave a trace in cursors: the search continues until enough visible records are found.
 */
async function findVisible(
  call: Call,
  registry: LookupRegistry,
  {
    where,
    limit,
    ...start
  }: { readonly where: WantedValues; readonly after: string | undefined; readonly limit: number },
): Promise<VisibleRecord[] | Refusal> {
  const { lens, index } = registry
  const visible: VisibleRecord[] = []
  let { after } = start
  for (;;) {
    const { empty, records } = await requestJob(call, 'search_records', { index, lens, where, after, limit })
    if (empty.length > 0) return refuseEmptyValues(empty)
    const shown = await Promise.all(records.map((record) => showRecord(registry, record)))
    visible.push(...shown.flatMap((each) => each ?? []))
    after = records.at(-1)?.uid
    if (visible.length >= limit || records.length < limit) return visible.slice(0, limit)
  }
}

function refuseUnknownFields({ fields }: Lens, where: WantedValues): Refusal | undefined {
  const names = fields.map(({ name }) => name)
  const unknown = Object.keys(where).filter((name) => !names.includes(name))
  if (unknown.length === 0) return undefined
  const message = `is not a field of the lens, which has ${names.join(', ')}`
  return refuse(
    'invalid',
    `${unknown.join(', ')} ${message}`,
    unknown.map((name) => ({ path: `where.${name}`, message })),
  )
}

function refuseEmptyValues(fields: readonly string[]): Refusal {
  const message = 'has no value in the normal form of the lens'
  return refuse(
    'invalid',
    `${fields.join(', ')} ${message}: write it as the data does`,
    fields.map((name) => ({ path: `where.${name}`, message })),
  )
}

/** A cursor belongs to the lens, the values and the clearance. */
function buildQuery({ caller, site }: Call, { lens, tenant_id }: LookupRegistry, where: WantedValues): ListQuery {
  const filter = { tenant_id, lens: lens.lens, ...Object.fromEntries(Object.entries(where).sort()) }
  const viewer = { tenant_id: caller.tenant_id, clearance: caller.clearance }
  return { filter, limit: 1, read_scope: { viewer, policy: site.labels } }
}

async function showRecord(
  registry: LookupRegistry,
  { uid: record_uid, values }: FoundRecord,
): Promise<VisibleRecord | undefined> {
  const record = await registry.record(record_uid)
  if (!record) return undefined
  const entity = record.entity === undefined ? undefined : await registry.entity(record.entity)
  const entityFields = entity && { entity: entity.id, classification: entity.label, size: entity.size }
  return { uid: record_uid, item: { record: record.ref, values, ...entityFields } }
}
