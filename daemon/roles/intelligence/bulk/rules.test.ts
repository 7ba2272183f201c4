// Holds a bulk disposition to what it was told of each signal, and to its two ends.
import { expect, test } from 'vitest'
import { isRefused } from '../../../kernel/errors.ts'
import type { StoredBulk } from './model.ts'
import { cancelled, decided, foreseen, type Outcome, undecided } from './rules.ts'

const at = '2026-03-02T12:00:00.000Z'
const label = { policy: 'SITE', level: 'OPEN', categories: [], originator: 'alpha' }
const running: StoredBulk = {
  ...{ tenant_id: 'alpha', label, created_by: 'ann', created_at: at, updated_at: at, request_digest: '' },
  ...{ disposition: 'dismissed', rationale: 'a storm', state: 'running', owes: 1 },
  items: [{ signal_id: 'a' }, { signal_id: 'b' }],
}
const done: Outcome = { outcome: 'done' }
const refused: Outcome = { outcome: 'refused', reason: 'is final' }

test('it is over when each has its answer, and what was done counts whoever else refused it', () => {
  const half = decided(running, new Map([['b', refused]]), at)
  expect([half.state, undecided(half, 9)]).toEqual(['running', ['a']])
  const over = decided(half, new Map([['a', done]]), at)
  expect(over).toMatchObject({ state: 'finished', owes: 0, finished_at: at })
  const late = decided(
    over,
    new Map([
      ['a', refused],
      ['b', done],
    ]),
    at,
  )
  expect(late.items.map(({ outcome }) => outcome)).toEqual(['done', 'done'])
  expect(late.items[1]).not.toHaveProperty('reason')
})

test('cancelled, it ends as that; finished, it is not cancelled', () => {
  const ending = cancelled(running, 'bob', at)
  if (isRefused(ending)) throw ending
  expect(cancelled(ending, 'cy', at)).toBe(ending)
  const none = new Map(running.items.map(({ signal_id }) => [signal_id, { outcome: 'cancelled' as const }]))
  expect(decided(ending, none, at)).toMatchObject({ state: 'cancelled', cancelled_by: 'bob' })
  expect(
    isRefused(
      cancelled(
        decided(
          running,
          new Map([
            ['a', done],
            ['b', done],
          ]),
          at,
        ),
        'bob',
        at,
      ),
    ),
  ).toBe(true)
})

test('what is foreseen is what the table allows', () => {
  const counts = new Map([...[['new', 2] as const], ['investigating', 3], ['resolved', 4]] as const)
  expect([foreseen(counts, 'resolved'), foreseen(counts, 'dismissed')]).toEqual([3, 5])
})
