// What a job and the worker that runs it survive: outages, lost leases, steps that hang, and documents that vanish.
import { expect, test } from 'vitest'
import { documentLeases } from '../../../adapters/lease/document/document-leases.ts'
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import { jobLeases } from '../../../daemon/kernel/job/lease.ts'
import { endJob, max_crashes } from '../../../daemon/kernel/job/rules.ts'
import { openTemporaryStore } from '../../support/store/open-temporary-store.ts'
import type { JobWorld } from './job-process.ts'
import { type OpenJobWorld, openJobWorld } from './open-job-world.ts'
import { effects, step_limit_ms, works } from './work-job.ts'

const minute_ms = 60_000
const day_ms = 24 * 60 * minute_ms
type StepPlan = ReturnType<JobWorld['decideStep']>
const quick: StepPlan = { takes_ms: 1_000, answer: 'done' }
const long: StepPlan = { takes_ms: 110_000, answer: 'done' }
const hung: StepPlan = { takes_ms: 100 * day_ms, answer: 'done' }

/** The first steps of a world as planned, later ones quick. */
function planSteps(...plans: StepPlan[]): () => StepPlan {
  return () => plans.shift() ?? quick
}

const stateOf = async (world: OpenJobWorld, id?: string) => (await world.read(id))?.job.state

test('an outage while a job runs does not keep later ones from starting', async () => {
  let isCut = false
  const world = openJobWorld({ isCut: () => isCut, decideStep: planSteps(long) })
  await world.create(1, 'long')
  world.start()
  await world.time.pass(3_000)
  isCut = true
  await world.time.pass(2_000)
  isCut = false
  await world.create(1, 'short')
  await world.time.pass(10_000)
  expect([await stateOf(world, 'long'), await stateOf(world, 'short')]).toEqual(['running', 'completed'])
  await world.time.pass(2 * minute_ms)
  expect(await stateOf(world, 'long')).toBe('completed')
  await world.end()
})

test('one job that cannot be started does not keep the others from it', async () => {
  const world: OpenJobWorld = openJobWorld({
    decideStep: planSteps(long),
    leases({ now }) {
      const leases = documentLeases({
        store: world.store,
        tenant_id: 'alpha',
        now,
        random: () => String(Math.random()),
      })
      return {
        ...leases,
        async take(key, life_ms) {
          // Between the look for due jobs and the claim.
          if (key === 'work/gone') await world.store.remove(works, 'gone')
          if (key === 'work/broken') throw new TypeError('a defect')
          return await leases.take(key, life_ms)
        },
      }
    },
  })
  await world.create(1, 'long')
  world.start()
  await world.time.pass(3_000)
  await world.create(1, 'gone')
  await world.create(1, 'broken')
  await world.create(1, 'short')
  await world.time.pass(10_000)
  expect([await stateOf(world, 'long'), await stateOf(world, 'short')]).toEqual(['running', 'completed'])
  // Once for as long as it lasts.
  expect(world.errors).toEqual(['test.work.not-started'])
  await world.end()
})

test('a process that loses its store again and again has not crashed', async () => {
  let isCut = false
  const world = openJobWorld({ isCut: () => isCut, decideStep: () => ({ takes_ms: 50_000, answer: 'done' }) })
  await world.create(1)
  world.start()
  for (let outage = 0; outage < 2 * max_crashes; outage++) {
    await world.time.pass(20_000)
    isCut = true
    await world.time.pass(30_000)
    isCut = false
    await world.time.pass(20_000)
    expect((await world.read())?.job).toMatchObject({ state: 'running', starts: [expect.any(Number)] })
  }
  await world.time.pass(2 * minute_ms)
  expect(await stateOf(world)).toBe('completed')
  await world.end()
})

