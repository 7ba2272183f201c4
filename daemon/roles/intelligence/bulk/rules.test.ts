// A bulk disposition records outcomes of its signals, and ends finished or cancelled.
import { expect, test } from 'vitest'
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { StoredBulk } from './model.ts'
import { applyOutcomes, type BulkItemOutcome, cancelBulk, countAllowed, listUndecided } from './rules.ts'

const at = '2026-03-02T12:00:00.000Z'
const label = { policy: 'SITE', level: 'OPEN', categories: [], originator: 'alpha' }
const runningBulk: StoredBulk = {
  ...{ tenant_id: 'alpha', label, created_by: 'ann', created_at: at, updated_at: at, request_digest: '' },
  ...{ disposition: 'dismissed', rationale: 'a storm', state: 'running', owes: 1 },
  items: [{ signal_id: 'a' }, { signal_id: 'b' }],
}
const doneOutcome: BulkItemOutcome = { outcome: 'done' }
const refusedOutcome: BulkItemOutcome = { outcome: 'refused', reason: 'is final' }

test('it ends when each signal has an outcome, and done wins over refused', () => {
  const partial = applyOutcomes(runningBulk, new Map([['b', refusedOutcome]]), at)
  expect([partial.state, listUndecided(partial, 9)]).toEqual(['running', ['a']])
  const finished = applyOutcomes(partial, new Map([['a', doneOutcome]]), at)
  expect(finished).toMatchObject({ state: 'finished', owes: 0, finished_at: at })
  const withLateOutcome = applyOutcomes(
    finished,
    new Map([
      ['a', refusedOutcome],
      ['b', doneOutcome],
    ]),
    at,
  )
  expect(withLateOutcome.items.map(({ outcome }) => outcome)).toEqual(['done', 'done'])
  expect(withLateOutcome.items[1]).not.toHaveProperty('reason')
})

test('a cancelled one ends as cancelled; a finished one cannot be cancelled', () => {
  const ending = cancelBulk(runningBulk, 'bob', at)
  if (isRefusal(ending)) throw ending
  expect(cancelBulk(ending, 'cy', at)).toBe(ending)
  const allCancelled = new Map(runningBulk.items.map(({ signal_id }) => [signal_id, { outcome: 'cancelled' as const }]))
  expect(applyOutcomes(ending, allCancelled, at)).toMatchObject({ state: 'cancelled', cancelled_by: 'bob' })
  expect(
    isRefusal(
      cancelBulk(
        applyOutcomes(
          runningBulk,
          new Map([
            ['a', doneOutcome],
            ['b', doneOutcome],
          ]),
          at,
        ),
        'bob',
        at,
      ),
    ),
  ).toBe(true)
})

test('the plan counts what the table of transitions allows', () => {
  const counts = new Map([...[['new', 2] as const], ['investigating', 3], ['resolved', 4]] as const)
  expect([countAllowed(counts, 'resolved'), countAllowed(counts, 'dismissed')]).toEqual([3, 5])
})
