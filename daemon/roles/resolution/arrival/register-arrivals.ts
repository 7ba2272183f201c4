// Writes arrived records to the registry, in fair turns, and starts their matching.

import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { joinLabels } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { findFirstDue, ownerOf } from '../../../kernel/store/find-first-due.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { refuseLostFolder } from '../arrival-folder/folder-terms.ts'
import { isSameRecord } from '../engine/lookup/is-same-record.ts'
import { entityRecords, recordUid, type StoredRecord } from '../entity-record/model.ts'
import { writeNumbered } from '../entity-record/write-numbered.ts'
import type { RegistryKey } from '../fields.ts'
import { findLatestTrainedLens } from '../lookup/trained-lens.ts'
import { refusedRegistriesPart, workTurnsPart } from '../parts.ts'
import { isBeingWritten, matchNextBatch } from '../registry/match-waiting-records.ts'
import { singletonClusterName } from '../registry/record-key.ts'
import { upsertDocuments } from '../upsert-documents.ts'
import { requestErasure } from '../withdrawal/request-erasure.ts'
import { determineFinalOutcomes } from './final-outcomes.ts'
import { type ArrivedRecordOutcome, arrivals, arrivalTopic, type StoredArrival } from './model.ts'
import { reformArrival } from './reform-arrival.ts'

const retention_ms = 7 * 86_400_000

/**
 * Registers pending arrivals, the oldest of each principal first, and a batch of records in each turn. An arrival stays
 * pending while it cannot be matched, for example while a run writes the registry; an arrival that can never be matched
 * fails, and one whose sender waits fails where the registry must be repaired first.
 */
export async function registerArrivals(call: Call): Promise<void> {
  const [tried, written] = [new Set<string>(), new Set<string>()]
  const isFree = ({ id }: Doc<StoredArrival>) => !tried.has(id)
  for (;;) {
    const doc = call
      .part(workTurnsPart)
      .arrivals.take(await findFirstDue(call.store(arrivals), { owes: 1 }, { isFree }), ownerOf)
    if (!doc || call.signal.aborted) return
    const outcome = await registerBatch(call, doc, written).catch((error: unknown) =>
      handleFailure(call, doc.id, error),
    )
    if (outcome === 'matched') continue
    tried.add(doc.id)
    if (isRefusal(outcome) && !waitsForRegistry(doc, outcome))
      await finishArrival(call, doc, { failure: { code: outcome.code, reason: outcome.message } })
  }
}

/** A folder has all the time that it takes to repair a registry; `resolve folders` states why its files wait. */
function waitsForRegistry({ value: { folder } }: Doc<StoredArrival>, { code }: Refusal): boolean {
  return folder !== undefined && code === 'wrong_state'
}

/**
 * Matches waiting records of every registry, batch by batch in fair turns; after a run these are the arrived records that the
 * run did not contain.
 */
export async function matchAllWaitingRecords(call: Call): Promise<void> {
  const processed = new Set<string>()
  for (;;) {
    const waiting = (await listWaitingRegistries(call)).filter((each) => !processed.has(registryKeyText(each)))
    const ownerOf = ({ tenant_id, lens }: RegistryKey) => ({ tenant_id, subject: lens })
    const registry = call.part(workTurnsPart).registries.take(waiting, ownerOf)
    if (!registry || call.signal.aborted) return
    const outcome = await matchNextBatch(call, registry).catch((error: unknown) =>
      handleFailure(call, registry.lens, error),
    )
    reportRefusal(call, registry, isRefusal(outcome) ? outcome : undefined)
    if (outcome !== 'matched') processed.add(registryKeyText(registry))
  }
}

/** Logs why a registry cannot be matched, once for as long as it lasts: no arrival is left that could say so. */
function reportRefusal(call: Call, registry: RegistryKey, refusal: Refusal | undefined): void {
  const refused = call.part(refusedRegistriesPart)
  const key = registryKeyText(registry)
  if (!refusal) {
    refused.delete(key)
    return
  }
  if (refused.get(key) === refusal.message) return
  refused.set(key, refusal.message)
  const { trace_id } = call.trace
  call.log.warn('resolution.registry.not_matched', { trace_id, ...registry, error: refusal.message })
}

