// Everything that an audit chain must keep, as data: whole when untouched, and telling where it is not.
import { expect } from 'vitest'
import { type AuditLog, genesis_hash, hashRecord } from '../../daemon/kernel/audit/audit-chain.ts'
import { canonicalDigest } from '../../daemon/kernel/encoding/canonical-json.ts'
import { labelKey } from '../../daemon/kernel/label/label.ts'
import { buildEvent, buildLabel } from './store-requirement.ts'

/** Changes that a person with access to the stored bytes may make behind the chain's back. */
export type AuditTampering =
  | { readonly do: 'alter-event' | 'alter-hash' | 'alter-filing' | 'garble' | 'remove'; readonly seq: number }
  | { readonly do: 'swap'; readonly seq: number; readonly with: number }
  | { readonly do: 'cut'; readonly after: number }
  | { readonly do: 'forge'; readonly seq: number }

export type AuditFixture = {
  readonly audit: AuditLog
  readonly writer: string
  tamper(change: AuditTampering): void
  reopen(): Promise<AuditFixture>
}

export type AuditRequirement = {
  readonly id: string
  readonly description: string
  readonly verify: (world: AuditFixture) => Promise<void>
}

function requirement(id: string, says: string, holds: AuditRequirement['verify']): AuditRequirement {
  return { id: `audit/${id}`, description: says, verify: holds }
}

/** More than any adapter reads at once, so that faults lie in the first, a middle and the last piece. */
const record_count = 1_234

async function fillChain(audit: AuditLog, count: number): Promise<void> {
  const day = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString()
  await audit.append(Array.from({ length: count }, (_, n) => buildEvent({ at: day(n), target: `t${n + 1}` })))
}

/** The fault is found at once, and again when the chain is opened anew. */
async function expectFault(
  { audit, ...world }: AuditFixture,
  change: AuditTampering,
  seq: number,
  fault: RegExp,
): Promise<void> {
  world.tamper(change)
  const found = { seq, writer: world.writer, fault: expect.stringMatching(fault) }
  expect(await audit.verify()).toEqual(found)
  const again = await world.reopen()
  expect(await again.audit.verify()).toEqual(found)
}

const faults = (['alter-event', 'alter-hash', 'alter-filing', 'garble'] as const).flatMap((change) =>
  [1, 700, record_count].map((seq) =>
    requirement(`${change}-${seq}`, `finds the alteration of record ${seq} of ${record_count}`, async (world) => {
      await fillChain(world.audit, record_count)
      await expectFault(world, { do: change, seq }, seq, /^altered$/)
    }),
  ),
)

