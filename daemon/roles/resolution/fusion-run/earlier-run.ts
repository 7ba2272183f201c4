// Reads runs that a version without jobs stored.
import { endJob, newJob } from '../../../kernel/job/rules.ts'

const ends = ['completed', 'failed', 'cancelled'] as const

/** The run with the fields of a job; any other value unchanged. An open run waits, since no principal was stored for it. */
export function adoptEarlierRun(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || 'job' in value || !('owes' in value)) return value
  const { owes: _owes, attempts: _attempts, ...run } = value as Readonly<Record<string, unknown>>
  const end = ends.find((state) => state === run.state)
  const idle = newJob(undefined, undefined)
  return { ...run, ...(end ? endJob(idle, end) : idle) }
}
