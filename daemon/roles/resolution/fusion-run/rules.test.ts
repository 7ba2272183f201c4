// A run performs its phases up to its goal, and ends once.
import { describe, expect, test } from 'vitest'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { newJob } from '../../../kernel/job/rules.ts'
import { adoptEarlierRun, fusionRuns, type StoredRun } from './model.ts'
import {
  beginPhase,
  cancelRun,
  completePhase,
  expireRun,
  extendGoal,
  markRunFailed,
  nextPhase,
  settleEarlierRun,
} from './rules.ts'

const at = '2026-03-02T12:00:00.000Z'
const label = { categories: [], level: 'SECRET', originator: 't', policy: 'SITE' }
const pendingRun: StoredRun = {
  ...{ tenant_id: 't', label, created_by: 'ann', created_at: at, updated_at: at },
  ...{ lens: 'people', lens_id: 'lens_1', lens_version: '1.0.0', entity_type: 'person' },
  ...{ state: 'pending', goal: 'completed', privacy: 'none', seed: 1, sources: [], counts: {} },
  ...{ request_digest: '', ...newJob(undefined, 0) },
}

/** Performs all phases as the worker does. */
function completeAllPhases(run: StoredRun): StoredRun {
  const phase = nextPhase(run)
  if (!phase) return run
  return completeAllPhases(completePhase(beginPhase(run, phase, at), phase, { counts: { [phase]: 1 } }, at, 99))
}

describe('phases', () => {
  test('run in order, and add their counts', () => {
    expect(completeAllPhases(pendingRun)).toMatchObject({
      state: 'completed',
      counts: { extract: 1, match: 1, resolve: 1 },
      ...{ job: { state: 'completed' }, job_due_ts: undefined, started_at: at, ended_at: at, files_until_ts: 99 },
    })
  })

  test('keep what they left out, and of matches what the last one left out', () => {
    const texts = { what: 'text_neighbours' as const, count: 30_000, limit: 20_000 }
    const matches = (count: number) => ({ what: 'matches' as const, count, limit: 10 })
    const complete = (run: StoredRun, phase: 'match' | 'resolve', left_out: StoredRun['left_out']) =>
      completePhase(run, phase, { counts: {}, ...(left_out ? { left_out } : {}) }, at, 99)
    const matched = complete({ ...pendingRun, state: 'matching' }, 'match', [texts, matches(5)])
    expect(matched.left_out).toEqual([texts, matches(5)])
    expect(complete({ ...matched, state: 'resolving' }, 'resolve', [matches(3)]).left_out).toEqual([texts, matches(3)])
    expect(complete({ ...matched, state: 'resolving' }, 'resolve', []).left_out).toEqual([texts])
    const cut = { ...matched, left_out: [matches(5)], state: 'resolving' as const }
    expect(complete(cut, 'resolve', undefined).left_out).toBeUndefined()
  })

  test.each(['extracted', 'matched'] as const)('stop at the goal %s, and continue when it is extended', (goal) => {
    const stopped = completeAllPhases({ ...pendingRun, goal })
    expect(stopped).toMatchObject({ state: goal, job: { state: 'waiting' }, job_due_ts: undefined })
    expect(stopped.ended_at).toBeUndefined()
    const extended = extendGoal(stopped, { goal: 'completed' }, at)
    expect(extended).toMatchObject({ state: goal, job: { state: 'queued' }, job_due_ts: Date.parse(at) })
    expect(completeAllPhases(extended as StoredRun).state).toBe('completed')
  })

  test.each([
    ['extracting', 'extract'],
    ['matching', 'match'],
    ['resolving', 'resolve'],
  ] as const)('an interrupted phase, %s, starts again', (state, phase) => {
    expect(nextPhase({ state, goal: 'completed' })).toBe(phase)
  })
})