export const auditRequirements: readonly AuditRequirement[] = [
  requirement('chain', 'each record is sealed by the hash of the one before', async ({ audit, writer }) => {
    expect(await audit.head()).toEqual({ writer, seq: 0, hash: genesis_hash })
    expect(await audit.verify()).toBeUndefined()
    await Promise.all([
      audit.append([buildEvent(), buildEvent({ target: 'b' })]),
      audit.append([buildEvent({ target: 'c' })]),
    ])
    let prev = genesis_hash
    for (const [n, record] of (await audit.list({ limit: 9, ascending: true })).entries()) {
      expect(record.seq).toBe(n + 1)
      expect(record.event_digest).toBe(canonicalDigest(record.event))
      expect(record.hash).toBe(hashRecord(writer, n + 1, prev, record.event_digest))
      prev = record.hash
    }
    expect(await audit.head()).toEqual({ writer, seq: 3, hash: prev })
    expect(await audit.verify()).toBeUndefined()
  }),
  requirement('reopen', 'the chain goes on where it was when it is opened again', async ({ audit, ...world }) => {
    await audit.append([buildEvent()])
    const again = await world.reopen()
    await again.audit.append([buildEvent({ target: 'later' })])
    expect(await again.audit.head()).toMatchObject({ seq: 2 })
    expect(await again.audit.verify()).toBeUndefined()
  }),
  requirement('schema', 'an event that is not of its schema is refused with all that came along', async ({ audit }) => {
    const wrong = { ...buildEvent(), outcome: 'maybe' } as never
    await expect(audit.append([buildEvent(), wrong])).rejects.toThrow()
    await audit.append([buildEvent()])
    expect(await audit.head()).toMatchObject({ seq: 1 })
    expect(await audit.verify()).toBeUndefined()
  }),
  requirement('list', 'lists newest first or oldest first, by what an event says', async ({ audit }) => {
    await audit.append([
      buildEvent({ at: '2026-01-01T00:00:00Z', target: 'a' }),
      buildEvent({ at: '2026-01-01T00:00:00.5Z', target: 'b', tenant_id: 'bravo', subject: 'bob' }),
      buildEvent({ at: '2026-01-01T00:00:01Z', target: 'c', action: 'other' }),
    ])
    const targets = async (query: Omit<Parameters<AuditLog['list']>[0], 'limit'>, limit = 9) =>
      (await audit.list({ ...query, limit })).map(({ event }) => event?.target).join('')
    expect(await targets({})).toBe('cba')
    expect(await targets({ ascending: true })).toBe('abc')
    expect(await targets({}, 2)).toBe('cb')
    expect(await targets({ after_seq: 2 })).toBe('a')
    expect(await targets({ after_seq: 2, ascending: true })).toBe('c')
    expect(await targets({ tenant_id: 'bravo' })).toBe('b')
    expect(await targets({ subject: 'bob', tenant_id: 'alpha' })).toBe('')
    expect(await targets({ action: 'other' })).toBe('c')
    expect(await targets({ target: 'a' })).toBe('a')
    expect(await targets({ since: '2026-01-01T00:00:00.500Z' })).toBe('cb')
    expect(await targets({ since: '2026-01-01T01:00:00+01:00', until: '2026-01-01T00:00:01.000Z' })).toBe('ba')
    await expect(targets({ since: 'yesterday' })).rejects.toMatchObject({ code: 'malformed' })
  }),
  requirement('labels', 'a labelled record is listed for its key only, an unlabelled one always', async ({ audit }) => {
    const secret = buildLabel()
    const open = buildLabel({ level: 'UNCLASSIFIED' })
    await audit.append([buildEvent({ label: secret, target: 's' }), buildEvent({ target: '-' })])
    await audit.append([buildEvent({ label: open, target: 'o' }), buildEvent({ label: secret, target: 'S' })])
    expect(await audit.labelKeys()).toEqual([labelKey(secret), labelKey(open)].sort())
    const seen = async (label_keys: readonly string[]) =>
      (await audit.list({ limit: 9, label_keys })).map(({ event }) => event?.target).join('')
    expect(await seen([])).toBe('-')
    expect(await seen([labelKey(open)])).toBe('o-')
    expect(await seen([labelKey(open), labelKey(secret)])).toBe('So-s')
  }),
  ...faults,
  ...[1, 700, record_count - 1].map((seq) =>
    requirement(`removed-${seq}`, `finds that record ${seq} of ${record_count} is missing`, async (world) => {
      await fillChain(world.audit, record_count)
      await expectFault(world, { do: 'remove', seq }, seq + 1, /^missing$/)
    }),
  ),
  requirement('reordered', 'finds that two records changed places', async (world) => {
    await fillChain(world.audit, record_count)
    await expectFault(world, { do: 'swap', seq: 600, with: 900 }, 600, /^(altered|reordered)$/)
  }),
  ...[0, 499, 500, record_count - 1].map((after) =>
    requirement(`cut-${after}`, `finds that the chain ends after record ${after} of ${record_count}`, async (world) => {
      await fillChain(world.audit, record_count)
      await expectFault(world, { do: 'cut', after }, after + 1, /^missing$/)
    }),
  ),
  requirement('forged', 'finds a record that was added behind its back', async (world) => {
    await fillChain(world.audit, 10)
    await expectFault(world, { do: 'forge', seq: 11 }, 11, /^altered$/)
  }),
  requirement('expire', 'old bodies go, the hashes stay, and the chain is whole', async ({ audit, ...world }) => {
    await fillChain(audit, record_count)
    const before = '2026-01-01T10:00:00+00:00'
    expect(await audit.expire(before)).toBe(600)
    expect(await audit.expire(before)).toBe(0)
    expect(await audit.verify()).toBeUndefined()
    const [oldest] = await audit.list({ limit: 1, ascending: true })
    expect(oldest).not.toHaveProperty('event')
    expect(oldest?.event_digest).toMatch(/^[0-9a-f]{64}$/)
    expect(await audit.list({ limit: 9, target: 't600' })).toEqual([])
    expect(await audit.list({ limit: 9, target: 't601' })).toHaveLength(1)
    await audit.append([buildEvent()])
    const again = await world.reopen()
    expect(await again.audit.verify()).toBeUndefined()
    expect(await again.audit.head()).toMatchObject({ seq: record_count + 1 })
  }),
]
