// A run goes from phase to phase as far as it was asked, and ends in one way alone.
import { describe, expect, test } from 'vitest'
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { StoredRun } from './model.ts'
import {
  beginPhase,
  cancelRun,
  completePhase,
  expireRun,
  extendGoal,
  isAtGoal,
  markRunFailed,
  nextPhase,
} from './rules.ts'

const at = '2026-03-02T12:00:00.000Z'
const label = { categories: [], level: 'SECRET', originator: 't', policy: 'SITE' }
const pendingRun: StoredRun = {
  ...{ tenant_id: 't', label, created_by: 'ann', created_at: at, updated_at: at },
  ...{ lens: 'people', lens_id: 'lens_1', lens_version: '1.0.0', entity_type: 'person' },
  ...{ state: 'pending', goal: 'completed', privacy: 'none', seed: 1, sources: [], counts: {} },
  ...{ request_digest: '', owes: 1, attempts: 0 },
}

/** Through all its phases, as the worker takes it. */
function completeAllPhases(run: StoredRun): StoredRun {
  const phase = nextPhase(run)
  if (!phase) return run
  return completeAllPhases(completePhase(beginPhase(run, phase, at, 0), phase, { counts: { [phase]: 1 } }, at, 99))
}

describe('the way', () => {
  test('leads through all phases, and adds up what each counted', () => {
    expect(completeAllPhases(pendingRun)).toMatchObject({
      state: 'completed',
      counts: { extract: 1, match: 1, resolve: 1 },
      ...{ owes: 0, attempts: 0, started_at: at, ended_at: at, files_until_ts: 99 },
    })
  })

  test.each(['extracted', 'matched'] as const)('ends at %s where no more was asked, and goes on when it is', (goal) => {
    const there = completeAllPhases({ ...pendingRun, goal })
    expect(there).toMatchObject({ state: goal, owes: 0 })
    expect(there.ended_at).toBeUndefined()
    const more = extendGoal(there, 'completed', undefined, at)
    expect(more).toMatchObject({ state: goal, owes: 1 })
    expect(completeAllPhases(more as StoredRun).state).toBe('completed')
  })

  test.each([
    ['extracting', 'extract'],
    ['matching', 'match'],
    ['resolving', 'resolve'],
  ] as const)('a phase that was left in the middle, %s, is begun again', (state, phase) => {
    expect(nextPhase({ state, goal: 'completed' })).toBe(phase)
  })

  test('a phase in which the process ended three times is not begun a fourth time', () => {
    let run = { ...pendingRun, state: 'extracted' as const }
    for (let time = 0; time < 3; time++) run = { ...run, ...beginPhase(run, 'match', at, 7) } as typeof run
    expect(run).toMatchObject({ state: 'matching', attempts: 3 })
    const last = beginPhase(run, 'match', at, 7)
    expect(last).toMatchObject({ state: 'failed', failure: { code: 'ended' }, owes: 0, files_until_ts: 7 })
    expect(isAtGoal(last)).toBe(true)
  })
})

describe('asked again', () => {
  test('for what it comes to anyway, it is the same', () => {
    expect(extendGoal(pendingRun, 'matched', undefined, at)).toBe(pendingRun)
    const through = completeAllPhases(pendingRun)
    expect(extendGoal(through, 'completed', undefined, at)).toBe(through)
  })

  test('with a threshold it takes that, until it resolves', () => {
    const matched = completeAllPhases({ ...pendingRun, goal: 'matched' })
    expect(extendGoal(matched, 'completed', 3, at)).toMatchObject({ threshold: 3, goal: 'completed', owes: 1 })
    expect(extendGoal({ ...matched, scale: 'likeness' }, 'completed', 3, at)).toMatchObject({ code: 'invalid' })
    for (const state of ['matching', 'resolving', 'completed'] as const) {
      expect(extendGoal({ ...matched, state }, 'completed', 3, at)).toMatchObject({ code: 'wrong_state' })
    }
  })

  test.each(['failed', 'cancelled'] as const)('a run that is %s goes nowhere', (state) => {
    expect(extendGoal({ ...pendingRun, state }, 'matched', undefined, at)).toMatchObject({ code: 'wrong_state' })
    expect(nextPhase({ state, goal: 'completed' })).toBeUndefined()
  })
})

describe('ended', () => {
  test.each(['pending', 'extracting', 'extracted', 'matching', 'matched', 'resolving'] as const)(
    'a run that is %s can be cancelled and can fail, and its files go at once',
    (state) => {
      const run = { ...pendingRun, state }
      expect(cancelRun(run, at, 5)).toMatchObject({ state: 'cancelled', owes: 0, ended_at: at, files_until_ts: 5 })
      const failure = { code: 'invalid', reason: 'no ids' }
      expect(markRunFailed(run, failure, at, 5)).toMatchObject({ state: 'failed', failure, owes: 0, files_until_ts: 5 })
    },
  )

  test('cancelling twice is once, and what is through cannot be cancelled', () => {
    const gone = cancelRun(pendingRun, at, 5)
    if (isRefusal(gone)) throw gone
    expect(cancelRun(gone, at, 6)).toBe(gone)
    for (const state of ['completed', 'failed'] as const) {
      expect(cancelRun({ ...pendingRun, state }, at, 5)).toMatchObject({ code: 'wrong_state' })
    }
  })
})

describe('a run that waits to be asked for more', () => {
  const day_ms = 86_400_000
  const now_ms = Date.parse(at) + 2 * day_ms
  const later = new Date(now_ms).toISOString()

  test.each(['extracted', 'matched'] as const)('at %s ends when its days are over, and not before', (state) => {
    const waiting: StoredRun = { ...pendingRun, state, goal: state, owes: 0 }
    expect(expireRun(waiting, 2, later, now_ms - 1)).toBe(waiting)
    expect(expireRun(waiting, 2, later, now_ms)).toMatchObject({
      state: 'failed',
      failure: { code: 'expired', reason: `the run was ${state}, and its next phase was not requested within 2 days` },
      ...{ ended_at: later, files_until_ts: now_ms },
    })
  })

  test.each<[string, Partial<StoredRun>]>([
    ['is worked on', { state: 'matching', owes: 1 }],
    ['was asked for more', { state: 'extracted', owes: 1 }],
    ['has ended', { state: 'completed' }],
    ['is of an exchange', { state: 'matched', exchange_id: 'xchg_1' }],
  ])('stays as it is where it %s', (_, more) => {
    const run: StoredRun = { ...pendingRun, owes: 0, ...more }
    expect(expireRun(run, 2, later, now_ms * 2)).toBe(run)
  })
})