describe('an extended goal', () => {
  test('that the run reaches anyway changes nothing', () => {
    expect(extendGoal(pendingRun, { goal: 'matched' }, at)).toBe(pendingRun)
    const completed = completeAllPhases(pendingRun)
    expect(extendGoal(completed, { goal: 'completed' }, at)).toBe(completed)
  })

  test('may set a threshold until the run resolves', () => {
    const matched = completeAllPhases({ ...pendingRun, goal: 'matched' })
    expect(extendGoal(matched, { goal: 'completed', threshold: 3 }, at)).toMatchObject({
      threshold: 3,
      goal: 'completed',
      job: { state: 'queued' },
    })
    expect(extendGoal({ ...matched, scale: 'likeness' }, { goal: 'completed', threshold: 3 }, at)).toMatchObject({
      code: 'invalid',
    })
    for (const state of ['matching', 'resolving', 'completed'] as const) {
      expect(extendGoal({ ...matched, state }, { goal: 'completed', threshold: 3 }, at)).toMatchObject({
        code: 'wrong_state',
      })
    }
  })

  test.each(['failed', 'cancelled'] as const)('of a run that is %s is refused', (state) => {
    expect(extendGoal({ ...pendingRun, state }, { goal: 'matched' }, at)).toMatchObject({
      code: 'wrong_state',
    })
    expect(nextPhase({ state, goal: 'completed' })).toBeUndefined()
  })
})

describe('the end of a run', () => {
  test.each(['pending', 'extracting', 'extracted', 'matching', 'matched', 'resolving'] as const)(
    'that is %s may be a cancellation or a failure, and its files are deleted at once',
    (state) => {
      const run = { ...pendingRun, state }
      expect(cancelRun(run, at, 5)).toMatchObject({
        state: 'cancelled',
        job: { state: 'cancelled' },
        ended_at: at,
        files_until_ts: 5,
      })
      const failure = { code: 'invalid', reason: 'no ids' }
      expect(markRunFailed(run, failure, at, 5)).toMatchObject({
        state: 'failed',
        failure,
        job: { state: 'failed' },
        files_until_ts: 5,
      })
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
    const waiting: StoredRun = { ...pendingRun, state, goal: state, ...newJob(undefined, undefined) }
    expect(expireRun(waiting, 2, later, now_ms - 1)).toBe(waiting)
    expect(expireRun(waiting, 2, later, now_ms)).toMatchObject({
      state: 'failed',
      failure: { code: 'expired', reason: `the run was ${state}, and its next phase was not requested within 2 days` },
      ...{ ended_at: later, files_until_ts: now_ms },
    })
  })

  test.each<[string, Partial<StoredRun>]>([
    ['is in progress', { state: 'matching', ...newJob(undefined, 0) }],
    ['has a further request', { state: 'extracted', ...newJob(undefined, 0) }],
    ['has ended', { state: 'completed' }],
    ['belongs to an exchange', { state: 'matched', exchange_id: 'xchg_1' }],
  ])('does not apply to a run that %s', (_, more) => {
    const run: StoredRun = { ...pendingRun, ...newJob(undefined, undefined), ...more }
    expect(expireRun(run, 2, later, now_ms * 2)).toBe(run)
  })
})

describe('a run whose result is poor', () => {
  const complete = (run: StoredRun) =>
    completePhase(beginPhase(run, 'resolve', at), 'resolve', { counts: { clusters: 9 }, held: 'poor' }, at, 99)
  const heldRun = complete({ ...pendingRun, state: 'matched' })

  test('waits at matched with its counts, and ends nothing', () => {
    expect(heldRun).toMatchObject({
      ...{ state: 'matched', goal: 'matched', held: 'poor', counts: { clusters: 9 } },
      ...{ job: { state: 'waiting' }, job_due_ts: undefined },
    })
    expect(heldRun.files_until_ts).toBeUndefined()
    expect(nextPhase(heldRun)).toBeUndefined()
  })

  test('goes on if it is accepted, or with another threshold, and by no other request', () => {
    expect(extendGoal(heldRun, { goal: 'completed' }, at)).toMatchObject({
      ...{ code: 'wrong_state', message: expect.stringContaining('accept_poor') },
    })
    expect(extendGoal(heldRun, { goal: 'matched' }, at)).toBe(heldRun)
    for (const more of [{ accept_poor: true }, { threshold: 3 }]) {
      const next = extendGoal(heldRun, { goal: 'completed', ...more }, at)
      if (isRefusal(next)) throw next
      expect(next).toMatchObject({ goal: 'completed', job: { state: 'queued' }, ...more })
      expect(next.held).toBeUndefined()
      expect(nextPhase(next)).toBe('resolve')
    }
  })

  test('that is accepted while it resolves resolves again', () => {
    const accepted = extendGoal({ ...pendingRun, state: 'resolving' }, { goal: 'completed', accept_poor: true }, at)
    if (isRefusal(accepted)) throw accepted
    const again = complete(accepted)
    expect(again).toMatchObject({ state: 'matched', goal: 'completed', accept_poor: true })
    expect(again.held).toBeUndefined()
    expect(nextPhase(again)).toBe('resolve')
  })

  test('and that has ended takes no acceptance', () => {
    const completed: StoredRun = { ...pendingRun, state: 'completed' }
    expect(extendGoal(completed, { goal: 'completed', accept_poor: true }, at)).toBe(completed)
  })
})

