// What ends a job that does not end by itself: its time, its crashes, a defect, and the loss of its principal's rights.
import { expect, test } from 'vitest'
import * as z from 'zod'
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import { max_crashes } from '../../../daemon/kernel/job/rules.ts'
import { collection } from '../../../daemon/kernel/store/store.ts'
import { findWorker } from './job-process.ts'
import { openJobWorld } from './open-job-world.ts'
import { buildWork, step_limit_ms, works } from './work-job.ts'

const minute_ms = 60_000

test('a step that exceeds its time fails the job, and writes nothing afterwards', async () => {
  const world = openJobWorld({ decideStep: () => ({ takes_ms: 3 * step_limit_ms, answer: 'done' }) })
  await world.create(2)
  world.start()
  await world.time.pass(4 * step_limit_ms)
  expect(await world.read()).toMatchObject({
    done: [],
    job: { state: 'failed', failure: { code: 'timeout', reason: 'a step may run for 120 s' } },
  })
  await world.end()
})

test('a step that kills the process each time does so three times', async () => {
  let begun = 0
  const world = openJobWorld({
    onStep(process, _id, _claim, phase) {
      if (phase !== 'begins') return
      begun += 1
      process.kill()
    },
  })
  await world.create(1)
  for (let start = 0; start < max_crashes + 2; start++) {
    world.start()
    await world.time.pass(minute_ms)
  }
  expect(begun).toBe(max_crashes)
  const value = await world.read()
  expect(value?.job).toMatchObject({ state: 'failed', failure: { code: 'internal' } })
  expect(value?.job.failure?.reason).toContain('crashed 3 times')
  await world.end()
})

test('a refusal that no retry cures ends the job with its reason, after a week of longest waits', async () => {
  let begun = 0
  const world = openJobWorld({
    decideStep() {
      begun += 1
      return { takes_ms: 10, answer: 'delayed' }
    },
  })
  await world.create(1)
  const week_of_waits = (7 * 24 * 60 * minute_ms) / 30_000
  await world.store.update(works, 'job', ({ value }) => ({
    next: { ...value, job: { ...value.job, failures: week_of_waits - 1 } },
    answer: undefined,
  }))
  world.start()
  await world.time.pass(10_000)
  expect((await world.read())?.job).toMatchObject({ state: 'waiting', failures: week_of_waits })
  await world.time.pass(2 * minute_ms)
  expect(begun).toBe(2)
  expect((await world.read())?.job).toMatchObject({
    state: 'failed',
    failure: { code: 'unavailable', reason: expect.stringContaining('20161 times in a row, last with: a part is not') },
  })
  await world.end()
})

test('a step that moves nothing fails the job instead of running for ever', async () => {
  let begun = 0
  const world = openJobWorld({
    decideStep() {
      begun += 1
      return { takes_ms: 10, answer: 'stays' }
    },
  })
  await world.create(1)
  world.start()
  await world.time.pass(minute_ms)
  expect(begun).toBe(1)
  expect((await world.read())?.job).toMatchObject({ state: 'failed', failure: { code: 'internal' } })
  await world.end()
})

test('a principal that is revoked between two steps gets no second one', async () => {
  let isRevoked = false
  const world = openJobWorld({
    findPrincipal: async (subject) => (isRevoked ? refuse('forbidden', 'ann was revoked') : findWorker(subject)),
    onStep: () => {
      isRevoked = true
    },
  })
  await world.create(3)
  world.start()
  await world.time.pass(minute_ms)
  expect(await world.read()).toMatchObject({
    done: [{ step: 0, claim: 1 }],
    job: { state: 'failed', step: 1, failure: { code: 'forbidden', reason: 'ann was revoked' } },
  })
  await world.end()
})

test('without a verdict on the principal the job waits, and goes on once there is one', async () => {
  let isReachable = false
  const world = openJobWorld({
    async findPrincipal(subject) {
      if (!isReachable) throw refuse('unavailable', 'the site role does not answer')
      return findWorker(subject)
    },
  })
  await world.create(1)
  world.start()
  await world.time.pass(minute_ms)
  expect((await world.read())?.job).toMatchObject({ state: 'waiting', failure: { code: 'unavailable' } })
  isReachable = true
  await world.time.pass(2 * minute_ms)
  expect((await world.read())?.job).toMatchObject({ state: 'completed' })
  await world.end()
})

