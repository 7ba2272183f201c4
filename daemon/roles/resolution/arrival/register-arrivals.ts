// Writes arrived records to the registry, the oldest arrivals first, and has them matched.

import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { joinLabels } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { isSameRecord } from '../engine/lookup/lookup-index.ts'
import { entityRecords, recordUid, type StoredRecord } from '../entity-record/model.ts'
import { writeNumbered } from '../entity-record/write-numbered.ts'
import type { RegistryKey } from '../fields.ts'
import { findLatestTrainedLens } from '../lookup/trained-lens.ts'
import { singletonClusterName } from '../registry/join-arrivals.ts'
import { isBeingWritten, matchWaitingRecords } from '../registry/match-waiting-records.ts'
import { upsertDocuments } from '../upsert-documents.ts'
import { type ArrivedRecordOutcome, arrivals, arrivalTopic, type StoredArrival } from './model.ts'

const retention_ms = 7 * 86_400_000

/**
 * An arrival that cannot be matched now, as while a run writes the registry, stays pending; one that never can fails.
 */
export async function registerArrivals(call: Call): Promise<void> {
  const order = { field: 'created_at', direction: 'asc' } as const
  const pending = { filter: { owes: 1 }, order, fresh: true, page_size: 100 }
  for await (const doc of iterateDocuments(call.store(arrivals), pending)) {
    if (call.signal.aborted) return
    const refused = await registerArrival(call, doc).catch((error: unknown) => handleFailure(call, doc.id, error))
    if (refused) await finishArrival(call, doc, { failure: { code: refused.code, reason: refused.message } })
  }
}

/** Matches waiting records of every registry: after a run, those that the run did not bring. */
export async function matchAllWaitingRecords(call: Call): Promise<void> {
  const done = new Set<string>()
  for (;;) {
    const { docs } = await call.store(entityRecords).list({ filter: { arrived: 'waiting' }, limit: 500, fresh: true })
    const found = docs.find(({ value }) => !done.has(registryKeyText(value)))
    if (!found || call.signal.aborted) return
    const { tenant_id, lens } = found.value
    done.add(registryKeyText(found.value))
    await matchWaitingRecords(call, { tenant_id, lens }).catch((error: unknown) => handleFailure(call, lens, error))
  }
}

function registryKeyText({ tenant_id, lens }: RegistryKey): string {
  return JSON.stringify([tenant_id, lens])
}

/** Returns a permanent refusal. Logs all else, which the worker tries again. */
function handleFailure(call: Call, arrival: string, error: unknown): Refusal | undefined {
  if (isRefusal(error) && !error.row.retryable) return error
  if (call.signal.aborted) return undefined
  const { trace_id } = call.trace
  call.log[isRefusal(error) ? 'warn' : 'error']('resolution.arrival.held-up', {
    trace_id,
    arrival,
    error: String(error),
  })
  return undefined
}

async function registerArrival(call: Call, doc: Doc<StoredArrival>): Promise<undefined> {
  const { tenant_id, lens } = doc.value
  const registry = { tenant_id, lens }
  if (await isBeingWritten(call, registry)) return
  const learnt = await findLatestTrainedLens(call, registry)
  if (!learnt) return
  const known = await storeOutcomes(call, doc)
  await writeNumbered(call, registry, (written) =>
    upsertDocuments(
      call.store(entityRecords),
      known.value.records.map((record) => buildRecord(call, known, record, learnt.run.id, written)),
      (before, now) => mergeRecords(call, before, now),
    ),
  )
  if (await matchWaitingRecords(call, registry)) await finishArrival(call, known, {})
}

/** Stores the outcomes before any record is written, so that a repeat after a crash reports the same. */
async function storeOutcomes(call: Call, doc: Doc<StoredArrival>): Promise<Doc<StoredArrival>> {
  if (doc.value.records.every(({ outcome }) => outcome !== undefined)) return doc
  const { tenant_id, lens, records } = doc.value
  const outcomes = await Promise.all(
    records.map(async ({ ref, values }): Promise<ArrivedRecordOutcome> => {
      const before = await call.store(entityRecords).find(recordUid(tenant_id, lens, ref))
      if (!before) return 'new'
      return isSameRecord(before.value.values, values) ? 'unchanged' : 'replaced'
    }),
  )
  const decided = records.map((record, at) => ({ ...record, outcome: outcomes[at] ?? 'new' }))
  const { doc: known } = await call
    .store(arrivals)
    .update(doc.id, ({ value }) => ({ next: { ...value, records: decided }, answer: undefined }))
  return known
}

function buildRecord(
  call: Call,
  { value: { tenant_id, label, lens, created_at } }: Doc<StoredArrival>,
  { ref, values }: StoredArrival['records'][number],
  run_id: string,
  written: number,
): { id: string; value: StoredRecord } {
  const id = recordUid(tenant_id, lens, ref)
  const base = singletonClusterName(id)
  const came = { arrived: 'waiting', came_at: created_at } as const
  return {
    id,
    value: { tenant_id, label, lens, ref, values, base, ...came, run_id, written, updated_at: call.nowIso() },
  }
}

/** Keeps a record with equal values, unless its label is stricter now; then it is matched as a new one. */
function mergeRecords(call: Call, before: StoredRecord, now: StoredRecord): StoredRecord {
  const label = joinLabels(before.label, now.label, call.site.labels) ?? before.label
  const { base, entity, run_id, found: _found, ...rest } = before
  if (isSameRecord(before.values, now.values) && label === before.label) return before
  const { values, arrived, came_at, written, updated_at } = now
  const was = entity === undefined ? {} : { entity }
  return { ...rest, label, values, base, ...was, run_id, arrived, came_at, written, updated_at }
}

async function finishArrival(
  call: Call,
  { id }: Doc<StoredArrival>,
  how: Pick<StoredArrival, 'failure'>,
): Promise<void> {
  await call.store(arrivals).update(id, ({ value }) => ({
    next: { ...value, ...how, owes: 0 as const, expires_ts: call.now() + retention_ms },
    answer: undefined,
  }))
  call.announce(arrivalTopic(id))
}
