// The first run of a deployment at a scheduler that finds DAGs late, under simulated time: how long it is awaited, through
// crashes and outages, and what ends the wait.
import { expect, test } from 'vitest'
import type { LocalRepository } from '../../../adapters/dag-repository/local/local-repository.ts'
import { documentLeases } from '../../../adapters/lease/document/document-leases.ts'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { Principal } from '../../../daemon/kernel/identity/delegation.ts'
import { jobLeases } from '../../../daemon/kernel/job/lease.ts'
import { newJob } from '../../../daemon/kernel/job/rules.ts'
import type { RoleEnvironment } from '../../../daemon/kernel/operation/role-environment.ts'
import { effectDeploymentJob } from '../../../daemon/roles/ingest/effect/deployment-job.ts'
import { effects, type StoredEffect } from '../../../daemon/roles/ingest/effect/model.ts'
import { asManaged } from '../../../daemon/roles/ingest/managed-dag/model.ts'
import { beginAgain, refuseInStep } from '../../../daemon/roles/ingest/managed-dag/redeploy.ts'
import { faultPointPart } from '../../../daemon/roles/ingest/parts.ts'
import { embeddedScheduler } from '../../../daemon/roles/ingest/runner/embedded-scheduler.ts'
import { dagRuns, taskLogs } from '../../../daemon/roles/ingest/runner/model.ts'
import { type DagCheck, dagRepositoryPart } from '../../../daemon/shared/dag-repository/dag-repository.ts'
import type { CallerScheduler } from '../../../daemon/shared/workflow-scheduler/workflow-scheduler.ts'
import { workflowSchedulerPart } from '../../../daemon/shared/workflow-scheduler/workflow-scheduler.ts'
import { openTemporaryRepository, trackedRepository } from '../../support/ingest/temporary-repository.ts'
import { openTemporaryStore } from '../../support/store/open-temporary-store.ts'
import { findWorker, JobProcess, type JobWorld } from '../jobs/job-process.ts'
import { simulatedTime } from '../jobs/simulated-time.ts'

const started_ms = Date.parse('2026-03-02T12:00:00Z')
const at = new Date(started_ms).toISOString()
const id = 'ef_1'
const principal = { subject: 'ann', tenant_id: 'alpha', roles: ['worker'], grant: 'ann' }

function buildEffect(): StoredEffect {
  return {
    ...{ tenant_id: 'alpha', created_by: 'ann', created_at: at, updated_at: at, request_digest: '' },
    label: { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'alpha' },
    ...{ dag_id: 'effect__1', name: 'e', connections: [], run_on_deploy: true, delete_on_success: false },
    operators: [{ name: 'ingest_file', params: { file: 'a.csv' }, retries: 2, retry_delay_s: 30, time_limit_s: 60 }],
    ...{ subtype: 'dataeffect', status: 'pending_validation', is_paused: false, dag_digest: '', deployments: 1 },
    ...newJob(principal, started_ms),
  }
}

type LateScheduler = {
  /** Seconds after the deployment at which it finds the DAG, and at which it takes a run of it. */
  readonly lists_s: number
  readonly runs_s: number
  /** What it answers until then; default: that it has no such DAG. */
  readonly refusal?: Refusal
}

