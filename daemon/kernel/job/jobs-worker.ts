// The worker that runs the jobs of a role: takes turns among owners, within the limits of each kind.
import { isRefusal } from '../error/errors.ts'
import type { Call } from '../operation/call.ts'
import { FairTurns } from '../role/fair-turns.ts'
import type { Worker } from '../role/role.ts'
import { findFirstDue } from '../store/find-first-due.ts'
import type { Doc } from '../store/store.ts'
import { type AnyJobKind, type JobDocument, jobs_topic, jobs_worker, leaseKeyOf, turnOwnerOf } from './job.ts'
import type { JobEnvironment } from './job-environment.ts'
import { performJob } from './perform-job.ts'
import { StartFailures } from './start-failures.ts'

/** Another process may make a job due without an announcement here. */
const poll_interval_ms = 1_000

type ActiveJob = { readonly tenant_id: string; readonly ended: Promise<void> }
/** By their leases. */
type ActiveJobs = Map<string, ActiveJob>

export function jobsWorker(kinds: readonly AnyJobKind[], environment: JobEnvironment): Worker {
  const turns = new Map(kinds.map((kind) => [kind.name, new FairTurns()] as const))
  const failures = new StartFailures(environment.role)
  return {
    name: jobs_worker,
    when: { every_ms: 5_000 },
    async run(call) {
      const active = new Map(kinds.map((kind): [string, ActiveJobs] => [kind.name, new Map()]))
      try {
        for await (const _ of call.changes(jobs_topic, call.signal, poll_interval_ms)) {
          for (const kind of kinds) {
            const [running = new Map(), fair = new FairTurns()] = [active.get(kind.name), turns.get(kind.name)]
            // One kind or one outage must not keep the others, and what runs now, from starting later.
            await startDueJobs(call, kind, { environment, running, turns: fair, failures }).then(
              () => failures.clear(kind),
              (error: unknown) => failures.report(call, kind, error),
            )
          }
          if ([...active.values()].every(({ size }) => size === 0)) break
        }
      } finally {
        await Promise.all([...active.values()].flatMap((running) => [...running.values()].map(({ ended }) => ended)))
      }
    },
  }
}

type KindTurns = {
  readonly environment: JobEnvironment
  readonly running: ActiveJobs
  readonly turns: FairTurns
  readonly failures: StartFailures
}

/** Starts jobs until the limits of the kind are reached or nothing is due that another process does not hold. */
async function startDueJobs(call: Call, kind: AnyJobKind, state: KindTurns): Promise<void> {
  const { running, turns } = state
  const { at_once, at_once_per_tenant } = kind.limits(call)
  /** Leases and, since a job that cannot start keeps its lease from no other, ids. */
  const [tried, broken] = [new Set<string>(), new Set<string>()]
  const isTaken = (lease: string) => running.has(lease) || tried.has(lease)
  const choice = {
    isOpen: (tenant_id: string) => countTenant(running, tenant_id) < at_once_per_tenant,
    isFree: (doc: Doc<JobDocument>) => !broken.has(doc.id) && !isTaken(leaseKeyOf(kind, doc)),
    owner: kind.serial_by,
  }
  while (running.size < at_once && !call.signal.aborted) {
    const due = { job_due_ts: { lte: call.now() } }
    const found = await findFirstDue(call.store<JobDocument>(kind.collection), due, choice)
    const next = turns.take(found, (doc) => turnOwnerOf(kind, doc))
    if (!next) return
    if (await startJob(call, kind, next, state)) tried.add(leaseKeyOf(kind, next))
    else broken.add(next.id)
  }
}

/**
 * Takes the lease of a job and runs it, unless another process holds it; false for a job that cannot start. Throws while
 * leases or store do not answer.
 */
async function startJob(
  call: Call,
  kind: AnyJobKind,
  doc: Doc<JobDocument>,
  { environment, running, failures }: KindTurns,
): Promise<boolean> {
  try {
    const begun = await performJob(call, kind, doc, environment)
    failures.clear(kind, doc.id)
    if (!begun) return true
    const key = leaseKeyOf(kind, doc)
    const ended = begun.ended.finally(() => {
      running.delete(key)
      call.announce(jobs_topic)
    })
    running.set(key, { tenant_id: doc.value.tenant_id, ended })
    return true
  } catch (error) {
    if (isRefusal(error) && error.row.retryable) throw error
    // Of this job alone.
    failures.report(call, kind, error, doc.id)
    return false
  }
}

function countTenant(running: ActiveJobs, tenant_id: string): number {
  return [...running.values()].filter((job) => job.tenant_id === tenant_id).length
}
