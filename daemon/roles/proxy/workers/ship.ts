// Ships audit records from the journal of the threads to the store, each record once, also after a crash.

import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { journalBytes, shippedRecordTotal } from '../metrics.ts'
import { auditJournalPart, denialsPart } from '../parts.ts'
import { requestRecords, segmentMarks, shippedSegments } from '../record/model.ts'
import { parseRecordLine, readLineHead } from '../record/record-line.ts'
import { deriveSegmentMarks, marks_version } from '../record/segment-marks.ts'
import { settings } from '../settings.ts'

export const ship: Worker = { name: 'ship', when: { every_ms: 500 }, run }

const batch_size = 500
const day_ms = 86_400_000

async function run(call: Call): Promise<void> {
  const journal = call.part(auditJournalPart)
  try {
    for (const name of await journal.sealed()) {
      if (call.signal.aborted) return
      await shipSegment(call, name)
    }
  } finally {
    call.set(journalBytes, {}, await journal.measure())
  }
}

/** Fields of every document of a segment. */
type SegmentDocumentFields = { readonly tenant_id: string; readonly expires_ts: number }

/**
 * Ships one segment. Ids derive from the name of the segment, so a repeated attempt finds the documents of an earlier
 * one.
 */
async function shipSegment(call: Call, name: string): Promise<void> {
  const journal = call.part(auditJournalPart)
  const { bytes, text, isTorn } = await journal.read(name)
  const lines = text.split('\n').slice(0, -1)
  const heads = lines.map(readLineHead)
  const recordHeads = heads.filter((head) => head !== undefined)
  const unreadable = lines.length - recordHeads.length
  if (isTorn || unreadable > 0) call.log.error('proxy.audit.unreadable', { segment: name, lines: unreadable, isTorn })
  const expires_ts = call.now() + call.settings(settings).audit_keep_days * day_ms
  const documentFields = { tenant_id: call.site.tenant_id, expires_ts }
  const until = recordHeads.reduce((latest, { at }) => Math.max(latest, at), 0)
  if (journal.storesWholeSegments) await storeMarks(call, documentFields, name, until, deriveSegmentMarks(recordHeads))
  else await storeRecords(call, documentFields, name, lines)
  const facts = { records: recordHeads.length, sha256: sha256(bytes) }
  const content = journal.storesWholeSegments && recordHeads.length > 0 ? { until, lines: text, marks_version } : {}
  const segment = { ...documentFields, at: call.nowIso(), ...facts, ...content }
  await call.store(shippedSegments).create(name, segment, [call.audited('proxy.record.ship', name, facts)])
  await journal.remove(name)
  call.count(shippedRecordTotal, {}, recordHeads.length)
  countDenials(
    call,
    lines.filter((_, at) => (heads[at]?.verdict ?? 'allow') !== 'allow'),
  )
}

async function storeMarks(
  call: Call,
  documentFields: SegmentDocumentFields,
  segment: string,
  until: number,
  marks: ReadonlySet<string>,
) {
  const all = [...marks].map((mark) => createWrite(`${segment} ${mark}`, { ...documentFields, mark, until, segment }))
  for (let from = 0; from < all.length; from += batch_size) {
    await call.store(segmentMarks).bulk(all.slice(from, from + batch_size))
  }
}

/** Stores records under ids of their position in the segment. */
async function storeRecords(
  call: Call,
  documentFields: SegmentDocumentFields,
  segment: string,
  lines: readonly string[],
): Promise<void> {
  const all = lines.flatMap((line, at) => {
    const record = readLineHead(line) && parseRecordLine(line)
    return record ? [createWrite(`${segment}-${String(at).padStart(6, '0')}`, { ...documentFields, ...record })] : []
  })
  for (let from = 0; from < all.length; from += batch_size) {
    await call.store(requestRecords).bulk(all.slice(from, from + batch_size))
  }
}

function createWrite<T>(id: string, value: T) {
  return { do: 'create', id, value } as const
}

function countDenials(call: Call, lines: readonly string[]): void {
  const { top } = call.part(denialsPart)
  for (const line of lines) {
    const record = parseRecordLine(line)
    if (record) top.count(record, record.at, record.source)
  }
}
