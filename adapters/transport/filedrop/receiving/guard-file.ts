// Isolates failures on one file: the failure is reported, the file is retried, and the scan continues.
import { isRefusal } from '../../../../daemon/kernel/error/errors.ts'
import { findFailureCause } from '../../../../daemon/kernel/telemetry/report-throttle.ts'
import { describeFailure } from '../failure-text.ts'
import type { ReceiveContext } from './scan-context.ts'

/** Undefined when it failed. `excuse` is called when the disk or the store failed: then no file is to blame. */
export async function guardFile<T>(
  context: ReceiveContext,
  file: string,
  act: () => Promise<T> | T,
  excuse: () => void = () => undefined,
): Promise<T | undefined> {
  try {
    return await act()
  } catch (error) {
    if (isEnvironmentFailure(error)) excuse()
    reportFailure(context, file, error)
    return undefined
  }
}

export function reportFailure(
  { link, filedrop, trace, noteFailure }: ReceiveContext,
  file: string,
  error: unknown,
): void {
  const detail = describeFailure(error)
  noteFailure()
  link.trouble.set('in', `a message failed, and is tried again: ${detail}`)
  const times = filedrop.throttle(`${link.peer} failed ${findFailureCause(error)}`)
  if (times === undefined) return
  filedrop.log.error('filedrop.message.failed', { peer: link.peer, file, times, detail, trace_id: trace.trace_id })
}

/** Failures of the machine: no room, no rights to write, a failing disk, or no free descriptors. */
const resourceErrorCodes = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE', 'ENOMEM'])

function isEnvironmentFailure(error: unknown): boolean {
  if (isRefusal(error)) return error.code === 'unavailable'
  return error instanceof Error && resourceErrorCodes.has((error as NodeJS.ErrnoException).code ?? '')
}
