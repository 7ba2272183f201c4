// Performs one try of a task in a thread of its own, within its limits of time and memory: for a service, and for a worker's command.
import { rm } from 'node:fs/promises'
import { threads } from '../../../adapters/compute/threads/threads.ts'
import { readPackedPdfScript } from '../../../adapters/format/pdf/pdf-script.ts'
import { readPackedAddon } from '../../../adapters/store/sqlite/addon.ts'
import { faultPointSpec } from '../../boot/host/fault-stop.ts'
import { findThreadScript } from '../../boot/host/thread-script.ts'
import { isRefusal } from '../../kernel/error/errors.ts'
import type { TaskOutcome, TaskWork } from '../../roles/ingest/parts.ts'
import { readPackedDriver } from './connection/source-driver.ts'
import type { SourceSettings, TaskThreadJob } from './thread-job.ts'

/** The threads of this role. */
export const ingestThreads = threads(() =>
  findThreadScript('ingest-thread.cjs', new URL('./thread.ts', import.meta.url)),
)

export type TryOptions = {
  readonly sources: SourceSettings
  readonly datasets: string
  readonly outputs: string
  /** Absent on a worker, which has no landing zones. */
  readonly zones?: string
  /** A new folder of this try alone, on the disk of the datasets; it is removed at the end. */
  readonly drafts: string
  readonly max_memory_mb: number
  readonly signal: AbortSignal
  readonly report: (progress: unknown) => void
}

/** Rejects with the reason of the signal, once the thread has ended. */
export async function performTry(work: TaskWork, options: TryOptions): Promise<TaskOutcome> {
  const { sources, datasets, outputs, zones, drafts, max_memory_mb, signal, report } = options
  const conn_type = work.connection?.conn_type
  const packedAddon = conn_type === 'sqlite' ? readPackedAddon() : undefined
  const packedDriver = conn_type === undefined ? undefined : readPackedDriver(conn_type)
  const input: TaskThreadJob = {
    ...{ ...work, ...sources, packedAddon, packedDriver, packedPdf: readPackedPdfScript() },
    ...{ datasets, outputs, zones, drafts, faultPoint: faultPointSpec },
  }
  try {
    return (await ingestThreads.run({
      ...{ input, signal, report },
      timeout_ms: work.task.time_limit_s * 1_000,
      max_memory_bytes: max_memory_mb * 1_048_576,
    })) as TaskOutcome
  } catch (error) {
    // Beyond a limit: another try would meet it again.
    if (isRefusal(error) && error.code === 'too_large')
      return { log: error.message, failure: { reason: error.message, isFinal: true } }
    throw error
  } finally {
    // Its thread has ended, whatever ended it.
    await rm(drafts, { recursive: true, force: true })
  }
}
