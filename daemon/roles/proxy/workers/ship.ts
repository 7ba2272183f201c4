// Brings what the threads have noted from the journal into the store: each record once, whatever dies on the way.

import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { journalBytes, shippedRecordTotal } from '../metrics.ts'
import { auditJournalPart, denialsPart } from '../parts.ts'
import { requestRecords, segmentMarks, shippedSegments } from '../record/model.ts'
import { parseRecordLine, readLineHead } from '../record/record-line.ts'
import { deriveSegmentMarks } from '../record/segment-marks.ts'
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

/** What every document of a segment carries. */
type SegmentDocumentFields = { readonly tenant_id: string; readonly expires_ts: number }

/** All names follow from the segment's own: what an earlier attempt has brought is there already. */
async function shipSegment(call: Call, name: string): Promise<void> {
  const journal = call.part(auditJournalPart)
  const { bytes, text, isTorn } = await journal.read(name)
  const lines = text.split('\n').slice(0, -1)
  const heads = lines.map(readLineHead)
  const whole = heads.filter((head) => head !== undefined)
  const unread = lines.length - whole.length
  if (isTorn || unread > 0) call.log.error('proxy.audit.unreadable', { segment: name, lines: unread, isTorn })
  const expires_ts = call.now() + call.settings(settings).audit_keep_days * day_ms
  const owned = { tenant_id: call.site.tenant_id, expires_ts }
  const until = whole.reduce((latest, { at }) => Math.max(latest, at), 0)
  if (journal.storesWholeSegments) await storeMarks(call, owned, name, until, deriveSegmentMarks(whole))
  else await storeRecords(call, owned, name, lines)
  const facts = { records: whole.length, sha256: sha256(bytes) }
  const kept = journal.storesWholeSegments && whole.length > 0 ? { until, lines: text } : {}
  const segment = { ...owned, at: call.nowIso(), ...facts, ...kept }
  await call.store(shippedSegments).create(name, segment, [call.audited('proxy.record.ship', name, facts)])
  await journal.remove(name)
  call.count(shippedRecordTotal, {}, whole.length)
  countDenials(
    call,
    lines.filter((_, at) => (heads[at]?.verdict ?? 'allow') !== 'allow'),
  )
}

async function storeMarks(
  call: Call,
  owned: SegmentDocumentFields,
  segment: string,
  until: number,
  marks: ReadonlySet<string>,
) {
  const all = [...marks].map((mark) => createWrite(`${segment} ${mark}`, { ...owned, mark, until, segment }))
  for (let from = 0; from < all.length; from += batch_size) {
    await call.store(segmentMarks).bulk(all.slice(from, from + batch_size))
  }
}

/** Records have names by their place in the segment. */
async function storeRecords(
  call: Call,
  owned: SegmentDocumentFields,
  segment: string,
  lines: readonly string[],
): Promise<void> {
  const all = lines.flatMap((line, at) => {
    const record = readLineHead(line) && parseRecordLine(line)
    return record ? [createWrite(`${segment}-${String(at).padStart(6, '0')}`, { ...owned, ...record })] : []
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