test('a principal that is revoked during a step is noticed within a minute, and the step writes nothing', async () => {
  let isRevoked = false
  const world = openJobWorld({
    decideStep: () => ({ takes_ms: step_limit_ms - minute_ms / 4, answer: 'done' }),
    findPrincipal: async (subject) => (isRevoked ? refuse('forbidden', 'ann was revoked') : findWorker(subject)),
  })
  await world.create(1)
  world.start()
  await world.time.pass(5_000)
  isRevoked = true
  await world.time.pass(minute_ms + 10_000)
  const failed = await world.read()
  expect(failed).toMatchObject({ done: [], job: { state: 'failed', failure: { reason: 'ann was revoked' } } })
  await world.time.pass(2 * minute_ms)
  expect(await world.read()).toEqual(failed)
  await world.end()
})

test('a site that does not answer about the principal during a step does not end it', async () => {
  let loads = 0
  const world = openJobWorld({
    decideStep: () => ({ takes_ms: step_limit_ms - minute_ms / 4, answer: 'done' }),
    async findPrincipal(subject) {
      loads += 1
      if (loads > 1) throw refuse('unavailable', 'the site role does not answer')
      return findWorker(subject)
    },
  })
  await world.create(1)
  world.start()
  await world.time.pass(2 * minute_ms)
  expect(loads).toBe(2)
  expect((await world.read())?.job.state).toBe('completed')
  await world.end()
})

test('a job that lost its principal in the store gets none of the rights of the service', async () => {
  const world = openJobWorld()
  await world.create(1)
  await world.store.update(works, 'job', ({ value: { job, ...rest } }) => {
    const { principal: _principal, ...stripped } = job
    return { next: { ...rest, job: stripped }, answer: undefined }
  })
  world.start()
  await world.time.pass(minute_ms)
  expect(await world.read()).toMatchObject({ done: [], job: { state: 'failed', failure: { code: 'forbidden' } } })
  await world.end()
})

test('of jobs in series one runs at a time in all processes, and other series beside them', async () => {
  const working = new Map<string, string>()
  let most = 0
  const world = openJobWorld({
    rules: { serial_by: 'created_by' },
    onStep(_process, id, _claim, phase) {
      const series = id.split('-')[0] ?? ''
      if (phase === 'begins') expect(working.get(series) ?? id).toBe(id)
      if (phase === 'begins') working.set(series, id)
      else working.delete(series)
      most = Math.max(most, working.size)
    },
  })
  for (const series of ['ann', 'bob'])
    for (const at of [1, 2, 3]) await world.create(2, `${series}-${at}`, { created_by: series })
  world.start()
  world.start()
  await world.time.pass(5 * minute_ms)
  for (const series of ['ann', 'bob'])
    for (const at of [1, 2, 3])
      expect((await world.read(`${series}-${at}`))?.job).toMatchObject({ state: 'completed', step: 2 })
  expect(most).toBe(2)
  await world.end()
})

test('a job that cannot be claimed does not keep the others of its series', async () => {
  const world = openJobWorld({ rules: { serial_by: 'created_by' } })
  const later = collection({
    ...{ name: works.name, schema: z.looseObject({ tenant_id: z.string() }) },
    indexes: [...works.indexes],
  })
  const unknown = { ...buildWork(1, 'ann', world.time.now()), a_field_of_a_later_version: 1 }
  await world.store.create(later, 'broken', unknown)
  await world.time.pass(1_000)
  for (const id of ['second', 'third']) await world.create(1, id)
  world.start()
  await world.time.pass(minute_ms)
  for (const id of ['second', 'third']) expect((await world.read(id))?.job.state).toBe('completed')
  // Once for as long as it lasts.
  expect(world.errors).toEqual(['test.work.not-started'])
  await world.end()
})

test('a job that the site does not admit takes no step, and ends as its refusal says', async () => {
  let room = false
  const refusals = [refuse('unavailable', 'no verdict'), refuse('over_budget', 'nothing is left')]
  const world = openJobWorld({ rules: { admit: async () => (room ? undefined : refusals.shift()) } })
  await world.create(1)
  world.start()
  await world.time.pass(minute_ms)
  expect(await world.read()).toMatchObject({ done: [], job: { state: 'failed', failure: { code: 'over_budget' } } })
  room = true
  await world.create(1, 'other')
  await world.time.pass(minute_ms)
  expect((await world.read('other'))?.job.state).toBe('completed')
  await world.end()
})