async function openWorld(
  { lists_s, runs_s, refusal = refuse('not_found', 'no such DAG') }: LateScheduler,
  findPrincipal: (grant: string) => Promise<Principal | Refusal> = async (subject) => findWorker(subject),
  changeRepository: (passed_s: () => number) => Partial<Pick<LocalRepository, 'propose' | 'check'>> = () => ({}),
) {
  const { store } = openTemporaryStore(effects, dagRuns, taskLogs, jobLeases)
  const time = simulatedTime(started_ms)
  const passed_s = () => (time.now() - started_ms) / 1_000
  const [looks, tries]: number[][] = [[], []]
  let drawn = 0
  const random = (bytes: number) => (++drawn).toString(16).padStart(2 * bytes, '0')
  const scheduler = {
    kind: 'airflow',
    actFor(call: Parameters<typeof embeddedScheduler.actFor>[0]): CallerScheduler {
      const real = embeddedScheduler.actFor(call)
      return Object.assign(Object.create(real), {
        putDag: async () => undefined,
        async findDag(dag: Parameters<CallerScheduler['findDag']>[0]) {
          looks?.push(passed_s())
          if (passed_s() >= lists_s) return await real.findDag(dag)
          if (refusal.code !== 'not_found') throw refusal
          return undefined
        },
        async trigger(...given: Parameters<CallerScheduler['trigger']>) {
          tries?.push(passed_s())
          return passed_s() >= runs_s ? await real.trigger(...given) : refusal
        },
      })
    },
  }
  const parts = new Map<string, unknown>([
    [workflowSchedulerPart.name, scheduler],
    [
      dagRepositoryPart.name,
      { ...trackedRepository(openTemporaryRepository(), time.track), ...changeRepository(passed_s) },
    ],
    [faultPointPart.name, () => undefined],
  ])
  const environment: Partial<RoleEnvironment> = { part: (key) => parts.get(key.name) as never }
  const world: JobWorld = {
    ...{ kind: effectDeploymentJob, environment, time, store, random, findPrincipal },
    leases: ({ now }) => documentLeases({ store, tenant_id: 'alpha', now, random }),
    isCut: () => false,
    onStep: () => undefined,
    decideStep: () => ({ takes_ms: 0, answer: 'done' }),
    decideStall_ms: () => 0,
  }
  await store.create(effects, id, buildEffect())
  const processes: JobProcess[] = []
  return {
    ...{ store, looks: looks ?? [], tries: tries ?? [] },
    pass: (seconds: number) => time.pass(seconds * 1_000),
    start() {
      const process = new JobProcess(`process-${processes.length}`, world)
      processes.push(process)
      return process
    },
    read: async () => (await store.get(effects, id))?.value,
    listRuns: async () => (await store.list(dagRuns, { limit: 9 })).docs.map((doc) => doc.id),
    async end() {
      for (const process of processes) process.stop()
      await time.pass(600_000)
    },
  }
}

/** Between attempts, in seconds; a process looks for due work every five. */
const gaps = (times: readonly number[]) => times.slice(1).map((time, index) => time - (times[index] ?? 0))
const never = Number.POSITIVE_INFINITY

test('the DAG is looked for every 10 s, and its run is triggered once it is there', async () => {
  const world = await openWorld({ lists_s: 35, runs_s: 0 })
  world.start()
  await world.pass(31)
  expect(await world.read()).toMatchObject({ status: 'active', auto_start: { phase: 'checking' } })
  expect(await world.listRuns()).toEqual([])
  await world.pass(60)
  expect(world.looks).toHaveLength(5)
  for (const gap of gaps(world.looks)) expect(gap).toBeGreaterThanOrEqual(10)
  expect(world.tries).toHaveLength(1)
  expect(await world.listRuns()).toEqual([`${id}.deploy__1`])
  const ended = await world.read()
  expect(ended).toMatchObject({ status: 'active', job: { state: 'completed' } })
  expect(ended?.auto_start).toBeUndefined()
  expect(ended?.fault).toBeUndefined()
  await world.end()
})

test('a DAG that is not found in 200 s is triggered anyhow, in 24 tries 15 s apart, and then left with the reason', async () => {
  const world = await openWorld({ lists_s: never, runs_s: never })
  world.start()
  await world.pass(1_200)
  expect(world.looks).toHaveLength(21)
  expect(world.tries).toHaveLength(24)
  for (const gap of gaps(world.looks)) expect(gap).toBeGreaterThanOrEqual(10)
  for (const gap of gaps(world.tries)) expect(gap).toBeGreaterThanOrEqual(15)
  expect(world.tries[0]).toBeGreaterThanOrEqual(200)
  // Each attempt may be as late as the process looks for work.
  expect(world.tries.at(-1)).toBeLessThanOrEqual(200 + 23 * 15 + 45 * 5)
  const fault = { reason: 'the first run was not triggered in 24 tries: no such DAG' }
  expect(await world.read()).toMatchObject({ status: 'error', fault, dag: { dag_id: 'effect__1' } })
  expect((await world.read())?.job.principal).not.toHaveProperty('grant')
  expect(await world.listRuns()).toEqual([])
  await world.end()
})

