// A run performs its phases up to its goal, and ends once.
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

/** Performs all phases as the worker does. */
function completeAllPhases(run: StoredRun): StoredRun {
  const phase = nextPhase(run)
  if (!phase) return run
  return completeAllPhases(completePhase(beginPhase(run, phase, at, 0), phase, { counts: { [phase]: 1 } }, at, 99))
}

describe('phases', () => {
  test('run in order, and add their counts', () => {
    expect(completeAllPhases(pendingRun)).toMatchObject({
      state: 'completed',
      counts: { extract: 1, match: 1, resolve: 1 },
      ...{ owes: 0, attempts: 0, started_at: at, ended_at: at, files_until_ts: 99 },
    })
  })

  test.each(['extracted', 'matched'] as const)('stop at the goal %s, and continue when it is extended', (goal) => {
    const stopped = completeAllPhases({ ...pendingRun, goal })
    expect(stopped).toMatchObject({ state: goal, owes: 0 })
    expect(stopped.ended_at).toBeUndefined()
    const extended = extendGoal(stopped, 'completed', undefined, at)
    expect(extended).toMatchObject({ state: goal, owes: 1 })
    expect(completeAllPhases(extended as StoredRun).state).toBe('completed')
  })

  test.each([
    ['extracting', 'extract'],
    ['matching', 'match'],
    ['resolving', 'resolve'],
  ] as const)('an interrupted phase, %s, starts again', (state, phase) => {
    expect(nextPhase({ state, goal: 'completed' })).toBe(phase)
  })

  test('a phase that crashed the process three times does not start a fourth time', () => {
    let run = { ...pendingRun, state: 'extracted' as const }
    for (let attempt = 0; attempt < 3; attempt++) run = { ...run, ...beginPhase(run, 'match', at, 7) } as typeof run
    expect(run).toMatchObject({ state: 'matching', attempts: 3 })
    const last = beginPhase(run, 'match', at, 7)
    expect(last).toMatchObject({ state: 'failed', failure: { code: 'ended' }, owes: 0, files_until_ts: 7 })
    expect(isAtGoal(last)).toBe(true)
  })
})

describe('an extended goal', () => {
  test('that the run reaches anyway changes nothing', () => {
    expect(extendGoal(pendingRun, 'matched', undefined, at)).toBe(pendingRun)
    const completed = completeAllPhases(pendingRun)
    expect(extendGoal(completed, 'completed', undefined, at)).toBe(completed)
  })

  test('may set a threshold until the run resolves', () => {
    const matched = completeAllPhases({ ...pendingRun, goal: 'matched' })
    expect(extendGoal(matched, 'completed', 3, at)).toMatchObject({ threshold: 3, goal: 'completed', owes: 1 })
    expect(extendGoal({ ...matched, scale: 'likeness' }, 'completed', 3, at)).toMatchObject({ code: 'invalid' })
    for (const state of ['matching', 'resolving', 'completed'] as const) {
      expect(extendGoal({ ...matched, state }, 'completed', 3, at)).toMatchObject({ code: 'wrong_state' })
    }
  })

  test.each(['failed', 'cancelled'] as const)('of a run that is %s is refused', (state) => {
    expect(extendGoal({ ...pendingRun, state }, 'matched', undefined, at)).toMatchObject({ code: 'wrong_state' })
    expect(nextPhase({ state, goal: 'completed' })).toBeUndefined()
  })
})

describe('the end of a run', () => {
  test.each(['pending', 'extracting', 'extracted', 'matching', 'matched', 'resolving'] as const)(
    'that is %s may be a cancellation or a failure, and its files are deleted at once',
    (state) => {
      const run = { ...pendingRun, state }
      expect(cancelRun(run, at, 5)).toMatchObject({ state: 'cancelled', owes: 0, ended_at: at, files_until_ts: 5 })
      const failure = { code: 'invalid', reason: 'no ids' }
      expect(markRunFailed(run, failure, at, 5)).toMatchObject({ state: 'failed', failure, owes: 0, files_until_ts: 5 })
    },
  )

  test('by a repeated cancellation changes nothing, and an ended run cannot be cancelled', () => {
    const cancelled = cancelRun(pendingRun, at, 5)
    if (isRefusal(cancelled)) throw cancelled
    expect(cancelRun(cancelled, at, 6)).toBe(cancelled)
    for (const state of ['completed', 'failed'] as const) {
      expect(cancelRun({ ...pendingRun, state }, at, 5)).toMatchObject({ code: 'wrong_state' })
    }
  })
})

describe('expiry of a run that waits for a request', () => {
  const day_ms = 86_400_000
  const now_ms = Date.parse(at) + 2 * day_ms
  const later = new Date(now_ms).toISOString()

  test.each(['extracted', 'matched'] as const)('at %s comes after its days, and not before', (state) => {
    const waiting: StoredRun = { ...pendingRun, state, goal: state, owes: 0 }
    expect(expireRun(waiting, 2, later, now_ms - 1)).toBe(waiting)
    expect(expireRun(waiting, 2, later, now_ms)).toMatchObject({
      state: 'failed',
      failure: { code: 'expired', reason: `the run was ${state}, and its next phase was not requested within 2 days` },
      ...{ ended_at: later, files_until_ts: now_ms },
    })
  })

  test.each<[string, Partial<StoredRun>]>([
    ['is in progress', { state: 'matching', owes: 1 }],
    ['has a further request', { state: 'extracted', owes: 1 }],
    ['has ended', { state: 'completed' }],
    ['belongs to an exchange', { state: 'matched', exchange_id: 'xchg_1' }],
  ])('does not apply to a run that %s', (_, more) => {
    const run: StoredRun = { ...pendingRun, owes: 0, ...more }
    expect(expireRun(run, 2, later, now_ms * 2)).toBe(run)
  })
})