async function listWaitingRegistries(call: Call): Promise<RegistryKey[]> {
  const records = call.store(entityRecords)
  const registries: RegistryKey[] = []
  for (const tenant_id of (await records.countBy('tenant_id', { arrived: 'waiting' })).keys())
    for (const lens of (await records.countBy('lens', { arrived: 'waiting', tenant_id })).keys())
      registries.push({ tenant_id: String(tenant_id), lens: String(lens) })
  return registries
}

function registryKeyText({ tenant_id, lens }: RegistryKey): string {
  return JSON.stringify([tenant_id, lens])
}

/** Returns a permanent refusal. Logs any other failure, which the worker retries. */
function handleFailure(call: Call, arrival: string, error: unknown): Refusal | undefined {
  if (isRefusal(error) && !error.row.retryable) return error
  if (call.signal.aborted) return undefined
  const { trace_id } = call.trace
  call.log[isRefusal(error) ? 'warn' : 'error']('resolution.arrival.delayed', {
    trace_id,
    arrival,
    error: String(error),
  })
  return undefined
}

/**
 * Matches the next records of the registry of an arrival, which is finished once none waits there. `written`: the arrivals
 * whose records were written in this run of the worker. Returns `matched` for an arrival that needs another turn.
 */
async function registerBatch(
  call: Call,
  doc: Doc<StoredArrival>,
  written: Set<string>,
): Promise<'matched' | undefined> {
  const { tenant_id, lens } = doc.value
  const registry = { tenant_id, lens }
  if (await isBeingWritten(call, registry)) return undefined
  if (!written.has(doc.id)) {
    const refused = await refuseLostRights(call, doc)
    if (refused) throw refused
    const trained = await findLatestTrainedLens(call, registry)
    if (!trained) return undefined
    await writeRecords(call, await storeOutcomes(call, await reformArrival(call, doc, trained)), trained.run.id)
    written.add(doc.id)
  }
  const outcome = await matchNextBatch(call, registry)
  if (outcome === 'none_waits') await finishArrival(call, doc, {})
  return outcome === 'matched' ? outcome : undefined
}

/**
 * Why the person who sent the records may not do so any more: an arrival may wait for hours, while a run writes. Once outcomes
 * are stored, its registration has begun.
 */
async function refuseLostRights(call: Call, { id, value }: Doc<StoredArrival>): Promise<Refusal | undefined> {
  const { principal, folder, tenant_id, records } = value
  if (records.every(({ outcome }) => outcome !== undefined)) return undefined
  if (folder !== undefined) return await refuseLostFolder(call, folder, value)
  if (!principal) return refuse('forbidden', 'the arrival has no principal to act for; send its records again')
  const terms = { tenant_id, allow: 'resolution:write' as const }
  const person = await call.openCallOf(principal, { collection: arrivals.name, id }, terms)
  if (isRefusal(person)) return person
  if (await person.store(arrivals).find(id)) return undefined
  return refuse('forbidden', `${person.caller.subject} may no longer see the records of this arrival`)
}

async function writeRecords(call: Call, arrival: Doc<StoredArrival>, run_id: string): Promise<void> {
  const { tenant_id, lens } = arrival.value
  const registry = { tenant_id, lens }
  await writeNumbered(call, registry, (written) =>
    upsertDocuments(
      call.store(entityRecords),
      arrival.value.records.map((record) => buildRecord(call, arrival, record, run_id, written)),
      (before, next) => mergeRecords(call, before, next),
    ),
  )
}

