// A world of processes over one store for a single job or a few: what disturbs them, each test decides.
import { documentLeases } from '../../../adapters/lease/document/document-leases.ts'
import { jobLeases } from '../../../daemon/kernel/job/lease.ts'
import type { Store } from '../../../daemon/kernel/store/store.ts'
import { openTemporaryStore } from '../../support/store/open-temporary-store.ts'
import { findWorker, JobProcess, type JobWorld } from './job-process.ts'
import { type SimulatedTime, simulatedTime } from './simulated-time.ts'
import { buildWork, effects, type StoredWork, works } from './work-job.ts'

export type OpenJobWorld = {
  readonly time: SimulatedTime
  readonly store: Store
  /** Events that the processes logged at level `error`, in order. */
  readonly errors: readonly string[]
  start(): JobProcess
  create(steps: number, id?: string, changes?: Partial<StoredWork>): Promise<void>
  read(id?: string): Promise<StoredWork | undefined>
  /** Stops every process and lets it end. */
  end(): Promise<void>
}

/** All parts work, and every step takes a second, where `changes` says nothing else. */
export function openJobWorld(changes: Partial<JobWorld> = {}): OpenJobWorld {
  const { store } = openTemporaryStore(works, effects, jobLeases)
  const time = simulatedTime(Date.parse('2026-03-02T12:00:00Z'))
  let drawn = 0
  const random = (bytes: number) => (++drawn).toString(16).padStart(2 * bytes, '0')
  const started: JobProcess[] = []
  const errors: string[] = []
  const world: JobWorld = {
    ...{ time, store, random },
    leases: ({ now }) => documentLeases({ store, tenant_id: 'alpha', now, random }),
    findPrincipal: async (subject) => findWorker(subject),
    isCut: () => false,
    onStep: () => undefined,
    onError: (event) => errors.push(event),
    decideStep: () => ({ takes_ms: 1_000, answer: 'done' }),
    decideStall_ms: () => 0,
    ...changes,
  }
  return {
    time,
    store,
    errors,
    start() {
      const process = new JobProcess(`process-${started.length}`, world)
      started.push(process)
      return process
    },
    async create(steps, id = 'job', changes = {}) {
      await store.create(works, id, { ...buildWork(steps, changes.created_by ?? 'ann', time.now()), ...changes })
    },
    read: async (id = 'job') => (await store.get(works, id))?.value,
    async end() {
      for (const process of started) process.stop()
      await time.pass(600_000)
    },
  }
}
