// Work in threads of this process, one for each job: a job that hangs or grows is ended with its thread, and nothing else is.
import type { Worker } from 'node:worker_threads'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { Compute, ComputeJob } from '../../../daemon/kernel/role/compute.ts'
import type { ComputeThreadMessage } from './run-in-thread.ts'
import { memoryLimitRefusal, startWorker, type ThreadScript, toJobError } from './start-worker.ts'

/** How often the memory of a job is looked at. */
const memory_check_interval_ms = 200

export function threads(script: () => ThreadScript): Compute {
  return { run: (job) => new ComputeAttempt(startWorker(script(), job.input, job.max_memory_bytes), job).outcome }
}

class ComputeAttempt {
  readonly outcome: Promise<unknown>
  readonly #worker: Worker
  #result: { readonly value: unknown } | undefined
  #failure: unknown

  constructor(worker: Worker, job: ComputeJob) {
    this.#worker = worker
    const { signal, timeout_ms, max_memory_bytes } = job
    const abort = () => this.#fail(signal.reason)
    const deadline = setTimeout(() => this.#fail(timeLimitRefusal(timeout_ms)), timeout_ms)
    const watch = setInterval(() => void this.#checkMemory(max_memory_bytes), memory_check_interval_ms)
    worker.on('message', (message: ComputeThreadMessage) => {
      if (message.kind === 'progress') job.report(message.value)
      else this.#result = { value: message.value }
    })
    worker.on('error', (error) => this.#fail(toJobError(error)))
    signal.addEventListener('abort', abort, { once: true })
    this.outcome = new Promise((resolve, reject) => {
      worker.on('exit', () => {
        clearTimeout(deadline)
        clearInterval(watch)
        signal.removeEventListener('abort', abort)
        if (this.#result && this.#failure === undefined) resolve(this.#result.value)
        else reject(this.#failure ?? new Error('the thread ended without an answer'))
      })
    })
    if (signal.aborted) abort()
  }

  /** Large data lies outside the heap, which the engine's own limit does not count. */
  async #checkMemory(memory_bytes: number): Promise<void> {
    const { total_heap_size, external_memory } = await this.#worker.getHeapStatistics().catch(() => emptyHeapStatistics)
    if (total_heap_size + external_memory > memory_bytes) this.#fail(memoryLimitRefusal())
  }

  #fail(reason: unknown): void {
    this.#failure ??= reason
    void this.#worker.terminate()
  }
}

/** Final, since the same work takes as long again. */
function timeLimitRefusal(timeout_ms: number): Refusal {
  return refuse('too_large', `the work takes longer than its limit of ${timeout_ms / 1_000} s`)
}

/** Heap of a thread that has ended. */
const emptyHeapStatistics = { total_heap_size: 0, external_memory: 0 }
