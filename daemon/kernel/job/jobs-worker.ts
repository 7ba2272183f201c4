// The worker that runs the jobs of a role: takes turns among owners, within the limits of each kind.
import type { Call } from '../operation/call.ts'
import { FairTurns } from '../role/fair-turns.ts'
import type { Worker } from '../role/role.ts'
import { findFirstDue, ownerOf } from '../store/find-first-due.ts'
import type { Doc } from '../store/store.ts'
import { type AnyJobKind, type JobDocument, jobs_topic, jobs_worker } from './job.ts'
import type { JobEnvironment } from './job-environment.ts'
import { performJob } from './perform-job.ts'

/** Another process may make a job due without an announcement here. */
const poll_interval_ms = 1_000

type ActiveJob = { readonly tenant_id: string; readonly ended: Promise<void> }
type ActiveJobs = Map<string, ActiveJob>

export function jobsWorker(kinds: readonly AnyJobKind[], environment: JobEnvironment): Worker {
  const turns = new Map(kinds.map((kind) => [kind.name, new FairTurns()] as const))
  return {
    name: jobs_worker,
    when: { every_ms: 5_000 },
    async run(call) {
      const active = new Map(kinds.map((kind): [string, ActiveJobs] => [kind.name, new Map()]))
      try {
        for await (const _ of call.changes(jobs_topic, call.signal, poll_interval_ms)) {
          for (const kind of kinds) {
            const [running = new Map(), fair = new FairTurns()] = [active.get(kind.name), turns.get(kind.name)]
            await startDueJobs(call, kind, environment, running, fair)
          }
          if ([...active.values()].every(({ size }) => size === 0)) break
        }
      } finally {
        await Promise.all([...active.values()].flatMap((running) => [...running.values()].map(({ ended }) => ended)))
      }
    },
  }
}

/** Starts jobs until the limits of the kind are reached or nothing is due that another process does not hold. */
async function startDueJobs(
  call: Call,
  kind: AnyJobKind,
  environment: JobEnvironment,
  running: ActiveJobs,
  turns: FairTurns,
): Promise<void> {
  const { at_once, at_once_per_tenant } = kind.limits(call)
  const tried = new Set<string>()
  const isFree = ({ id, value }: Doc<JobDocument>) =>
    !running.has(id) && !tried.has(id) && countTenant(running, value.tenant_id) < at_once_per_tenant
  while (running.size < at_once && !call.signal.aborted) {
    const due = await findFirstDue(
      call.store<JobDocument>(kind.collection),
      { job_due_ts: { lte: call.now() } },
      isFree,
    )
    const next = turns.take(due, ownerOf)
    if (!next) return
    tried.add(next.id)
    const held = await holdJob(call, kind, environment, next, running)
    if (!held) continue
  }
}

/** Takes the lease of a job and runs it; false while another process holds it. */
async function holdJob(
  call: Call,
  kind: AnyJobKind,
  environment: JobEnvironment,
  { id, value }: Doc<JobDocument>,
  running: ActiveJobs,
): Promise<boolean> {
  const begun = await performJob(call, kind, id, environment)
  if (!begun) return false
  const ended = begun.ended.finally(() => {
    running.delete(id)
    call.announce(jobs_topic)
  })
  running.set(id, { tenant_id: value.tenant_id, ended })
  return true
}

function countTenant(running: ActiveJobs, tenant_id: string): number {
  return [...running.values()].filter((job) => job.tenant_id === tenant_id).length
}