test('a claim whose answer is lost is no crash', async () => {
  let [known, lost, begun] = [0, 0, 0]
  const world: OpenJobWorld = openJobWorld({
    async losesAnswer() {
      const { claims = 0 } = (await world.store.get(works, 'job'))?.value.job ?? {}
      const isNew = claims > known
      known = claims
      if (!isNew || lost === 2 * max_crashes) return false
      lost += 1
      return true
    },
    decideStep() {
      begun += 1
      return quick
    },
  })
  await world.create(1)
  world.start()
  world.start()
  await world.time.pass(10 * minute_ms)
  expect((await world.read())?.job).toMatchObject({ state: 'completed', claims: 2 * max_crashes + 1 })
  expect([lost, begun]).toEqual([2 * max_crashes, 1])
  await world.end()
})

test('a process that loses its lease to another has not crashed', async () => {
  const world = openJobWorld({ decideStep: () => long })
  await world.create(1)
  world.start()
  world.start()
  for (let loss = 0; loss < 2 * max_crashes; loss++) {
    await world.time.pass(30_000)
    const lease = { tenant_id: 'alpha', holder: `other-${loss}`, until_ts: world.time.now() + 8_000, expires_ts: 9e15 }
    await world.store.update(jobLeases, 'work/job', () => ({ next: lease, answer: undefined }))
    await world.time.pass(30_000)
    expect((await world.read())?.job).toMatchObject({ state: 'running', starts: [expect.any(Number)] })
  }
  await world.time.pass(2 * minute_ms)
  expect(await stateOf(world)).toBe('completed')
  await world.end()
})

test('processes whose leases are in different stores do nothing twice, and say so', async () => {
  const warnings: string[] = []
  const { store: other } = openTemporaryStore(jobLeases)
  let opened = 0
  const world: OpenJobWorld = openJobWorld({
    leases: ({ now }) =>
      documentLeases({
        ...{ store: opened++ === 0 ? world.store : other, tenant_id: 'alpha', now },
        random: () => String(Math.random()),
      }),
    decideStep: () => ({ takes_ms: 30_000, answer: 'done', isObedient: true }),
    onWarning: (event) => warnings.push(event),
  })
  await world.create(2)
  world.start()
  const second = world.start()
  await world.time.pass(2 * minute_ms)
  expect(await stateOf(world)).toBe('running')
  expect(new Set(warnings)).toEqual(new Set(['test.work.contended']))
  second.stop()
  await world.time.pass(2 * minute_ms)
  expect(await world.read()).toMatchObject({ done: [{ step: 0 }, { step: 1 }], job: { state: 'completed' } })
  expect(world.errors).toEqual([])
  await world.end()
})

test('a lease that vanished is taken anew, and the step goes on', async () => {
  let begun = 0
  const world = openJobWorld({
    decideStep() {
      begun += 1
      return long
    },
  })
  await world.create(1)
  world.start()
  for (let loss = 0; loss < 2 * max_crashes; loss++) {
    await world.time.pass(12_000)
    await world.store.remove(jobLeases, 'work/job')
  }
  await world.time.pass(2 * minute_ms)
  expect([begun, await stateOf(world)]).toEqual([1, 'completed'])
  await world.end()
})

test('a step that hangs is given up after its limit: the job fails, and its lease and its turn are free', async () => {
  const world = openJobWorld({ decideStep: planSteps(hung, hung, hung) })
  for (const id of ['a', 'b', 'c']) await world.create(1, id)
  world.start()
  await world.time.pass(step_limit_ms - 1_000)
  expect(await stateOf(world, 'a')).toBe('running')
  await world.time.pass(10_000)
  for (const id of ['a', 'b', 'c']) {
    expect((await world.read(id))?.job).toMatchObject({
      state: 'failed',
      failure: { code: 'timeout', reason: 'a step may run for 120 s' },
    })
    expect(await world.store.get(jobLeases, `work/${id}`)).toBeUndefined()
  }
  expect(world.errors).toEqual(['test.work.stuck', 'test.work.stuck', 'test.work.stuck'])
  await world.create(1, 'next')
  await world.time.pass(10_000)
  expect(await stateOf(world, 'next')).toBe('completed')
  await world.end()
})

