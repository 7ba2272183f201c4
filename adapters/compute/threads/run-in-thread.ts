// The messages of a worker thread to the thread that started it.
import { parentPort, workerData } from 'node:worker_threads'

export type ComputeThreadMessage = { readonly kind: 'progress' | 'done'; readonly value: unknown }

/** Does the work that this thread was started for, and ends it. An exception ends the job. */
export async function runInThread(
  work: (input: unknown, report: (progress: unknown) => void) => unknown,
): Promise<void> {
  const say = (message: ComputeThreadMessage) => parentPort?.postMessage(message)
  say({ kind: 'done', value: await work(workerData, (value) => say({ kind: 'progress', value })) })
}
