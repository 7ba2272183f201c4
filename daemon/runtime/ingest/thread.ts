// Entry point of a thread that performs a task of a DAG; a separate bundle in the executable.
import { runInThread } from '../../../adapters/compute/threads/run-in-thread.ts'
import type { TaskThreadJob } from './thread-job.ts'

// An unhandled rejection ends the thread, and with it the task.
void runInThread(async (input) => (await import('./perform-task.ts')).performTask(input as TaskThreadJob))
