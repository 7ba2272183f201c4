// A site with pipelines on a workflow scheduler, embedded or real, for requirements that every scheduler keeps.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { list as dagList } from '../../../daemon/roles/ingest/dag/list.ts'
import { get as getRun } from '../../../daemon/roles/ingest/dag-run/get.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import { noon, type SimulatedClock, simulatedClock } from '../clock/simulated-clock.ts'
import type { CheckedClient } from '../http/checked-client.ts'
import { type ProfileSections, startTestSite, type TestSite } from '../site/test-site.ts'

export type SchedulerWorld = {
  readonly site: TestSite
  readonly person: CheckedClient
  /** Of another tenant. */
  readonly stranger: CheckedClient
  /** Of files that tasks write, in TENANT/PIPELINE. */
  readonly outputs: string
  /** Of data files that pipelines read. */
  readonly files: string
  writeFile(name: string, content: string): void
  end(): Promise<void>
}

export type SchedulerSiteOptions = {
  /** Holds `data`, `outputs` and what else the scheduler uses. */
  readonly folder: string
  readonly profile: ProfileSections
  readonly clock: SimulatedClock
}

/** A clock that runs: waits of the site pass, and tokens count at servers outside. */
export function runningClock(start_ms = Date.now()): SimulatedClock {
  const begun_ms = Date.now()
  const clock = simulatedClock(start_ms)
  const now = () => clock.now() + Date.now() - begun_ms
  return { ...clock, now, in: (ms) => new Date(now() + ms).toISOString() }
}

export async function openSchedulerWorld({ folder, profile, clock }: SchedulerSiteOptions): Promise<SchedulerWorld> {
  const [data, outputs] = [path.join(folder, 'data'), path.join(folder, 'outputs')]
  const { ingest, platform, ...others } = profile
  const site = await startTestSite({
    clock,
    profile: {
      ...others,
      platform: { ...platform, roles: ['site', 'ingest'] },
      ingest: { port: 0, data_folder: data, output_folder: outputs, ...ingest },
    },
  })
  const files = path.join(data, site.tenant)
  mkdirSync(files, { recursive: true })
  return {
    ...{
      site,
      outputs,
      files,
      person: await site.as(),
      stranger: await site.as({ tenant: 'tenant-b', subject: 'eve' }),
    },
    writeFile: (name, content) => writeFileSync(path.join(files, name), content),
    end: () => site.end(),
  }
}

/** The scheduler of the site itself. */
export async function openEmbeddedWorld(): Promise<SchedulerWorld> {
  const folder = mkdtempSync(path.join(tmpdir(), 'scheduler-'))
  const world = await openSchedulerWorld({ folder, profile: {}, clock: runningClock(noon) })
  return {
    ...world,
    async end() {
      await world.end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const [look_ms, patience_ms] = [700, 150_000]

/** Looks as seldom as a server on a busy machine bears. */
export async function waitFor<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  const began = performance.now()
  for (;;) {
    const seen = await look()
    if (seen !== undefined && seen !== false) return seen
    if (performance.now() - began > patience_ms) throw new Error(`it never came true: ${look}`)
    await new Promise((resolve) => setTimeout(resolve, look_ms))
  }
}

/** Tasks as the content of a pipeline. */
export function dagContent(dag_id: string, tasks: readonly object[]): string {
  const usual = { retries: 0, retry_delay_s: 1 }
  return JSON.stringify({ format: 1, dag_id, tasks: tasks.map((task) => ({ ...usual, ...task })) })
}

/** Deploys a pipeline; resolves once the scheduler has its DAG. */
export async function deployTasks(world: SchedulerWorld, dag_id: string, tasks: readonly object[]): Promise<string> {
  const { uid } = await world.person.ok(deploy, { dag_id, content: dagContent(dag_id, tasks) })
  await waitUntilLive(world, uid, dag_id)
  return uid
}

export async function waitUntilLive({ person }: SchedulerWorld, uid: string, dag_id: string): Promise<void> {
  await waitFor(async () => {
    const { status, fault } = await person.ok(get, { uid })
    if (fault) throw new Error(`${dag_id} is ${status}: ${fault.reason}`)
    return status !== 'pending_validation'
  })
  await waitFor(async () => (await person.ok(dagList, {})).items.some((dag) => dag.dag_id === dag_id && dag.is_active))
}

export async function waitUntilOver({ person }: SchedulerWorld, dag_id: string, dag_run_id: string) {
  return await waitFor(async () => {
    const run = await person.ok(getRun, { dag_id, dag_run_id })
    return (run.state === 'success' || run.state === 'failed') && run
  })
}
