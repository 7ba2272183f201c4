// A growing source, the disk on which datasets land, and the processes that run its readings, under simulated time.
import { documentLeases } from '../../../adapters/lease/document/document-leases.ts'
import type { DatasetCursor } from '../../../daemon/kernel/data/landed-dataset.ts'
import { canonicalDigest } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { jobLeases } from '../../../daemon/kernel/job/lease.ts'
import { endJob, newJob } from '../../../daemon/kernel/job/rules.ts'
import type { RoleEnvironment } from '../../../daemon/kernel/operation/role-environment.ts'
import type { Store } from '../../../daemon/kernel/store/store.ts'
import { connections, type StoredConnection } from '../../../daemon/roles/ingest/connection/model.ts'
import { pipelines, type StoredPipeline } from '../../../daemon/roles/ingest/datapipeline/model.ts'
import {
  faultPointPart,
  type TaskOutcome,
  type TaskPerformer,
  taskPerformerPart,
} from '../../../daemon/roles/ingest/parts.ts'
import { readCursors } from '../../../daemon/roles/ingest/read-cursor/model.ts'
import { dagRuns, runDocumentId, type StoredDagRun, taskLogs } from '../../../daemon/roles/ingest/runner/model.ts'
import { stopRun } from '../../../daemon/roles/ingest/runner/rules.ts'
import { runJob } from '../../../daemon/roles/ingest/runner/run-job.ts'
import { NewRows } from '../../../daemon/runtime/ingest/connection/new-rows.ts'
import { OpenTries } from '../../../daemon/runtime/ingest/open-tries.ts'
import { assembledDag } from '../../../daemon/shared/assembled-dag/assembled-dag.ts'
import { openTemporaryStore } from '../../support/store/open-temporary-store.ts'
import { findWorker, JobProcess, type JobWorld, ProcessKilledError } from '../jobs/job-process.ts'
import { type SimulatedTime, simulatedTime } from '../jobs/simulated-time.ts'

const started_ms = Date.parse('2026-03-02T12:00:00Z')
const label = { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'alpha' }
const at = new Date(started_ms).toISOString()
const provenance = { tenant_id: 'alpha', label, created_by: 'ann', created_at: at, updated_at: at, request_digest: '' }
const principal = { subject: 'ann', tenant_id: 'alpha', roles: ['worker'], grant: 'ann' }
const dag = assembledDag.parse({
  ...{ format: 1, dag_id: 'people' },
  tasks: [
    { name: 'read', operator: 'ingest_database', params: { connection_id: 'cn_1', table: 't', cursor_column: 'id' } },
  ],
})
const pipeline: StoredPipeline = {
  ...{ ...provenance, request_key: 'req', dag_id: 'people', content: '{}' },
  ...{ pipeline_type: 'assembled', run_on_deploy: false, subtype: 'datapipeline', status: 'active' },
  ...{ is_paused: false, dag, dag_digest: '0'.repeat(64), deployments: 1 },
  ...endJob(newJob(undefined, undefined), 'completed', {}),
}
const connection: StoredConnection = {
  ...{
    ...provenance,
    name: 'source',
    conn_type: 'sqlite',
    config: { file: 'a.db' },
    subtype: 'datapipelineconnection',
  },
}

type Phase = 'before' | 'after'
type WorldOptions = {
  /** Decides before and after each write, of a document or a dataset, whether the process dies there. */
  readonly kill: (phase: Phase) => boolean
  readonly takes_ms?: () => number
  /** Whether the thread of a run that was stopped lands its dataset before it ends. */
  readonly landsAfterAbort?: () => boolean
}

type Row = { readonly value: number; readonly name: string }
type Landing = { readonly names: readonly string[]; readonly cursor: DatasetCursor; readonly digest: string }

/** Datasets by name, which outlive the processes. */
class Disk {
  readonly datasets = new Map<string, Landing>()
  readonly rows: Row[] = []

  read(of: string, base: { readonly dataset: string; readonly digest: string } | undefined): Landing {
    const before = base && this.datasets.get(base.dataset)
    if (base && before?.digest !== base.digest) throw new Error('the base is another dataset')
    const news = new NewRows('id', before?.cursor.position)
    const { from, onRow, onEnd } = news.cursor()
    const found = this.rows.filter(({ value }) => from === undefined || value >= Number(from.value))
    const end = Math.max(...found.map(({ value }) => value))
    for (const { value } of found) onRow(String(value) === from?.value ? 'start' : value === end ? 'end' : 'between')
    const names = news.take(found.map(({ name }) => name))
    if (found.length > 0) onEnd({ type: 'integer', value: String(end) })
    const position = news.position()
    const cursor = { of, ...(base && { after: base.digest }), ...(position && { position }) }
    return { names, cursor, digest: canonicalDigest({ names, cursor }) }
  }
}

