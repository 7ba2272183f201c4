// Entry point of a thread that runs a phase of a run or a job of an exchange, or reads a file of records; a separate bundle in the executable.
import { runInThread } from '../../../adapters/compute/threads/run-in-thread.ts'
import type { RowReadingJob } from './arrivals/row-pieces.ts'
import type { ExchangeThreadJob } from './exchange/exchange-jobs.ts'
import type { PhaseThreadJob } from './run-phase.ts'

// An unhandled rejection ends the thread, and with it the job.
void runInThread(async (input, report) => {
  const job = input as PhaseThreadJob | ExchangeThreadJob | RowReadingJob
  if ('reading' in job) return (await import('./arrivals/row-pieces.ts')).readRowPieces(job, report)
  if ('phase' in job) return (await import('./run-phase.ts')).runPhase(job, report)
  return (await import('./exchange/exchange-jobs.ts')).runExchangeJob(job, report)
})