test('a scheduler that does not answer is waited for in the same way', async () => {
  const world = await openWorld({ lists_s: 20, runs_s: 60, refusal: refuse('unavailable', 'no answer') })
  world.start()
  await world.pass(200)
  expect(world.tries.length).toBeGreaterThan(1)
  expect(await world.listRuns()).toEqual([`${id}.deploy__1`])
  await world.end()
})

test('a process that is killed during the wait loses no attempts, and no run is triggered twice', async () => {
  const world = await openWorld({ lists_s: 60, runs_s: 100 })
  for (let killed = 0; killed < 4; killed += 1) {
    const process = world.start()
    await world.pass(27)
    process.kill()
  }
  world.start()
  await world.pass(900)
  expect(await world.listRuns()).toEqual([`${id}.deploy__1`])
  expect(await world.read()).toMatchObject({ status: 'active', job: { state: 'completed' } })
  await world.end()
})

test('a principal without rights ends the wait with the reason, and no run', async () => {
  let isRevoked = false
  const revoked = refuse('forbidden', 'ann was revoked')
  const world = await openWorld({ lists_s: 60, runs_s: 60 }, async (who) => (isRevoked ? revoked : findWorker(who)))
  world.start()
  await world.pass(30)
  isRevoked = true
  await world.pass(300)
  expect(await world.read()).toMatchObject({
    status: 'error',
    fault: { reason: expect.stringContaining('ann was revoked') },
  })
  expect((await world.read())?.auto_start).toBeUndefined()
  expect(await world.listRuns()).toEqual([])
  await world.end()
})

test('a deployment that waits gives way to the next one, whose run alone is triggered', async () => {
  const world = await openWorld({ lists_s: 120, runs_s: 120 })
  world.start()
  await world.pass(30)
  const changed = await world.store.update(asManaged(effects), id, ({ value }) => {
    const refused = refuseInStep(value)
    const next = { ...value, ...beginAgain(value, principal, started_ms + 30_000), deployments: 2 }
    return { next: { ...next, status: 'pending_validation' as const }, answer: refused }
  })
  expect(changed).toMatchObject({ answer: undefined })
  await world.pass(600)
  expect(await world.listRuns()).toEqual([`${id}.deploy__2`])
  await world.end()
})

test('a check that ends late is waited for without a process, and its rejection ends the deployment', async () => {
  const reason = `line 3 is wrong ${'!'.repeat(9_999)}`
  const found: DagCheck[] = [{ state: 'passed' }, { state: 'rejected', reason, line: 3 }]
  for (const end of found) {
    const checked_s: number[] = []
    const world = await openWorld({ lists_s: 0, runs_s: 0 }, undefined, (passed_s) => ({
      async check() {
        checked_s.push(passed_s())
        return passed_s() >= 100 ? end : { state: 'pending', reason: 'queued' }
      },
    }))
    const process = world.start()
    await world.pass(50)
    process.kill()
    expect(await world.read()).toMatchObject({ status: 'pending_validation', proposal: { reason: 'queued' } })
    await world.pass(40)
    world.start()
    await world.pass(100)
    for (const gap of gaps(checked_s)) expect(gap).toBeGreaterThanOrEqual(10)
    const isPassed = end.state === 'passed'
    const fault = { reason: expect.stringMatching(/^line 3 is wrong !{1,4000}…$/), line: 3, commit: expect.any(String) }
    expect(await world.read()).toMatchObject(isPassed ? { status: 'active' } : { status: 'rejected', fault })
    expect(await world.listRuns()).toHaveLength(isPassed ? 1 : 0)
    expect((await world.read())?.proposal).toBeUndefined()
    await world.end()
  }
})

test('a repository that does not answer for 200 s ends the deployment with the reason', async () => {
  const world = await openWorld({ lists_s: 0, runs_s: 0 }, undefined, () => ({
    propose: async () => await Promise.reject(refuse('unavailable', 'the git host does not answer')),
  }))
  world.start()
  await world.pass(150)
  expect(await world.read()).toMatchObject({ status: 'pending_validation' })
  await world.pass(300)
  const fault = { reason: expect.stringContaining('the git host does not answer') }
  expect(await world.read()).toMatchObject({ status: 'error', fault })
  await world.end()
})
