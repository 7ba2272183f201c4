// Brings what the threads have noted from the journal into the store: each record once, whatever dies on the way.
import type { Call } from '../../../kernel/call.ts'
import { sha256 } from '../../../kernel/canonical.ts'

import type { Worker } from '../../../kernel/role.ts'
import { journalBytes, shippedTotal } from '../metrics.ts'
import { auditJournalPart, deniedPart } from '../parts.ts'
import { settings } from '../settings.ts'
import { recordIn } from './line.ts'
import { type RequestRecord, requests, type StoredRequest, shippedSegments } from './model.ts'

export const ship: Worker = { name: 'ship', when: { every_ms: 500 }, run }

const at_once = 500
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

/** Records have names by their place in the journal: what an earlier attempt has brought is there already. */
async function shipSegment(call: Call, name: string): Promise<void> {
  const journal = call.part(auditJournalPart)
  const { bytes, lines, isTorn } = await journal.read(name)
  const records = lines.map(recordIn)
  const unread = records.filter((record) => record === undefined).length
  if (isTorn || unread > 0) call.log.error('proxy.audit.unreadable', { segment: name, lines: unread, isTorn })
  const expires_ts = call.now() + call.settings(settings).audit_keep_days * day_ms
  const whole = records.flatMap((record, at) => (record ? [{ id: idOf(name, at), record }] : []))
  for (let from = 0; from < whole.length; from += at_once) {
    const some = whole.slice(from, from + at_once)
    await call.store(requests).bulk(some.map(({ id, record }) => creating(id, stored(call, record, expires_ts))))
  }
  const digest = sha256(bytes)
  const facts = { records: whole.length, sha256: digest }
  const segment = { tenant_id: call.site.tenant_id, expires_ts, at: call.nowIso(), ...facts }
  await call.store(shippedSegments).create(name, segment, [call.audited('proxy.record.ship', name, facts)])
  await journal.remove(name)
  call.count(shippedTotal, {}, whole.length)
  noteDenials(call, whole)
}

function creating(id: string, value: StoredRequest) {
  return { do: 'create', id, value } as const
}

function stored(call: Call, record: RequestRecord, expires_ts: number): StoredRequest {
  return { tenant_id: call.site.tenant_id, expires_ts, ...record }
}

function idOf(segment: string, at: number): string {
  return `${segment}-${String(at).padStart(6, '0')}`
}

function noteDenials(call: Call, whole: readonly { readonly record: RequestRecord }[]): void {
  const { top } = call.part(deniedPart)
  for (const { record } of whole) if (record.verdict !== 'allow') top.count(record, record.at, record.source)
}
