// Erases the values of forgotten records from files: those of runs, and those of the store.
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc, ScrubOutcome } from '../../../kernel/store/store.ts'
import { arrivals } from '../arrival/model.ts'
import { entityMatches } from '../entity-match/model.ts'
import { entityRecords, type StoredRecord } from '../entity-record/model.ts'
import { exchangePieces, exchanges } from '../exchange/model.ts'
import type { RegistryKey } from '../fields.ts'
import { fusionRuns } from '../fusion-run/model.ts'
import { open_states } from '../fusion-run/rules.ts'
import { writeConcurrently } from '../upsert-documents.ts'
import { withdrawMatches } from './withdraw-matches.ts'

/** A cluster keeps the last operations of an index for half a minute. */
const min_age_ms = 60_000
/** Records of one pass. */
const max_records = 10_000

/**
 * Ends the time for which files of ended runs are kept, where a run may have the values of a forgotten record. Resolves with
 * the records whose files can be erased now: no run or exchange is open that began before they were forgotten.
 */
export async function releaseRunFiles(call: Call): Promise<readonly Doc<StoredRecord>[]> {
  const due = await listDueRecords(call)
  const registries = Map.groupBy(due, ({ value: { tenant_id, lens } }) => JSON.stringify([tenant_id, lens]))
  const released: Doc<StoredRecord>[] = []
  for (const docs of registries.values()) {
    if (call.signal.aborted) return []
    const [{ value: registry } = { value: undefined }] = docs
    if (!registry) continue
    const oldest = await findOldestOpenWork(call, registry)
    const free = docs.filter(({ value }) => oldest === undefined || forgottenAt(value) < oldest)
    if (free.length === 0) continue
    const newest = free.reduce((latest, { value }) => (forgottenAt(value) > latest ? forgottenAt(value) : latest), '')
    await endKeeping(call, registry, newest)
    // A run that was open may have written matches since.
    await withdrawMatches(call, registry, free)
    released.push(...free)
  }
  return released
}

/** Erases what was removed from the files of the store. Call it once the files of the runs are gone. */
export async function eraseFromStore(call: Call, docs: readonly Doc<StoredRecord>[]): Promise<void> {
  if (docs.length === 0 || call.signal.aborted) return
  const store = await scrubStore(call)
  // The next pass tries again.
  if (store === 'busy') return
  await writeConcurrently(docs, async ({ id }) => {
    await call.store(entityRecords).update(id, ({ value: { erasing, ...value } }) => {
      if (erasing !== 'files') return { answer: undefined }
      const audit = [call.audited('resolution.entity-record.erase', id, { store }, value.label)]
      return { next: value, answer: undefined, audit: audit.map((event) => ({ ...event, tenant_id: value.tenant_id })) }
    })
  })
}

/** A copy of the store that is being made, or a cluster that is away, must not delay the other work on files. */
async function scrubStore(call: Call): Promise<ScrubOutcome> {
  const scrubbed = call.store(entityRecords).scrub([entityMatches, arrivals, exchangePieces])
  return await scrubbed.catch((error: unknown) => {
    if (!isRefusal(error) || !error.row.retryable) throw error
    const { trace_id } = call.trace
    call.log.warn('resolution.entity-record.not_erased', { trace_id, error: String(error) })
    return 'busy'
  })
}

async function listDueRecords(call: Call): Promise<Doc<StoredRecord>[]> {
  const due: Doc<StoredRecord>[] = []
  for await (const doc of iterateDocuments(call.store(entityRecords), { filter: { erasing: 'files' }, fresh: true })) {
    if (call.now() - Date.parse(doc.value.updated_at) >= min_age_ms) due.push(doc)
    if (due.length === max_records) break
  }
  return due
}

function forgottenAt({ withdrawn_at = '' }: StoredRecord): string {
  return withdrawn_at
}

/** Returns the time at which the oldest run or exchange of the lens began that has not ended. */
async function findOldestOpenWork(call: Call, { tenant_id, lens }: RegistryKey): Promise<string | undefined> {
  const times: string[] = []
  const runs = { filter: { tenant_id, lens, state: { in: open_states } }, fresh: true }
  for await (const { value } of iterateDocuments(call.store(fusionRuns), runs)) times.push(value.created_at)
  const open = { filter: { tenant_id, state: { in: ['proposed', 'running'] } }, fresh: true }
  for await (const { value } of iterateDocuments(call.store(exchanges), open))
    if (value.agreement.lens === lens) times.push(value.created_at)
  return times.sort()[0]
}

async function endKeeping(call: Call, { tenant_id, lens }: RegistryKey, newest: string): Promise<void> {
  const files_until_ts = call.now()
  const kept = { filter: { tenant_id, lens, files_until_ts: { gt: files_until_ts } }, fresh: true }
  for await (const { id, value } of iterateDocuments(call.store(fusionRuns), kept)) {
    if (value.created_at > newest) continue
    await call
      .store(fusionRuns)
      .update(id, ({ value: run }) => ({ next: { ...run, files_until_ts }, answer: undefined }))
  }
}
