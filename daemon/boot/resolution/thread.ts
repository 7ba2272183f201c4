// Where a thread begins that carries out a phase of a run or a deed of an exchange; the executable holds it as a bundle of its own.
import { inThread } from '../../../adapters/compute/threads/thread-side.ts'
import type { DeedJob } from './exchange-deeds.ts'
import type { ThreadJob } from './phases.ts'

// What is thrown is no rejection that anybody handles: it ends the thread, and the job with it.
void inThread(async (input, tell) => {
  const job = input as ThreadJob | DeedJob
  if ('phase' in job) return (await import('./phases.ts')).carryOutPhase(job, tell)
  return (await import('./exchange-deeds.ts')).carryOutDeed(job, tell)
})