/** Stores the outcomes before any record is written, so that a repeat after a crash reports the same outcomes. */
async function storeOutcomes(call: Call, doc: Doc<StoredArrival>): Promise<Doc<StoredArrival>> {
  if (doc.value.records.every(({ outcome }) => outcome !== undefined)) return doc
  const { tenant_id, lens, records } = doc.value
  const outcomes = await Promise.all(
    records.map(async ({ ref, values }): Promise<ArrivedRecordOutcome> => {
      const before = await call.store(entityRecords).find(recordUid(tenant_id, lens, ref))
      if (!before) return 'new'
      if (staysWithdrawn(before.value, values)) return before.value.withdrawn?.kind ?? 'unchanged'
      return isSameRecord(before.value.values, values) ? 'unchanged' : 'replaced'
    }),
  )
  const recordsWithOutcomes = records.map((record, at) => ({ ...record, outcome: outcomes[at] ?? 'new' }))
  const { doc: updated } = await call
    .store(arrivals)
    .update(doc.id, ({ value }) => ({ next: { ...value, records: recordsWithOutcomes }, answer: undefined }))
  return updated
}

function buildRecord(
  call: Call,
  { value: { tenant_id, label, lens, created_at } }: Doc<StoredArrival>,
  { ref, values, text_form }: StoredArrival['records'][number],
  run_id: string,
  written: number,
): { id: string; value: StoredRecord } {
  const id = recordUid(tenant_id, lens, ref)
  const base = singletonClusterName(id)
  const arrivalFields = { arrived: 'waiting', came_at: created_at, values_at: created_at } as const
  return {
    id,
    value: {
      ...{ tenant_id, label, lens, ref, values, ...(text_form === undefined ? {} : { text_form }), base },
      ...{ ...arrivalFields, run_id, written, updated_at: call.nowIso() },
    },
  }
}

/** A forgotten record is never stored again; one of a deleted entity is, once it has other values than were deleted. */
function staysWithdrawn({ withdrawn, values }: StoredRecord, arrived: StoredRecord['values']): boolean {
  return withdrawn?.kind === 'forgotten' || (withdrawn?.kind === 'deleted' && isSameRecord(values, arrived))
}

/** Keeps a record with equal values and label. A record with new values or a stricter label is matched as a new one. */
function mergeRecords(call: Call, before: StoredRecord, next: StoredRecord): StoredRecord {
  if (staysWithdrawn(before, next.values)) return before
  const label = joinLabels(before.label, next.label, call.site.labels) ?? before.label
  const { entity, found: _found, text_form: _form, ...unmatched } = before
  const { withdrawn: _kind, withdrawn_at: _at, erasing: _step, ...rest } = unmatched
  const { values, text_form, arrived, came_at, values_at, written, updated_at } = next
  const formField = text_form === undefined ? {} : { text_form }
  if (isSameRecord(before.values, next.values) && label === before.label)
    return before.text_form === text_form ? before : { ...before, ...formField, written, updated_at }
  const entityField = entity === undefined || before.withdrawn ? {} : { entity }
  const arrivalFields = { arrived, came_at, values_at, written, updated_at }
  return { ...rest, label, values, ...formField, ...entityField, ...arrivalFields }
}

async function finishArrival(
  call: Call,
  doc: Doc<StoredArrival>,
  result: Pick<StoredArrival, 'failure'>,
): Promise<void> {
  const { id, value } = doc
  await requestErasure(
    call,
    value.records.map(({ ref }) => recordUid(value.tenant_id, value.lens, ref)),
  )
  const current = result.failure ? doc : await call.store(arrivals).get(id)
  const outcomes = result.failure ? value.records : await determineFinalOutcomes(call, current)
  const end = { ...result, owes: 0 as const, emptied_at: call.nowIso(), expires_ts: call.now() + retention_ms }
  await call.store(arrivals).update(id, ({ value: { principal: _over, records: _records, ...value } }) => ({
    // The registry has the values; a copy here would outlive them.
    next: { ...value, records: outcomes.map((record) => ({ ...record, values: {} })), ...end },
    answer: undefined,
  }))
  call.announce(arrivalTopic(id))
}
