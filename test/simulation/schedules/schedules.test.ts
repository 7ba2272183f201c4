// Scheduled pipelines of several processes over one store, under simulated time: processes die between any two writes and
// pause, and each time of the schedule has one run.
import { expect, test } from 'vitest'
import { parseSchedule } from '../../../adapters/host/schedule/cron.ts'
import { documentLeases } from '../../../adapters/lease/document/document-leases.ts'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import { jobLeases } from '../../../daemon/kernel/job/lease.ts'
import { endJob, newJob } from '../../../daemon/kernel/job/rules.ts'
import type { RoleEnvironment } from '../../../daemon/kernel/operation/role-environment.ts'
import type { Store } from '../../../daemon/kernel/store/store.ts'
import { pipelines, type StoredPipeline } from '../../../daemon/roles/ingest/datapipeline/model.ts'
import { pipelineSchedules } from '../../../daemon/roles/ingest/datapipeline-schedule/model.ts'
import { replaceSchedule } from '../../../daemon/roles/ingest/datapipeline-schedule/rules.ts'
import { scheduleJob } from '../../../daemon/roles/ingest/datapipeline-schedule/schedule-job.ts'
import { effects } from '../../../daemon/roles/ingest/effect/model.ts'
import { faultPointPart, scheduleParserPart } from '../../../daemon/roles/ingest/parts.ts'
import { embeddedScheduler } from '../../../daemon/roles/ingest/runner/embedded-scheduler.ts'
import { dagRuns, taskLogs } from '../../../daemon/roles/ingest/runner/model.ts'
import { assembledDag } from '../../../daemon/shared/assembled-dag/assembled-dag.ts'
import { workflowSchedulerPart } from '../../../daemon/shared/workflow-scheduler/workflow-scheduler.ts'
import { seededRandom } from '../../support/random/seeded-random.ts'
import { openTemporaryStore } from '../../support/store/open-temporary-store.ts'
import { findWorker, JobProcess, type JobWorld, ProcessKilledError } from '../jobs/job-process.ts'
import { simulatedTime } from '../jobs/simulated-time.ts'

const minute_ms = 60_000
const started_ms = Date.parse('2026-03-02T12:00:00Z')
const at = new Date(started_ms).toISOString()
const label = { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'alpha' }
const provenance = { tenant_id: 'alpha', label, created_by: 'ann', updated_at: at }
const principal = { subject: 'ann', tenant_id: 'alpha', roles: ['worker'], grant: 'ann' }

function buildPipeline(): StoredPipeline {
  const dag = assembledDag.parse({ format: 1, dag_id: 'people', tasks: [{ name: 'read', operator: 'ingest_file' }] })
  return {
    ...{ ...provenance, created_at: at, request_digest: '', request_key: 'req', dag_id: 'people', content: '{}' },
    ...{ pipeline_type: 'assembled', run_on_deploy: false, subtype: 'datapipeline', status: 'active' },
    ...{ is_paused: false, dag, dag_digest: '0'.repeat(64), deployments: 1 },
    ...endJob(newJob(undefined, undefined), 'completed', {}),
  }
}

/** `kill`: decides before and after each write of a process whether it dies there. */
async function openWorld(
  pipeline_ids: readonly string[],
  { kill = () => false, ...changes }: Partial<JobWorld> & { kill?: (phase: 'before' | 'after') => boolean } = {},
) {
  const { store } = openTemporaryStore(pipelines, effects, pipelineSchedules, dagRuns, taskLogs, jobLeases)
  const time = simulatedTime(started_ms)
  let drawn = 0
  const random = (bytes: number) => (++drawn).toString(16).padStart(2 * bytes, '0')
  const parts = new Map<string, unknown>([
    [workflowSchedulerPart.name, embeddedScheduler],
    [scheduleParserPart.name, parseSchedule],
    [faultPointPart.name, () => undefined],
  ])
  const environment: Partial<RoleEnvironment> = {
    part: (key) => parts.get(key.name) as never,
    settings: () => ({ scheduler_tick_minutes: 30 }) as never,
  }
  const processes: JobProcess[] = []
  const killAt = (phase: 'before' | 'after') => {
    if (!kill(phase)) return
    for (const process of processes) process.kill()
    throw new ProcessKilledError('killed between two writes')
  }
  const mortal = new Proxy(store, {
    get(target, name: keyof Store) {
      const method = target[name] as (...given: unknown[]) => Promise<unknown>
      if (typeof method !== 'function' || (name !== 'create' && name !== 'update')) return bind(target, method)
      return async (...given: unknown[]) => {
        killAt('before')
        const made = await method.apply(target, given)
        killAt('after')
        return made
      }
    },
  })
  const world: JobWorld = {
    ...{ kind: scheduleJob, environment, time, store: mortal, random },
    leases: ({ now }) => documentLeases({ store, tenant_id: 'alpha', now, random }),
    findPrincipal: async (subject) => findWorker(subject),
    isCut: () => false,
    onStep: () => undefined,
    decideStep: () => ({ takes_ms: 0, answer: 'done' }),
    decideStall_ms: () => 0,
    ...changes,
  }
  for (const id of pipeline_ids) {
    await store.create(pipelines, id, buildPipeline())
    const next = { schedule: '@hourly', timezone: 'UTC', until_ts: started_ms, next_ts: started_ms + 60 * minute_ms }
    const fields = { ...provenance, object: 'datapipeline' as const, dag_id: 'people', ...next }
    await store.create(pipelineSchedules, id, replaceSchedule(undefined, fields, principal))
  }
  return {
    ...{ store, time },
    start() {
      const process = new JobProcess(`process-${processes.length}`, world)
      processes.push(process)
      return process
    },
    /** Runs end at once where no time passes between two looks. */
    async pass(minutes: number) {
      for (let passed = 0; passed < minutes; passed += 10) {
        await time.pass(10 * minute_ms)
        for (const { id } of (await store.list(dagRuns, { limit: 500 })).docs)
          await store.update(dagRuns, id, ({ value }) => ({
            next: { ...value, state: 'success' as const },
            answer: undefined,
          }))
      }
    },
    listRuns: async () => (await store.list(dagRuns, { limit: 500 })).docs.map(({ id }) => id).sort(),
    read: async (id: string) => (await store.get(pipelineSchedules, id))?.value,
    async end() {
      for (const process of processes) process.stop()
      await time.pass(10 * minute_ms)
    },
  }
}

