// All that a decision may touch: records of the same clusters and entities, and those that other decisions tie to them.
import type { Call } from '../../../kernel/call.ts'
import { refuse } from '../../../kernel/errors.ts'
import type { Collection, Doc, Stored } from '../../../kernel/store.ts'
import { entityMatches, type StoredMatch } from '../entity-match/model.ts'
import { constraintOf } from '../entity-match/rules.ts'
import { entityRecords, type StoredRecord } from '../entity-record/model.ts'

export type Whose = { readonly tenant_id: string; readonly lens: string }

export type Reach = {
  /** By uid. */
  readonly records: ReadonlyMap<string, Doc<StoredRecord>>
  /** Matches with both records among these. */
  readonly matches: readonly Doc<StoredMatch>[]
}

/** More records than people can mean by one decision; a cluster of so many is a fault of the lens. */
const most_records = 20_000
const page = 500
/** Values that one condition may name. */
const most_values = 200

/**
 * Closed under three things: records with a cluster of the engine in common, records of one entity, and records of a match
 * that is decided. Throws `Refused('too_large')` for more than 20,000 records.
 */
export async function reachOf(call: Call, whose: Whose, seeds: readonly string[]): Promise<Reach> {
  const records = new Map<string, Doc<StoredRecord>>()
  const asked = { base: new Set<string>(), entity: new Set<string>() }
  let wanted = [...new Set(seeds)]
  while (wanted.length > 0) {
    const fresh = (await Promise.all(wanted.map((uid) => call.store(entityRecords).find(uid)))).flatMap((doc) =>
      doc && doc.value.tenant_id === whose.tenant_id ? [doc] : [],
    )
    const added = await withGroups(call, whose, fresh, records, asked)
    const partners = await decidedPartners(call, whose, added)
    wanted = partners.filter((uid) => !records.has(uid))
  }
  return { records, matches: await matchesAmong(call, whose, records) }
}

/** Takes in the records and all that share a cluster or an entity with any of them; the uids of those that are new. */
async function withGroups(
  call: Call,
  whose: Whose,
  first: readonly Doc<StoredRecord>[],
  records: Map<string, Doc<StoredRecord>>,
  asked: { readonly base: Set<string>; readonly entity: Set<string> },
): Promise<string[]> {
  const added: string[] = []
  let fresh = first
  while (fresh.length > 0) {
    const taken = fresh.filter(({ id }) => !records.has(id))
    for (const doc of taken) records.set(doc.id, doc)
    added.push(...taken.map(({ id }) => id))
    if (records.size > most_records) throw refuse('too_large', `the decision reaches more than ${most_records} records`)
    const found: Doc<StoredRecord>[] = []
    for (const group of ['base', 'entity'] as const) {
      const known = new Set(taken.flatMap(({ value }) => value[group] ?? []))
      const names = [...known].filter((name) => !asked[group].has(name))
      for (const name of names) asked[group].add(name)
      found.push(...(await listed(call, entityRecords, whose, group, names)))
    }
    fresh = found
  }
  return added
}

async function decidedPartners(call: Call, whose: Whose, uids: readonly string[]): Promise<string[]> {
  const lefts = await listed(call, entityMatches, whose, 'left_uid', uids)
  const rights = await listed(call, entityMatches, whose, 'right_uid', uids)
  const decided = [...lefts, ...rights].filter(({ value }) => constraintOf(value) !== undefined)
  return [...new Set(decided.flatMap(({ value }) => [value.left_uid, value.right_uid]))]
}

async function matchesAmong(
  call: Call,
  whose: Whose,
  records: ReadonlyMap<string, unknown>,
): Promise<Doc<StoredMatch>[]> {
  const found = await listed(call, entityMatches, whose, 'left_uid', [...records.keys()])
  return found.filter(({ value }) => records.has(value.right_uid))
}

/**
 * Every document whose field is one of the values, as of now. In the order of that field and by no other condition, so that the
 * store seeks the values, however many documents the lens has; such a value is of one lens alone.
 */
export async function listed<T extends Stored & { lens: string }>(
  call: Call,
  from: Collection<T>,
  { tenant_id, lens }: Whose,
  field: string,
  values: readonly string[],
): Promise<Doc<T>[]> {
  const found: Doc<T>[] = []
  for (let at = 0; at < values.length; at += most_values) {
    const filter = { tenant_id, [field]: { in: values.slice(at, at + most_values) } }
    const order = { field, direction: 'asc' } as const
    let cursor: string | undefined
    do {
      const next = cursor === undefined ? {} : { cursor }
      const { docs, next_cursor } = await call.store(from).list({ filter, order, limit: page, fresh: true, ...next })
      found.push(...docs.filter(({ value }) => value.lens === lens))
      cursor = next_cursor
    } while (cursor !== undefined)
  }
  return found
}
