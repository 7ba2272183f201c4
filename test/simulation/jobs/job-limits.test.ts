// What ends a job that does not end by itself: its time, its crashes, a defect, and the loss of its principal's rights.
import { expect, test } from 'vitest'
import { documentLeases } from '../../../adapters/lease/document/document-leases.ts'
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import { jobLeases } from '../../../daemon/kernel/job/lease.ts'
import { max_crashes } from '../../../daemon/kernel/job/rules.ts'
import { openTemporaryStore } from '../../support/store/open-temporary-store.ts'
import { findWorker, JobProcess, type JobWorld } from './job-process.ts'
import { simulatedTime } from './simulated-time.ts'
import { buildWork, effects, step_limit_ms, works } from './work-job.ts'

const minute_ms = 60_000

function openWorld(changes: Partial<JobWorld> = {}) {
  const { store } = openTemporaryStore(works, effects, jobLeases)
  const time = simulatedTime(Date.parse('2026-03-02T12:00:00Z'))
  let drawn = 0
  const random = (bytes: number) => (++drawn).toString(16).padStart(2 * bytes, '0')
  const started: JobProcess[] = []
  const world: JobWorld = {
    ...{ time, store, random },
    leases: ({ now }) => documentLeases({ store, tenant_id: 'alpha', now, random }),
    findPrincipal: async (subject) => findWorker(subject),
    isCut: () => false,
    onStep: () => undefined,
    decideStep: () => ({ takes_ms: 1_000, answer: 'done' }),
    decideStall_ms: () => 0,
    ...changes,
  }
  return {
    time,
    start() {
      const process = new JobProcess(`process-${started.length}`, world)
      started.push(process)
      return process
    },
    async create(steps: number) {
      await store.create(works, 'job', buildWork(steps, 'ann', time.now()))
    },
    read: async () => (await store.get(works, 'job'))?.value,
    async end() {
      for (const process of started) process.stop()
      await time.pass(10 * minute_ms)
    },
  }
}

test('a step that exceeds its time fails the job, and writes nothing afterwards', async () => {
  const world = openWorld({ decideStep: () => ({ takes_ms: 3 * step_limit_ms, answer: 'done' }) })
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
  const world = openWorld({
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

test('a step that moves nothing fails the job instead of running for ever', async () => {
  let begun = 0
  const world = openWorld({
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
  const world = openWorld({
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
  const world = openWorld({
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