const bind = (target: Store, member: unknown) => (typeof member === 'function' ? member.bind(target) : member)

const runsOf = (id: string, ...hours: number[]) =>
  hours.map((hour) => `${id}.schedule__20260302T${String(hour).padStart(2, '0')}0000Z`)

/** The claim, the intent, the run, and the trigger that is done; and one beyond. */
const writes = [1, 2, 3, 4, 5]

test.each(writes.flatMap((write) => (['before', 'after'] as const).map((phase) => [phase, write] as const)))(
  'killed %s write %i, the time has one run, and so have those after it',
  async (phase, write) => {
    let seen = 0
    const world = await openWorld(['pl_1'], { kill: (now) => now === phase && ++seen === write })
    world.start()
    await world.pass(70)
    world.start()
    await world.pass(140)
    expect(await world.listRuns()).toEqual(runsOf('pl_1', 13, 14, 15))
    const record = await world.read('pl_1')
    expect(record).toMatchObject({ status: 'idle', trigger_id: 'schedule__20260302T150000Z' })
    expect(record?.next_ts).toBe(started_ms + 240 * minute_ms)
    expect(seen).toBeGreaterThan(write)
    await world.end()
  },
)

test('a trigger that a crash left is found among the runs, and not made again once that was deleted', async () => {
  const world = await openWorld(['pl_1'])
  await world.store.update(pipelineSchedules, 'pl_1', ({ value }) => {
    const next = { ...value, status: 'triggering' as const, trigger_id: 'schedule__20260302T130000Z', triggered_at: at }
    return { next, answer: undefined }
  })
  await world.time.pass(61 * minute_ms)
  world.start()
  await world.pass(10)
  expect(await world.listRuns()).toEqual(runsOf('pl_1', 13))
  expect(await world.read('pl_1')).toMatchObject({ last_scheduled_run: at })
  await world.store.remove(dagRuns, runsOf('pl_1', 13)[0] ?? '')
  await world.pass(40)
  expect(await world.listRuns()).toEqual([])
  await world.end()
})

test.each(Array.from({ length: 8 }, (_, number) => 4_100 + number))(
  'of two processes that die and pause, each time of three pipelines has one run: history %i',
  async (seed) => {
    const chance = seededRandom(seed)
    const ids = ['pl_1', 'pl_2', 'pl_3']
    const world = await openWorld(ids, { decideStall_ms: () => (chance.happens(0.1) ? chance.below(40_000) : 0) })
    const running = [world.start(), world.start()]
    for (let hour = 0; hour < 6; hour++) {
      await world.pass(40)
      await world.time.pass(9 * minute_ms + chance.below(2 * minute_ms))
      const victim = chance.below(2)
      if (chance.happens(0.5)) {
        running[victim]?.kill()
        running[victim] = world.start()
      } else {
        const process = running[victim]
        process?.pause()
        world.time.after(chance.below(90_000), () => process?.resume())
      }
      await world.pass(10)
    }
    await world.pass(80)
    for (const id of ids) {
      const runs = (await world.listRuns()).filter((run) => run.startsWith(id))
      expect(runs.length).toBeGreaterThanOrEqual(6)
      expect(runs).toEqual(runsOf(id, ...runs.map((_, number) => 13 + number)))
    }
    await world.end()
  },
)

test('an owner who is revoked while a trigger is stored: nothing runs, and it is tried once', async () => {
  let answer: Refusal | undefined
  let requests = 0
  const world = await openWorld(['pl_1'], {
    async findPrincipal(subject) {
      requests += 1
      return answer ?? findWorker(subject)
    },
  })
  answer = refuse('forbidden', 'ann was revoked')
  world.start()
  await world.pass(240)
  expect([requests, await world.listRuns()]).toEqual([1, []])
  expect(await world.read('pl_1')).toMatchObject({
    job: { state: 'failed' },
    fault: { code: 'forbidden', reason: 'ann was revoked' },
  })
  await world.end()
})