test('a step that ends after it was given up writes neither its job nor anything else', async () => {
  const world = openJobWorld({ decideStep: planSteps({ takes_ms: 10 * minute_ms, answer: 'done' }) })
  await world.create(1)
  world.start()
  await world.time.pass(5 * minute_ms)
  const failed = await world.read()
  expect(failed?.job.state).toBe('failed')
  await world.time.pass(10 * minute_ms)
  expect(await world.read()).toEqual(failed)
  expect(await world.store.count(effects)).toBe(0)
  await world.end()
})

test('a step that ignores the cancellation of its job holds no turn', async () => {
  const world = openJobWorld({ decideStep: planSteps(hung, hung, hung) })
  for (const id of ['a', 'b', 'c']) await world.create(1, id)
  world.start()
  await world.time.pass(5_000)
  for (const id of ['a', 'b', 'c'])
    await world.store.update(works, id, ({ value }) => ({ next: endJob(value, 'cancelled', {}), answer: undefined }))
  await world.create(1, 'next')
  await world.time.pass(20_000)
  expect(await stateOf(world, 'next')).toBe('completed')
  await world.end()
})

test('the time limit of a step is that of its document', async () => {
  const world = openJobWorld({ decideStep: () => ({ takes_ms: 60_000, answer: 'done' }) })
  await world.create(1, 'short', { limit_ms: 30_000 })
  await world.create(1, 'usual')
  world.start()
  await world.time.pass(2 * minute_ms)
  expect((await world.read('short'))?.job).toMatchObject({
    state: 'failed',
    failure: { code: 'timeout', reason: 'a step may run for 30 s' },
  })
  expect(await stateOf(world, 'usual')).toBe('completed')
  await world.end()
})

test.each([Number.NaN, 0, -1, Number.POSITIVE_INFINITY])(
  'a step with the time limit %s is never begun',
  async (limit_ms) => {
    const world = openJobWorld({
      decideStep: () => {
        throw new Error('the step has begun')
      },
      rules: { stepLimit_ms: () => limit_ms },
    })
    await world.create(1)
    world.start()
    await world.time.pass(5_000)
    expect((await world.read())?.job).toMatchObject({ state: 'failed', failure: { code: 'internal' } })
    expect(world.errors).toEqual(['test.work.failed'])
    await world.end()
  },
)

test('a stop gives back a job whose step ignores it, so that another process begins it at once', async () => {
  const world = openJobWorld({ decideStep: planSteps(hung) })
  await world.create(1)
  const first = world.start()
  await world.time.pass(5_000)
  first.stop()
  await world.time.pass(5_000)
  expect((await world.read())?.job).toMatchObject({ state: 'queued', starts: [] })
  world.start()
  await world.time.pass(5_000)
  expect(await stateOf(world)).toBe('completed')
  await world.end()
})

test.each([
  ['a refusal', 'forbidden', { state: 'failed' }],
  ['a refusal that a retry may cure', 'unavailable', { state: 'waiting', failures: 1 }],
] as const)('%s with a reason of any length and characters is kept, shortened', async (_, code, expected) => {
  const reason = `${'x'.repeat(4_094)}\u{1F512}${'y'.repeat(1_000)}\ud800`
  const world = openJobWorld({ decideStep: planSteps({ takes_ms: 1_000, answer: refuse(code, reason) }) })
  await world.create(1)
  world.start()
  await world.time.pass(1_500)
  expect((await world.read())?.job).toMatchObject({ ...expected, claims: 1, failure: { code } })
  expect((await world.read())?.job.failure?.reason).toBe(`${'x'.repeat(4_094)}…`)
  await world.end()
})

test('the time limit of another service is not that of the step: it is tried again', async () => {
  const late = refuse('timeout', 'the operation took too long and was given up')
  const world = openJobWorld({ decideStep: planSteps({ takes_ms: 1_000, answer: late }) })
  await world.create(1)
  world.start()
  await world.time.pass(30_000)
  expect(await stateOf(world)).toBe('completed')
  await world.end()
})
