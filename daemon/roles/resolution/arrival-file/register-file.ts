// Registers the records of a file that was taken from a folder, batch by batch, and puts it away with the answers.
import { canonicalJson, sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { findIdField } from '../arrival/store-arrival.ts'
import type { ArrivalFolder } from '../arrival-folder/folder-setting.ts'
import { type OpenedFolder, refuseOtherTerms } from '../arrival-folder/folder-terms.ts'
import {
  type ClaimedFile,
  fileOfClaim,
  max_listed_rows,
  type RefusedRow,
  type WatchedFolder,
} from '../arrival-folder/watched-folder.ts'
import { arrivalFileTotal, arrivalRowTotal } from '../metrics.ts'
import { answerBatch, type BatchAnswers } from './answer-batch.ts'
import { batchRows } from './batch-rows.ts'
import { arrivalFiles, type StoredArrivalFile } from './model.ts'

/** Documents of files are removed after this time; the files themselves stay where they are. */
const kept_ms = 90 * 86_400_000

export type FolderCall = OpenedFolder & {
  /** The call of the worker, which also finds what the folder may no longer see. */
  readonly service: Call
  readonly folder: ArrivalFolder
  readonly watched: WatchedFolder
}

/**
 * Registers what is left of the file and puts it away. Throws `Refusal('unavailable')` where a later attempt may succeed, and
 * stops between two batches once the signal ends: the next attempt continues after the last answered record.
 */
export async function registerFile(context: FolderCall, claim: string): Promise<void> {
  const { service, person, folder, watched, terms } = context
  const id = arrivalFileUid(folder.name, claim)
  const stored = await service.store(arrivalFiles).find(id)
  if (stored && stored.value.state !== 'reading') return await putAway(context, stored)
  const changed = stored && refuseOtherTerms(folder.name, stored.value, terms)
  if (changed) return await failFile({ ...context, person: service }, claim, changed)
  const file = await watched.open(claim, person.signal)
  if (isRefusal(file)) return await failFile(context, claim, file)
  const left_out: LeftOutSum = { count: 0, first: [] }
  try {
    const doc = stored ?? (await createFile(context, id, claim, file))
    const failure = await registerRows(context, doc, file, left_out)
    if (person.signal.aborted) return
    await endFile(context, await person.store(arrivalFiles).get(id), left_out, failure)
  } finally {
    file.close()
  }
}

/** Puts the file away as failed, with the answers that it has. */
export async function failFile(context: FolderCall, claim: string, failure: Refusal): Promise<void> {
  const id = arrivalFileUid(context.folder.name, claim)
  const stored = await context.person.store(arrivalFiles).find(id)
  if (stored && stored.value.state !== 'reading') return await putAway(context, stored)
  const doc = stored ?? (await createFile(context, id, claim, undefined))
  await endFile(context, doc, { count: 0, first: [] }, failure)
}

function arrivalFileUid(folder: string, claim: string): string {
  return `arf_${sha256(canonicalJson([folder, claim])).slice(0, 32)}`
}

/** Records that the reader of the file left out. The file is read from its beginning each time, so they are all here. */
type LeftOutSum = { count: number; readonly first: RefusedRow[] }

/** Registers the records after the last answered one. Returns why it cannot go on; undefined at the end, or at a stop. */
async function registerRows(
  context: FolderCall,
  initial: Doc<StoredArrivalFile>,
  file: ClaimedFile,
  left_out: LeftOutSum,
): Promise<Refusal | undefined> {
  const { person, folder, target } = context
  const { id_field, digest, next_row } = initial.value
  if (digest !== file.digest) return refuse('malformed', 'the file has changed since its first records were registered')
  const lens = { ...target.trained.lens.value.body, id_field }
  const rows = file.rows({
    ...{ lens, delimiter: folder.delimiter, first_row: next_row },
    onLeftOut({ count, first }) {
      left_out.count += count
      left_out.first.push(...first)
    },
  })
  let doc = initial
  try {
    for await (const batch of batchRows(rows, id_field, next_row)) {
      if (person.signal.aborted) return undefined
      const answers = await answerBatch(context, doc, file, batch)
      if (isRefusal(answers)) return answers
      if (!answers) return undefined
      doc = await storeProgress(context, doc, file, answers)
    }
    file.checkUnchanged()
    return undefined
  } catch (error) {
    if (isRefusal(error) && !error.row.retryable) return error
    throw error
  }
}

/** The answers are on disk before the progress that counts them: what lies after the counted bytes is written again. */
async function storeProgress(
  { person, folder }: FolderCall,
  { id, value: { answers_bytes } }: Doc<StoredArrivalFile>,
  file: ClaimedFile,
  { text, next_row, outcomes, refused }: BatchAnswers,
): Promise<Doc<StoredArrivalFile>> {
  const bytes = await file.append(text, answers_bytes)
  const { doc } = await person.store(arrivalFiles).update(id, ({ value }) => ({
    next: {
      ...value,
      ...{ next_row, answers_bytes: bytes, updated_at: person.nowIso() },
      outcomes: addCounts(value.outcomes, outcomes),
      refused: value.refused + refused.length,
      first_refused: [...value.first_refused, ...refused].slice(0, max_listed_rows),
    },
    answer: undefined,
  }))
  for (const [outcome, count] of Object.entries(outcomes))
    person.count(arrivalRowTotal, { folder: folder.name, outcome }, count)
  if (refused.length > 0) person.count(arrivalRowTotal, { folder: folder.name, outcome: 'refused' }, refused.length)
  return doc
}

function addCounts(
  before: StoredArrivalFile['outcomes'],
  more: StoredArrivalFile['outcomes'],
): StoredArrivalFile['outcomes'] {
  const sums = { ...before }
  for (const [outcome, count] of Object.entries(more) as [keyof typeof sums, number][])
    sums[outcome] = (sums[outcome] ?? 0) + count
  return sums
}

/** `file`: undefined for one that cannot be opened. */
async function createFile(
  { person, folder, target: { trained, label } }: FolderCall,
  id: string,
  claim: string,
  file: ClaimedFile | undefined,
): Promise<Doc<StoredArrivalFile>> {
  const at = person.nowIso()
  const { subject, tenant_id } = person.caller
  const provenance = { tenant_id, label, created_by: subject, created_at: at }
  const content = { size: file?.size ?? 0, digest: file?.digest ?? '' }
  const value: StoredArrivalFile = {
    ...{ ...provenance, folder: folder.name, file: fileOfClaim(claim), claim, ...content, updated_at: at },
    ...{ lens: trained.run.value.lens, node_id: folder.node_id, id_field: findIdField(trained) },
    ...{ state: 'reading', next_row: 1, answers_bytes: 0, outcomes: {}, refused: 0, first_refused: [] },
  }
  const detail = { folder: folder.name, file: value.file, ...content }
  const event = person.audited('resolution.arrival-file.taken', id, detail, label)
  const created = await person.store(arrivalFiles).create(id, value, [event])
  return created === 'exists' ? await person.store(arrivalFiles).get(id) : created
}

/** Stores how the file ended, then puts it away: a crash between the two is completed at the next look at the folder. */
async function endFile(
  context: FolderCall,
  { id }: Doc<StoredArrivalFile>,
  left_out: LeftOutSum,
  failure: Refusal | undefined,
): Promise<void> {
  const { person, folder } = context
  const { doc } = await person.store(arrivalFiles).update(id, ({ value }) => {
    const next = endedFile(value, left_out, failure)
    const detail = { folder: folder.name, file: value.file, outcomes: next.outcomes, refused: next.refused }
    const event = person.audited(`resolution.arrival-file.${next.state}`, id, detail, value.label)
    const dates = { updated_at: person.nowIso(), expires_ts: person.now() + kept_ms }
    return { next: { ...next, ...dates }, answer: undefined, audit: [event] }
  })
  const { state } = doc.value
  person.count(arrivalFileTotal, { folder: folder.name, state })
  const { trace_id } = person.trace
  const fields = { trace_id, folder: folder.name, file: id, outcomes: doc.value.outcomes, refused: doc.value.refused }
  if (state === 'done') person.log.info('resolution.arrival-file.done', fields)
  else person.log.warn('resolution.arrival-file.failed', { ...fields, error: doc.value.failure?.reason })
  await putAway(context, doc)
}

function endedFile(value: StoredArrivalFile, left_out: LeftOutSum, failure: Refusal | undefined): StoredArrivalFile {
  const refused = value.refused + left_out.count
  const first_refused = [...value.first_refused, ...left_out.first].slice(0, max_listed_rows)
  const counted = { ...value, refused, first_refused }
  if (failure) return { ...counted, state: 'failed', failure: { code: failure.code, reason: failure.message } }
  if (refused === 0) return { ...counted, state: 'done' }
  const reason = `${refused} records were left out; all others are registered`
  return { ...counted, state: 'failed', failure: { code: 'invalid', reason } }
}

async function putAway({ watched }: FolderCall, { value }: Doc<StoredArrivalFile>): Promise<void> {
  const { claim, state, file, size, digest, next_row, outcomes, refused, first_refused, failure } = value
  const report = { file, size, digest, ...failure, answered_before_row: next_row, outcomes, refused, first_refused }
  await watched.putAway(claim, state === 'failed' ? report : undefined)
}
