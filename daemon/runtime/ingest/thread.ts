// Entry point of a thread that performs a task of a DAG, tests a connection, or cuts a dataset for messages; a separate bundle in the executable.
import { runInThread } from '../../../adapters/compute/threads/run-in-thread.ts'
import { providePdfScript } from '../../../adapters/format/pdf/pdf-script.ts'
import type { CutThreadJob } from './sending/cut-dataset.ts'
import type { ProbeThreadJob, TaskThreadJob } from './thread-job.ts'

// An unhandled rejection ends the thread, and with it the task.
void runInThread(async (input, report) => {
  const job = input as TaskThreadJob | ProbeThreadJob | CutThreadJob
  if ('cut' in job) return await (await import('./sending/cut-dataset.ts')).cutDataset(job)
  providePdfScript(job.packedPdf)
  if ('probe' in job) return await (await import('./connection/probe-connection.ts')).probeConnection(job)
  return await (await import('./perform-task.ts')).performTask(job, report)
})
