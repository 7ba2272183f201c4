// Takes records that were handed in into the registry, the oldest first, and has them matched.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused } from '../../../kernel/errors.ts'
import { join } from '../../../kernel/label.ts'
import type { Doc } from '../../../kernel/store.ts'
import { isSame } from '../engine/lookup/keyed-records.ts'
import { entityRecords, recordUid, type StoredRecord } from '../entity-record/model.ts'
import { latestRun } from '../lookup/learnt.ts'
import { putAll } from '../put-all.ts'
import { isBeingWritten, matchWaiting } from '../registry/arrive.ts'
import { aloneIn } from '../registry/arriving.ts'
import type { Whose } from '../registry/reach.ts'
import { writing } from '../registry/writing.ts'
import { arrivals, arrivalTopic, type Outcome, type StoredArrival } from './model.ts'

const keep_ms = 7 * 86_400_000

/** What cannot be done now, as while a run writes the registry, waits; what can never be done says so. */
export async function takeArrivals(call: Call): Promise<void> {
  let cursor: string | undefined
  do {
    const order = { field: 'created_at', direction: 'asc' } as const
    const next = cursor === undefined ? {} : { cursor }
    const page = await call.store(arrivals).list({ filter: { owes: 1 }, order, limit: 100, fresh: true, ...next })
    for (const doc of page.docs) {
      if (call.signal.aborted) return
      const refused = await take(call, doc).catch((error: unknown) => heldUp(call, doc.id, error))
      if (refused) await ended(call, doc, { failure: { code: refused.code, reason: refused.message } })
    }
    cursor = page.next_cursor
  } while (cursor !== undefined)
}

/** Those that a run did not bring are matched again after it. */
export async function matchAllWaiting(call: Call): Promise<void> {
  const done = new Set<string>()
  for (;;) {
    const { docs } = await call.store(entityRecords).list({ filter: { arrived: 'waiting' }, limit: 500, fresh: true })
    const found = docs.find(({ value }) => !done.has(registryOf(value)))
    if (!found || call.signal.aborted) return
    const { tenant_id, lens } = found.value
    done.add(registryOf(found.value))
    await matchWaiting(call, { tenant_id, lens }).catch((error: unknown) => heldUp(call, lens, error))
  }
}

function registryOf({ tenant_id, lens }: Whose): string {
  return JSON.stringify([tenant_id, lens])
}

/** Nothing is answered for what comes again by itself. */
function heldUp(call: Call, arrival: string, error: unknown): Refused | undefined {
  if (isRefused(error) && !error.row.retryable) return error
  if (call.signal.aborted) return undefined
  const { trace_id } = call.trace
  call.log[isRefused(error) ? 'warn' : 'error']('resolution.arrival.held-up', {
    trace_id,
    arrival,
    error: String(error),
  })
  return undefined
}

async function take(call: Call, doc: Doc<StoredArrival>): Promise<undefined> {
  const { tenant_id, lens } = doc.value
  const whose = { tenant_id, lens }
  if (await isBeingWritten(call, whose)) return
  const learnt = await latestRun(call, whose)
  if (!learnt) return
  const known = await withOutcomes(call, doc)
  await writing(call, whose, (written) =>
    putAll(
      call.store(entityRecords),
      known.value.records.map((record) => recordOf(call, known, record, learnt.run.id, written)),
      (before, now) => merged(call, before, now),
    ),
  )
  if (await matchWaiting(call, whose)) await ended(call, known, {})
}

/** Decided once and before anything is written, so that a repeat after a crash says the same. */
async function withOutcomes(call: Call, doc: Doc<StoredArrival>): Promise<Doc<StoredArrival>> {
  if (doc.value.records.every(({ outcome }) => outcome !== undefined)) return doc
  const { tenant_id, lens, records } = doc.value
  const outcomes = await Promise.all(
    records.map(async ({ ref, values }): Promise<Outcome> => {
      const before = await call.store(entityRecords).find(recordUid(tenant_id, lens, ref))
      if (!before) return 'new'
      return isSame(before.value.values, values) ? 'unchanged' : 'replaced'
    }),
  )
  const told = records.map((record, at) => ({ ...record, outcome: outcomes[at] ?? 'new' }))
  const { doc: known } = await call
    .store(arrivals)
    .update(doc.id, ({ value }) => ({ next: { ...value, records: told }, answer: undefined }))
  return known
}

function recordOf(
  call: Call,
  { value: { tenant_id, label, lens, created_at } }: Doc<StoredArrival>,
  { ref, values }: StoredArrival['records'][number],
  run_id: string,
  written: number,
): { id: string; value: StoredRecord } {
  const id = recordUid(tenant_id, lens, ref)
  const base = aloneIn(id)
  const came = { arrived: 'waiting', came_at: created_at } as const
  return {
    id,
    value: { tenant_id, label, lens, ref, values, base, ...came, run_id, written, updated_at: call.nowIso() },
  }
}

/** What says the same stays as it is, but for a label that is stricter now; that is settled as what is new. */
function merged(call: Call, before: StoredRecord, now: StoredRecord): StoredRecord {
  const label = join(before.label, now.label, call.site.labels) ?? before.label
  const { base, entity, run_id, found: _found, ...rest } = before
  if (isSame(before.values, now.values) && label === before.label) return before
  const { values, arrived, came_at, written, updated_at } = now
  const was = entity === undefined ? {} : { entity }
  return { ...rest, label, values, base, ...was, run_id, arrived, came_at, written, updated_at }
}

async function ended(call: Call, { id }: Doc<StoredArrival>, how: Pick<StoredArrival, 'failure'>): Promise<void> {
  await call.store(arrivals).update(id, ({ value }) => ({
    next: { ...value, ...how, owes: 0 as const, expires_ts: call.now() + keep_ms },
    answer: undefined,
  }))
  call.announce(arrivalTopic(id))
}
