// The work of a resident thread in tests: counts jobs, computes endlessly, makes queries, stalls, or ends the thread.
import { runResidentJobs } from '../../../adapters/compute/threads/run-resident-jobs.ts'

let jobs = 0

runResidentJobs(async (input, context) => {
  jobs++
  if (input === 'endless') {
    await context.query('begun')
    for (;;) await context.pause()
  }
  if (input === 'stall') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  if (input === 'exit') process.exit(0)
  if (input === 'fail') throw new Error('broken data')
  if (input === 'query') return await context.query('six times seven')
  return jobs
})
