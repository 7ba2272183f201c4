// Loads the records and matches that a decision may change: records of the same clusters and entities, and records
// connected to them by other decisions.

import { refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Collection, Doc, StoredFields } from '../../../kernel/store/store.ts'
import { entityMatches, type StoredMatch } from '../entity-match/model.ts'
import { deriveConstraint } from '../entity-match/rules.ts'
import { entityRecords, isWithdrawn, type StoredRecord } from '../entity-record/model.ts'
import type { RegistryKey } from '../fields.ts'

export type DecisionReach = {
  /** Records by uid. */
  readonly records: ReadonlyMap<string, Doc<StoredRecord>>
  /** Matches between these records. */
  readonly matches: readonly Doc<StoredMatch>[]
}

/** Limit of the reach: a cluster of this size indicates a faulty lens. */
const max_records = 20_000
/** Limit of values of one `in` condition. */
const max_filter_values = 200

/**
 * Loads the closure of the seeds under three relations: records in one cluster of the engine, records of one entity,
 * and records of a decided match. Throws `Refusal('too_large')` for more than 20,000 records.
 */
export async function loadDecisionReach(
  call: Call,
  registry: RegistryKey,
  seeds: readonly string[],
): Promise<DecisionReach> {
  const records = new Map<string, Doc<StoredRecord>>()
  const queried = { base: new Set<string>(), entity: new Set<string>() }
  let missing = [...new Set(seeds)]
  while (missing.length > 0) {
    const fresh = (await Promise.all(missing.map((uid) => call.store(entityRecords).find(uid)))).flatMap((doc) =>
      doc && doc.value.tenant_id === registry.tenant_id && !isWithdrawn(doc.value) ? [doc] : [],
    )
    const added = await addGroups(call, registry, fresh, records, queried)
    const partners = await findDecidedPartners(call, registry, added)
    missing = partners.filter((uid) => !records.has(uid))
  }
  return { records, matches: await findMatchesAmong(call, registry, records) }
}

/** Adds the records and all records that share a cluster or an entity with them. Returns the uids of added records. */
async function addGroups(
  call: Call,
  registry: RegistryKey,
  first: readonly Doc<StoredRecord>[],
  records: Map<string, Doc<StoredRecord>>,
  queried: { readonly base: Set<string>; readonly entity: Set<string> },
): Promise<string[]> {
  const added: string[] = []
  let fresh = first
  while (fresh.length > 0) {
    const unseen = fresh.filter(({ id }) => !records.has(id))
    for (const doc of unseen) records.set(doc.id, doc)
    added.push(...unseen.map(({ id }) => id))
    if (records.size > max_records)
      throw refuse(
        'too_large',
        `the decision reaches more than ${max_records} records: check the lens and its threshold`,
      )
    const neighbours: Doc<StoredRecord>[] = []
    for (const group of ['base', 'entity'] as const) {
      const groups = new Set(unseen.flatMap(({ value }) => value[group] ?? []))
      const names = [...groups].filter((name) => !queried[group].has(name))
      for (const name of names) queried[group].add(name)
      const found = await listByValues(call, entityRecords, registry, group, names)
      neighbours.push(...found.filter(({ value }) => !isWithdrawn(value)))
    }
    fresh = neighbours
  }
  return added
}

async function findDecidedPartners(call: Call, registry: RegistryKey, uids: readonly string[]): Promise<string[]> {
  const lefts = await listByValues(call, entityMatches, registry, 'left_uid', uids)
  const rights = await listByValues(call, entityMatches, registry, 'right_uid', uids)
  const decided = [...lefts, ...rights].filter(({ value }) => deriveConstraint(value) !== undefined)
  return [...new Set(decided.flatMap(({ value }) => [value.left_uid, value.right_uid]))]
}

async function findMatchesAmong(
  call: Call,
  registry: RegistryKey,
  records: ReadonlyMap<string, unknown>,
): Promise<Doc<StoredMatch>[]> {
  const matches = await listByValues(call, entityMatches, registry, 'left_uid', [...records.keys()])
  return matches.filter(({ value }) => records.has(value.right_uid))
}

/**
 * Lists every current document whose field has one of the values. Orders by that field without another condition, so
 * that the store seeks the values regardless of the number of documents; such a value belongs to one lens only.
 */
export async function listByValues<T extends StoredFields & { lens: string }>(
  call: Call,
  from: Collection<T>,
  { tenant_id, lens }: RegistryKey,
  field: string,
  values: readonly string[],
): Promise<Doc<T>[]> {
  const docs: Doc<T>[] = []
  for (let at = 0; at < values.length; at += max_filter_values) {
    const filter = { tenant_id, [field]: { in: values.slice(at, at + max_filter_values) } }
    const order = { field, direction: 'asc' } as const
    for await (const doc of iterateDocuments(call.store(from), { filter, order, fresh: true })) {
      if (doc.value.lens === lens) docs.push(doc)
    }
  }
  return docs
}
