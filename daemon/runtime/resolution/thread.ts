// Where a thread begins that carries out a phase of a run or a deed of an exchange; the executable holds it as a bundle of its own.
import { inThread } from '../../../adapters/compute/threads/thread-side.ts'
import type { ExchangeThreadJob } from './exchange-jobs.ts'
import type { PhaseThreadJob } from './run-phase.ts'

// What is thrown is no rejection that anybody handles: it ends the thread, and the job with it.
void inThread(async (input, tell) => {
  const job = input as PhaseThreadJob | ExchangeThreadJob
  if ('phase' in job) return (await import('./run-phase.ts')).runPhase(job, tell)
  return (await import('./exchange-jobs.ts')).runExchangeJob(job, tell)
})
