// Verification of the audit chain finds every change to stored records.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalDigest } from '../encoding/canonical-json.ts'
import { type AuditEvent, type AuditRecord, auditRecord, genesis_hash, hashRecord, verifyChain } from './audit-chain.ts'

function buildChain(count: number, writer = 'hub@n1'): AuditRecord[] {
  const records: AuditRecord[] = []
  for (let seq = 1; seq <= count; seq++) {
    const event: AuditEvent = {
      at: '2026-01-01T00:00:00.000Z',
      action: 'hub.node.join',
      outcome: 'done',
      tenant_id: 't',
      subject: 'alice',
      target: `n${seq}`,
      trace_id: '0'.repeat(32),
      detail: { seq },
    }
    const prev = records.at(-1)?.hash ?? genesis_hash
    const event_digest = canonicalDigest(event)
    records.push({ writer, seq, prev, event_digest, hash: hashRecord(writer, seq, prev, event_digest), event })
  }
  return records
}

const start = { seq: 0, hash: genesis_hash }
const chains = fc.integer({ min: 2, max: 12 }).chain((count) => fc.tuple(fc.constant(count), fc.nat(count - 1)))

describe('a chain', () => {
  test('verifies when unaltered, from its start or from any trusted record', () => {
    const records = buildChain(10)
    expect(records.every((record) => auditRecord.safeParse(record).success)).toBe(true)
    expect(verifyChain(records, start)).toBeUndefined()
    for (const [index, { seq, hash }] of records.entries()) {
      expect(verifyChain(records.slice(index + 1), { seq, hash })).toBeUndefined()
    }
  })

  test('verifies after its events have expired', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(9)), (expired) => {
        const records = buildChain(10).map(({ event, ...rest }, index) =>
          expired.includes(index) || !event ? rest : { ...rest, event },
        )
        expect(verifyChain(records, start)).toBeUndefined()
      }),
    )
  })
})

describe('a record that was', () => {
  test.each([
    [
      'in its event',
      (record: AuditRecord) => ({ ...record, event: { ...(record.event as AuditEvent), subject: 'mallory' } }),
    ],
    ['in its digest', (record: AuditRecord) => ({ ...record, event_digest: 'f'.repeat(64) })],
    ['in its hash', (record: AuditRecord) => ({ ...record, hash: 'f'.repeat(64) })],
    ['in its link', (record: AuditRecord) => ({ ...record, prev: 'f'.repeat(64) })],
    ['in its writer', (record: AuditRecord) => ({ ...record, writer: 'other@n1' })],
    ['and sealed again', (record: AuditRecord) => forgeRecord(record)],
  ])('altered %s is detected at that record or the next', (_how, alter) => {
    fc.assert(
      fc.property(chains, ([count, at]) => {
        const records = buildChain(count + 1)
        records[at] = alter(records[at] as AuditRecord)
        const fault = verifyChain(records, start)
        expect(fault?.fault).toBe('altered')
        expect([at + 1, at + 2]).toContain(fault?.seq)
      }),
    )
  })

  test('removed is reported as missing', () => {
    fc.assert(
      fc.property(chains, ([count, at]) => {
        const records = buildChain(count + 1)
        records.splice(at, 1)
        expect(verifyChain(records, start)).toMatchObject({ seq: at + 2, fault: 'missing' })
      }),
    )
  })

  test('moved or repeated is reported as out of order', () => {
    const records = buildChain(5)
    const [first, second, third] = records as [AuditRecord, AuditRecord, AuditRecord]
    expect(verifyChain([first, second, second], start)).toMatchObject({ seq: 2, fault: 'reordered' })
    expect(verifyChain([first, third, second], start)).toMatchObject({ seq: 3, fault: 'missing' })
  })
})

/** A record with a consistent hash, as a forger can compute it; the next record does not link to it. */
function forgeRecord(record: AuditRecord): AuditRecord {
  const event = { ...(record.event as AuditEvent), subject: 'mallory' }
  const event_digest = canonicalDigest(event)
  return { ...record, event, event_digest, hash: hashRecord(record.writer, record.seq, record.prev, event_digest) }
}