export async function openReadingWorld(options: WorldOptions) {
  const { store } = openTemporaryStore(pipelines, connections, dagRuns, taskLogs, readCursors, jobLeases)
  await store.create(pipelines, 'pl_1', pipeline)
  await store.create(connections, 'cn_1', connection)
  const time = simulatedTime(started_ms)
  const disk = new Disk()
  let { kill } = options
  let alive: JobProcess | undefined
  let performer: TaskPerformer | undefined
  const die = () => {
    alive?.kill()
    alive = undefined
  }
  const killAt = (phase: Phase) => {
    if (!alive || !kill(phase)) return
    die()
    throw new ProcessKilledError('killed between two writes')
  }
  let drawn = 0
  const random = (bytes: number) => (++drawn).toString(16).padStart(2 * bytes, '0')
  const environment: Partial<RoleEnvironment> = {
    part: ((key: { readonly name: string }) =>
      key.name === taskPerformerPart.name
        ? performer
        : key.name === faultPointPart.name
          ? () => undefined
          : undefined) as never,
    settings: () => ({ workers: 2, runs_at_once: 2, runs_at_once_per_tenant: 2 }) as never,
  }
  const world: JobWorld = {
    ...{ kind: runJob, environment, time, random, store: mortalStore(store, killAt) },
    leases: ({ now }) => documentLeases({ store, tenant_id: 'alpha', now, random }),
    findPrincipal: async (subject) => findWorker(subject),
    ...{ isCut: () => false, onStep: () => undefined, decideStall_ms: () => 0 },
    decideStep: () => ({ takes_ms: 0, answer: 'done' }),
  }
  let starts = 0
  return {
    time,
    isDead: () => alive === undefined,
    kill: die,
    /** No further death. */
    calm() {
      kill = () => false
    },
    start() {
      const own: { process?: JobProcess } = {}
      performer = openPerformer(disk, time, options, killAt, () => alive !== undefined && alive === own.process)
      own.process = new JobProcess(`process-${++starts}`, world)
      alive = own.process
    },
    /** Some rows of the value of the last one, and some greater ones. */
    grow(count: number) {
      for (let added = 0; added < count; added++) {
        const number = disk.rows.length
        disk.rows.push({ value: Math.floor(number / 2), name: `row ${number}` })
      }
    },
    async trigger(dag_run_id: string) {
      await store.create(dagRuns, runDocumentId('pl_1', dag_run_id), buildRun(dag_run_id, time.now()))
    },
    /** As a person does, whatever the process does meanwhile. */
    async stopSome(count: number) {
      const { docs } = await store.list(dagRuns, { limit: 500, filter: { state: { in: ['queued', 'running'] } } })
      for (const { id } of docs.slice(0, count))
        await store.update(dagRuns, id, ({ value }) => ({ next: stopRun(value, at), answer: undefined }))
    },
    listStates: async () => (await store.list(dagRuns, { limit: 500 })).docs.map(({ value }) => value.state),
    rows: () => disk.rows.map(({ name }) => name).toSorted(),
    landed: () => [...disk.datasets.values()].flatMap(({ names }) => names).toSorted(),
    async end() {
      alive?.stop()
      await time.pass(600_000)
    },
  }
}

function buildRun(dag_run_id: string, now_ms: number): StoredDagRun {
  const created_at = new Date(now_ms).toISOString()
  const { request_digest: _digest, ...own } = provenance
  return {
    ...{
      ...own,
      created_at,
      pipeline: 'pl_1',
      dag_id: 'people',
      dag_run_id,
      dag,
      dag_digest: '0'.repeat(64),
      conf: {},
    },
    ...{ state: 'queued', tasks: [{ name: 'read', tries: 0, failures: 0 }] },
    ...newJob(principal, now_ms),
  }
}

function mortalStore(store: Store, killAt: (phase: Phase) => void): Store {
  return new Proxy(store, {
    get(target, name: keyof Store) {
      const method = target[name] as (...given: unknown[]) => Promise<unknown>
      if (typeof method !== 'function') return method
      if (name !== 'create' && name !== 'update') return method.bind(target)
      return async (...given: unknown[]) => {
        killAt('before')
        const made = await method.apply(target, given)
        killAt('after')
        return made
      }
    },
  })
}

/** Threads of one process: nothing of them lands after its death. */
function openPerformer(
  disk: Disk,
  time: SimulatedTime,
  { takes_ms = () => 5_000, landsAfterAbort = () => true }: WorldOptions,
  killAt: (phase: Phase) => void,
  isAlive: () => boolean,
): TaskPerformer {
  const tries = new OpenTries()
  const outcomeOf = (dataset: string, { cursor, digest, names }: Landing): TaskOutcome => ({
    ...{ log: '', cursor: { of: cursor.of, after: cursor.after } },
    dataset: { dataset, digest, rows: names.length, rejects: 0, bytes: 0, inputs: [] },
  })
  return {
    perform: ({ tenant_id, run, task, cursor }, signal) =>
      tries.track(tenant_id, `${run}/${task.name}`, async () => {
        const name = `${run}/${task.name}`
        const before = disk.datasets.get(name)
        if (before) return outcomeOf(name, before)
        if (!cursor) throw new Error('the task has no cursor')
        const made = disk.read(cursor.of, cursor.base)
        await new Promise<void>((resolve) => {
          time.after(takes_ms(), resolve)
          signal.addEventListener('abort', () => time.after(50, resolve))
        })
        if (!isAlive()) throw new ProcessKilledError('the thread ended with its process')
        if (signal.aborted && !landsAfterAbort()) throw signal.reason
        killAt('before')
        disk.datasets.set(name, made)
        killAt('after')
        signal.throwIfAborted()
        return outcomeOf(name, made)
      }),
    async close(tenant_id, dataset) {
      await tries.close(tenant_id, dataset)
      const landed = disk.datasets.get(dataset)
      return landed && { dataset, digest: landed.digest, cursor: { of: landed.cursor.of, after: landed.cursor.after } }
    },
  }
}