describe('a run of an exchange', () => {
  const run: StoredRun = { ...pendingRun, ...newJob(undefined, undefined), state: 'extracting', exchange_id: 'xchg_1' }

  test('is not continued by itself with another threshold: its phases are those of the exchange', () => {
    expect(extendGoal(run, { goal: 'completed', threshold: 3 }, at)).toMatchObject({
      ...{ code: 'wrong_state', message: expect.stringContaining('belongs to an exchange') },
    })
    expect(extendGoal({ ...run, threshold: 3 }, { goal: 'completed', threshold: 3 }, at)).toMatchObject({
      state: 'extracting',
    })
  })
})

const { job: _job, job_due_ts: _due, ...earlierFields } = pendingRun
const storeEarlier = (changes: object) =>
  ({ ...earlierFields, owes: 0, attempts: 0, ...changes }) as unknown as StoredRun
const parseEarlier = (changes: object) => fusionRuns.schema.parse(storeEarlier(changes)) as StoredRun

// A cluster, and a move to one, parses each document; the database of a site hands out the stored one.
describe.each([
  ['as stored', storeEarlier],
  ['as parsed', parseEarlier],
])('a run of an earlier version, %s,', (_, read) => {
  const settle = (changes: object) => settleEarlierRun(read(changes), at, 5)
  const principal = { subject: 'ann', tenant_id: 't', roles: [], grant: 'sealed' }

  test.each([
    ...['pending', 'extracting', 'matching', 'resolving'].map((state) => ({ state, owes: 1 })),
    ...['matching', 'resolving'].map((state) => ({ state, owes: 0 })),
    { state: 'extracted', goal: 'matched', owes: 1 },
    { state: 'matched', owes: 1 },
  ])('that has work to do fails with the reason: %o', (changes) => {
    const settled = settle(changes)
    expect(settled).toMatchObject({
      ...{ state: 'failed', failure: { code: 'ended' }, ended_at: at, files_until_ts: 5 },
      ...{ job: { state: 'failed', failure: { code: 'ended' } }, job_due_ts: undefined },
    })
    expect(settleEarlierRun(settled, at, 6)).toBe(settled)
  })

  test('that has work to do can be cancelled and not continued before it was settled', () => {
    const open = adoptEarlierRun(read({ state: 'extracted', goal: 'matched', owes: 1 })) as StoredRun
    expect(cancelRun(open, at, 5)).toMatchObject({ state: 'cancelled', job: { state: 'cancelled' }, files_until_ts: 5 })
    for (const goal of ['matched', 'completed'] as const)
      expect(extendGoal(open, { goal }, at, principal)).toMatchObject({
        ...{
          code: 'wrong_state',
          message: expect.stringContaining('an earlier version of the service began this run'),
        },
      })
  })

  test('that waits for a request goes on with the principal of the request', () => {
    const waiting = settle({ state: 'extracted', goal: 'extracted' })
    expect(waiting).toMatchObject({ state: 'extracted', job: { state: 'waiting' } })
    expect(extendGoal(waiting, { goal: 'matched' }, at, principal)).toMatchObject({
      job: { state: 'queued', principal: { subject: 'ann' } },
    })
  })

  test('that belongs to an exchange ends with the exchange', () => {
    expect(settle({ state: 'extracting', exchange_id: 'xchg_1', owes: 0 })).toMatchObject({
      ...{ state: 'extracting', job: { state: 'waiting' } },
    })
  })

  test.each(['completed', 'failed', 'cancelled'] as const)('that is %s stays so', (state) => {
    expect(settle({ state })).toMatchObject({ state, job: { state } })
  })
})

test('a run with a job is not taken for one of an earlier version', () => {
  expect(settleEarlierRun(pendingRun, at, 5)).toBe(pendingRun)
  expect(fusionRuns.schema.safeParse({ ...pendingRun, extra: 1 }).success).toBe(false)
})
