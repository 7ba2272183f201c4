// Holds the audit chain to its promise: whatever is done to stored records shows.
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
  test('that nobody touched is whole, from its start or from any record that is trusted', () => {
    const records = buildChain(10)
    expect(records.every((record) => auditRecord.safeParse(record).success)).toBe(true)
    expect(verifyChain(records, start)).toBeUndefined()
    for (const [index, { seq, hash }] of records.entries()) {
      expect(verifyChain(records.slice(index + 1), { seq, hash })).toBeUndefined()
    }
  })

  test('whose events have expired is still whole', () => {
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
    ['in its event', (of: AuditRecord) => ({ ...of, event: { ...(of.event as AuditEvent), subject: 'mallory' } })],
    ['in its digest', (of: AuditRecord) => ({ ...of, event_digest: 'f'.repeat(64) })],
    ['in its hash', (of: AuditRecord) => ({ ...of, hash: 'f'.repeat(64) })],
    ['in its link', (of: AuditRecord) => ({ ...of, prev: 'f'.repeat(64) })],
    ['in its writer', (of: AuditRecord) => ({ ...of, writer: 'other@n1' })],
    ['and sealed again', (of: AuditRecord) => forgeRecord(of)],
  ])('altered %s is found, at it or right behind it', (_how, alter) => {
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

  test('removed is found missing', () => {
    fc.assert(
      fc.property(chains, ([count, at]) => {
        const records = buildChain(count + 1)
        records.splice(at, 1)
        expect(verifyChain(records, start)).toMatchObject({ seq: at + 2, fault: 'missing' })
      }),
    )
  })

  test('moved or repeated is found out of order', () => {
    const records = buildChain(5)
    const [first, second, third] = records as [AuditRecord, AuditRecord, AuditRecord]
    expect(verifyChain([first, second, second], start)).toMatchObject({ seq: 2, fault: 'reordered' })
    expect(verifyChain([first, third, second], start)).toMatchObject({ seq: 3, fault: 'missing' })
  })
})

/** What a forger can do who knows the rule: a consistent record, on which the next does not stand. */
function forgeRecord(of: AuditRecord): AuditRecord {
  const event = { ...(of.event as AuditEvent), subject: 'mallory' }
  const event_digest = canonicalDigest(event)
  return { ...of, event, event_digest, hash: hashRecord(of.writer, of.seq, of.prev, event_digest) }
}
