// Starts worker threads within a memory limit, and names what ended one.
import { getCompileCacheDir } from 'node:module'
import { Worker } from 'node:worker_threads'
import { refuse } from '../../../daemon/kernel/error/errors.ts'

/** A module file, or the source of a CommonJS module. */
export type ThreadScript = { readonly module: URL } | { readonly source: string }

/**
 * Without the environment: it may hold secrets, and no work needs it. The folder in which this process keeps compiled
 * modules, if it does, is that of the thread too.
 */
export function startWorker(script: ThreadScript, input: unknown, max_memory_bytes: number): Worker {
  const compiled = getCompileCacheDir()
  const options = {
    workerData: input,
    env: compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled },
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
