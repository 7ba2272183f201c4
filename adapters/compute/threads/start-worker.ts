// Starts worker threads within a memory limit, and names what ended one.
import { Worker } from 'node:worker_threads'
import { refuse } from '../../../daemon/kernel/error/errors.ts'

/** A module file, or the source of a CommonJS module. */
export type ThreadScript = { readonly module: URL } | { readonly source: string }

/** Without the environment: it may hold secrets, and no work needs it. */
export function startWorker(script: ThreadScript, input: unknown, max_memory_bytes: number): Worker {
  const options = {
    workerData: input,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: Math.ceil(max_memory_bytes / 1_048_576) },
  }
  return 'module' in script ? new Worker(script.module, options) : new Worker(script.source, { ...options, eval: true })
}

/** The error of a job whose thread ended with this error. */
export function toJobError(error: unknown): unknown {
  const isOutOfMemory = (error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY'
  const isNoBuffer = error instanceof RangeError && /allocation failed/i.test(error.message)
  return isOutOfMemory || isNoBuffer ? memoryLimitRefusal() : error
}

export function memoryLimitRefusal() {
  return refuse('too_large', 'the work exceeded its memory limit')
}
