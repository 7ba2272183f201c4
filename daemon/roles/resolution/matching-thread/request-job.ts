// Requests jobs of the matching thread for a call: in turn with other callers, and within a computing time.
import type { Call } from '../../../kernel/operation/call.ts'
import type { ResidentCompute } from '../../../kernel/role/compute.ts'
import { part } from '../../../kernel/role/part.ts'
import type { MatchingAnswers, MatchingJobName, MatchingJobs, MatchingQuery } from './matching-jobs.ts'

/** The thread that owns the indexes for lookups and arrivals. */
export const matchingThreadPart = part<ResidentCompute>('matching-thread')

/** Computing time of a job. A lookup has a person who waits for it. */
const max_compute_ms: Readonly<Record<MatchingJobName, number>> = {
  put_records: 30_000,
  normalise: 10_000,
  reform: 30_000,
  look_up: 2_000,
  search_records: 2_000,
  find_sharing: 2_000,
  join_arrivals: 2_000,
  apply_decisions: 60_000,
}

/** More of it for each record that arrived: a batch of many ordinary ones takes longer than a lookup. */
const compute_ms_per_arrival = 200

function findComputeLimit_ms<N extends MatchingJobName>(job: N, input: MatchingJobs[N][0]): number {
  const arrivals = 'waiting' in input ? input.waiting.length : 0
  return max_compute_ms[job] + arrivals * compute_ms_per_arrival
}

/** Throws `Refusal('unavailable')` if too much work waits, or the thread lost its indexes, and `Refusal('too_large')` beyond the computing time. */
export async function requestJob<N extends MatchingJobName>(
  call: Call,
  job: N,
  input: MatchingJobs[N][0],
  answers: MatchingAnswers = {},
): Promise<MatchingJobs[N][1]> {
  const { tenant_id, subject } = call.caller
  const answer = await call.part(matchingThreadPart).run({
    owner: { tenant_id, subject },
    input: { job, input },
    max_compute_ms: findComputeLimit_ms(job, input),
    signal: call.signal,
    onQuery: async (message) => {
      const { query, input: queryInput } = message as MatchingQuery
      const respond = answers[query] as ((input: unknown) => Promise<unknown>) | undefined
      if (!respond) throw new Error(`the job ${job} has no answer to the query ${query}`)
      return await respond(queryInput)
    },
  })
  return answer as MatchingJobs[N][1]
}
