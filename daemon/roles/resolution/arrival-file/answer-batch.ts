// Registers a batch of records of a file as one arrival, waits until it is matched, and writes down the answers.
import { canonicalJson, sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { type ArrivalView, arrivals, arrivalTopic, isMatched, type StoredArrival } from '../arrival/model.ts'
import { showArrival } from '../arrival/show-arrival.ts'
import { type ArrivalEntry, readArrivalRecords, storeArrival } from '../arrival/store-arrival.ts'
import { refuseUnmatchable } from '../arrival-folder/refuse-unmatchable.ts'
import type { ClaimedFile, FileRow, RefusedRow } from '../arrival-folder/watched-folder.ts'
import { nodeRecord } from '../fusion-run/node-data.ts'
import { waitForDocument } from '../wait-for-document.ts'
import { batch_division } from './batch-rows.ts'
import type { StoredArrivalFile } from './model.ts'
import type { FolderCall } from './register-file.ts'

export type BatchAnswers = {
  /** JSON lines, one for each record of the batch. */
  readonly text: string
  readonly next_row: number
  readonly outcomes: StoredArrivalFile['outcomes']
  readonly refused: readonly RefusedRow[]
}

type ReadRow = { readonly row: FileRow; readonly read: ArrivalEntry | string }
type ArrivalAnswer = ArrivalView['items'][number]

/** Undefined at a stop. Refuses where the records can never be matched. Throws retryable refusals. */
export async function answerBatch(
  context: FolderCall,
  { value }: Doc<StoredArrivalFile>,
  file: ClaimedFile,
  batch: readonly FileRow[],
): Promise<BatchAnswers | Refusal | undefined> {
  const rows = await readRows(context, value.id_field, batch)
  const records = rows.flatMap(({ read }) => (typeof read === 'string' ? [] : [read]))
  if (records.length === 0) return describeAnswers(rows, value.id_field, [])
  // Not one record of a file that somebody still writes.
  file.checkUnchanged()
  const arrival = await matchRecords(context, value, batch[0]?.row ?? 0, records)
  if (!arrival) return undefined
  const { failure, items } = await showArrival(context.person, arrival)
  if (failure) return refuse('wrong_state', `records from row ${batch[0]?.row} on: ${failure.reason}`)
  return describeAnswers(rows, value.id_field, items)
}

async function readRows(
  { person, folder, target }: FolderCall,
  id_field: string,
  batch: readonly FileRow[],
): Promise<ReadRow[]> {
  const parsed = batch.map((row) => ({ row, valid: nodeRecord.safeParse(row.record).data }))
  const valid = parsed.flatMap(({ valid: record }) => (record ? [record] : []))
  const read =
    valid.length > 0 ? await readArrivalRecords(person, target, { node_id: folder.node_id, id_field }, valid) : []
  let at = 0
  return parsed.map(({ row, valid: record }) => ({
    row,
    read: (record && read[at++]) ?? 'has a name of more than 256 characters or a value of more than 65,536',
  }))
}

/**
 * The id of the arrival follows from the file and the first record: after a crash the same records are the same arrival, with
 * the outcomes that it has stored. Undefined at a stop. Throws the refusal of a registry for which the records wait.
 */
async function matchRecords(
  { service, person, folder, target }: FolderCall,
  { tenant_id, claim, digest, file }: StoredArrivalFile,
  first_row: number,
  records: readonly ArrivalEntry[],
): Promise<Doc<StoredArrival> | undefined> {
  const key = canonicalJson([tenant_id, folder.name, claim, digest, batch_division, first_row])
  const id = `arr_${sha256(key).slice(0, 32)}`
  const arrival = { node_id: folder.node_id, records: [...records], request_digest: digest, folder: folder.name }
  const detail = { folder: folder.name, file, digest, first_row }
  let doc = (await person.store(arrivals).find(id)) ?? (await storeArrival(person, id, target, arrival, detail))
  person.wake('recluster')
  while (!isMatched(doc.value)) {
    if (person.signal.aborted) return undefined
    doc = await waitForDocument(person, arrivals, doc, arrivalTopic(id), isMatched)
    const refusal = isMatched(doc.value) ? undefined : await refuseUnmatchable(service, target)
    if (refusal) throw refusal
  }
  return doc
}

/**
 * `items`: what became of the records of the arrival, which may be of a process that died; a lens that was changed since may read
 * other records than it did. Ids are unique in a batch.
 */
export function describeAnswers(
  rows: readonly ReadRow[],
  id_field: string,
  items: readonly ArrivalAnswer[],
): BatchAnswers {
  const refused: RefusedRow[] = []
  const outcomes: StoredArrivalFile['outcomes'] = {}
  const itemsById = new Map(items.map((item) => [item.record_id, item]))
  const lines = rows.map(({ row: { row, line, record }, read }) => {
    const place = { row, ...(line === undefined ? {} : { line }) }
    const item = itemsById.get(String(record[id_field] ?? ''))
    if (!item) {
      const reason =
        typeof read === 'string' ? read : 'was not registered: the lens was changed meanwhile; send it again'
      refused.push({ ...place, reason })
      return { ...place, outcome: 'refused', reason }
    }
    const { record_id, outcome, entity, size, merged_from } = item
    if (outcome) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    return { ...place, record_id, outcome, entity, size, merged_from }
  })
  const next_row = (rows.at(-1)?.row.row ?? 0) + 1
  return { text: lines.map((line) => `${JSON.stringify(line)}\n`).join(''), next_row, outcomes, refused }
}
