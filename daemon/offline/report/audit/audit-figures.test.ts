// The counter of audit records takes a bounded memory, whatever the records say, and its counts add up.
import { expect, test } from 'vitest'
import { AuditCounter } from './audit-figures.ts'

const hash = '0'.repeat(64)
const take = (counter: AuditCounter, seq: number, at: string, name: string, outcome: 'done' | 'refused' = 'done') =>
  counter.take({
    ...{ writer: 'site@alpha', seq, prev: hash, event_digest: hash, hash },
    event: { at, action: name, outcome, tenant_id: 't', subject: name, target: name, trace_id: hash, detail: {} },
  })
const sum = (counts: Iterable<{ done: number; refused: number }>) =>
  [...counts].reduce((total, { done, refused }) => total + done + refused, 0)

test('each record is counted once by action, subject, role and hour', () => {
  const counter = new AuditCounter()
  for (let seq = 1; seq <= 12_000; seq++)
    take(
      counter,
      seq,
      new Date(seq * 3_600_000).toISOString(),
      `name ${seq}${'x'.repeat(300)}`,
      seq % 10 === 0 ? 'refused' : 'done',
    )
  counter.take({ writer: 'site@alpha', seq: 12_001, prev: hash, event_digest: hash, hash })
  const { records, expired, outcomes, actions, subjects, roles, hours, newest, newest_refused } = counter.figures()
  expect([records, expired, outcomes]).toEqual([12_001, 1, { done: 10_800, refused: 1_200 }])
  for (const { names, others } of [actions, subjects, roles]) expect(sum(names.values()) + sum([others])).toBe(12_000)
  expect([actions.names.size, sum([actions.others]), roles.names.size]).toEqual([5_000, 7_000, 1])
  expect(Math.max(...[...actions.names.keys()].map((name) => name.length))).toBeLessThan(240)
  expect(sum(hours.values())).toBe(12_000)
  expect([newest.length, newest[0]?.seq, newest_refused.length, newest_refused[0]?.seq]).toEqual([
    100, 12_000, 100, 12_000,
  ])
})

test('the newest are those of the latest time, whatever the order of the chains', () => {
  const counter = new AuditCounter()
  take(counter, 1, '2026-05-02T00:00:00Z', 'late')
  for (let seq = 2; seq <= 9_000; seq++) take(counter, seq, '2026-05-01T00:00:00Z', 'early')
  const { newest } = counter.figures()
  expect([newest[0]?.action, newest[1]?.seq, newest.length]).toEqual(['late', 9_000, 100])
})
