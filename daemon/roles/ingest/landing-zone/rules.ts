// Rules of a landing zone: how finding a file, taking it and its end move the zone.
import type { StoredPrincipal } from '../../../kernel/identity/delegation.ts'
import type { JobFailure } from '../../../kernel/job/job-fields.ts'
import { completeStep, endJob, newJob } from '../../../kernel/job/rules.ts'
import type { StoredLandingZone, TakenFile, WaitingFile } from './model.ts'

/** A run in flight is looked at again after a part of the time that it has taken, within these bounds, in milliseconds. */
const first_look_ms = 1_000
const longest_look_ms = 60_000

type ZoneOwner = Pick<StoredLandingZone, 'tenant_id' | 'label' | 'created_by' | 'updated_at' | 'dag_id'>

/** The zone of a deployment. Claims go on, so that a step for the principal before writes nothing more. */
export function openedZone(
  former: StoredLandingZone | undefined,
  owner: ZoneOwner,
  principal: StoredPrincipal,
  now_ms: number,
): StoredLandingZone {
  const { job, job_due_ts } = newJob(principal, now_ms)
  const empty = { created_at: owner.updated_at, number: 0, landed: 0, duplicates: 0, quarantined: 0 }
  const { fault: _fault, ...kept }: Partial<StoredLandingZone> = former ?? {}
  return { ...empty, ...kept, ...owner, job_due_ts, job: { ...job, claims: former?.job.claims ?? 0 } }
}

/** Numbers are seconds, so that they say when a file came; two of one second differ all the same. */
export function beginArrival(
  zone: StoredLandingZone,
  file: WaitingFile,
  now_ms: number,
  at: string,
): StoredLandingZone {
  const number = Math.max(zone.number + 1, Math.floor(now_ms / 1_000))
  const arrival = { ...file, number, dag_run_id: `arrival__${number}`, found_at: at }
  return completeStep({ ...zone, number, arrival, updated_at: at })
}

export function acceptArrival(zone: StoredLandingZone, { bytes, sha256 }: TakenFile, at: string): StoredLandingZone {
  if (!zone.arrival) return zone
  return completeStep({ ...zone, arrival: { ...zone.arrival, bytes, sha256 }, updated_at: at })
}

/** `end`: absent for a file that its carrier took back. */
export function endArrival(
  zone: StoredLandingZone,
  end: Omit<NonNullable<StoredLandingZone['last']>, 'file' | 'at'> | undefined,
  at: string,
): StoredLandingZone {
  const { arrival, ...rest } = zone
  if (!arrival || !end) return completeStep({ ...rest, updated_at: at })
  const field = end.outcome === 'duplicate' ? 'duplicates' : end.outcome
  const last = { file: arrival.name, ...end, at }
  return completeStep({ ...rest, [field]: rest[field] + 1, last, updated_at: at })
}

/** Ends the zone for a reason that lasts, such as an owner without rights: files wait until the pipeline is deployed again. */
export function failZone(zone: StoredLandingZone, failure: JobFailure, at: string): StoredLandingZone {
  const { code, reason } = failure
  return endJob(zone, 'failed', { fault: { code, reason, at }, updated_at: at }, failure)
}

/** Until a run in flight is looked at again, in milliseconds. */
export function nextLook_ms(found_at: string, now_ms: number): number {
  return Math.min(longest_look_ms, Math.max(first_look_ms, (now_ms - Date.parse(found_at)) / 4))
}
