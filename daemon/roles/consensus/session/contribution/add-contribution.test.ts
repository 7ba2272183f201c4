// An update step may run more than once; metrics, caches and announcements follow the update once.
import { expect, test, vi } from 'vitest'
import {
  buildLocalContribution,
  buildStoredSession,
  labelPolicy,
} from '../../../../../test/support/consensus/session-records.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { UpdateStep } from '../../../../kernel/store/store.ts'
import { combinerSeconds } from '../../metrics.ts'
import type { StoredSession } from '../model.ts'
import { addContribution } from './add-contribution.ts'
import { cachedContributionView } from './contribution-index-cache.ts'

type Step = (current: { id: string; version: number; value: StoredSession }) => UpdateStep<StoredSession, unknown>

/** A store of one session, whose updates lose `lost` races before they succeed. */
function createRacingCall(lostRaces: number) {
  let doc = { id: 'ses_1', version: 1, value: buildStoredSession() }
  const update = vi.fn(async (_id: string, step: Step) => {
    for (let race = 0; race < lostRaces; race++) step(doc)
    const { next, answer } = step(doc)
    if (next) doc = { ...doc, version: doc.version + 1, value: next }
    return { doc, answer }
  })
  const effects = { observe: vi.fn(), count: vi.fn(), announce: vi.fn(), wake: vi.fn() }
  const call = {
    ...effects,
    site: { name: 'alpha', labels: labelPolicy },
    monotonic: () => 0,
    settings: () => ({ max_contributions: 1_000 }),
    audited: (action: string) => ({ action }),
    store: () => ({ update, create: async () => doc }),
  } as unknown as Call
  return { call, effects, current: () => doc }
}

test.each([0, 1, 3])('a step that lost %i races counts its contribution once', async (lostRaces) => {
  const { call, effects, current } = createRacingCall(lostRaces)
  for (const name of ['a', 'b']) {
    const { ordinal: _ordinal, digest: _digest, ...submitted } = buildLocalContribution(name, 0.9)
    expect(await addContribution(call, 'ses_1', () => submitted)).toMatchObject({ isNew: true })
  }
  expect(effects.observe.mock.calls.map(([metric]) => metric)).toEqual([combinerSeconds, combinerSeconds])
  expect(effects.announce).toHaveBeenCalledTimes(2)
  const view = cachedContributionView(call, current())
  expect([view?.sorted.length, view?.by_voter.size, current().value.contributions]).toEqual([2, 2, 2])
})

test('a repeat counts nothing', async () => {
  const { call, effects } = createRacingCall(1)
  const { ordinal: _ordinal, digest: _digest, ...submitted } = buildLocalContribution('a', 0.9)
  await addContribution(call, 'ses_1', () => submitted)
  expect(await addContribution(call, 'ses_1', () => submitted)).toMatchObject({ isNew: false })
  expect(effects.observe).toHaveBeenCalledTimes(1)
})
