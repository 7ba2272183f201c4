// Holds a bulk disposition to what it was told of each signal, and to its two ends.
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

test('it is over when each has its answer, and what was done counts whoever else refused it', () => {
  const half = applyOutcomes(runningBulk, new Map([['b', refusedOutcome]]), at)
  expect([half.state, listUndecided(half, 9)]).toEqual(['running', ['a']])
  const over = applyOutcomes(half, new Map([['a', doneOutcome]]), at)
  expect(over).toMatchObject({ state: 'finished', owes: 0, finished_at: at })
  const late = applyOutcomes(
    over,
    new Map([
      ['a', refusedOutcome],
      ['b', doneOutcome],
    ]),
    at,
  )
  expect(late.items.map(({ outcome }) => outcome)).toEqual(['done', 'done'])
  expect(late.items[1]).not.toHaveProperty('reason')
})

test('cancelled, it ends as that; finished, it is not cancelled', () => {
  const ending = cancelBulk(runningBulk, 'bob', at)
  if (isRefusal(ending)) throw ending
  expect(cancelBulk(ending, 'cy', at)).toBe(ending)
  const none = new Map(runningBulk.items.map(({ signal_id }) => [signal_id, { outcome: 'cancelled' as const }]))
  expect(applyOutcomes(ending, none, at)).toMatchObject({ state: 'cancelled', cancelled_by: 'bob' })
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

test('what is foreseen is what the table allows', () => {
  const counts = new Map([...[['new', 2] as const], ['investigating', 3], ['resolved', 4]] as const)
  expect([countAllowed(counts, 'resolved'), countAllowed(counts, 'dismissed')]).toEqual([3, 5])
})
