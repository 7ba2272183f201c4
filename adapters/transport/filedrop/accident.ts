// One file that cannot be handled must not stop the others: the accident is told, and the file is tried again.
import { isRefused } from '../../../daemon/kernel/errors.ts'
import { failureText } from './failure-text.ts'
import type { Desk } from './receiving/fate.ts'

/** Undefined when it failed. `excuse` is called when the disk or the store failed: then no file is to blame. */
export async function guarded<T>(
  desk: Desk,
  file: string,
  act: () => Promise<T> | T,
  excuse: () => void = () => undefined,
): Promise<T | undefined> {
  try {
    return await act()
  } catch (error) {
    if (isOutside(error)) excuse()
    tellFailed(desk, file, error)
    return undefined
  }
}

export function tellFailed({ line, around, trace, failed }: Desk, file: string, error: unknown): void {
  const detail = failureText(error)
  failed()
  line.trouble.set('in', `a message failed, and is tried again: ${detail}`)
  around.log.error('filedrop.message.failed', { peer: line.peer, file, detail, trace_id: trace.trace_id })
}

/** What the machine lacks: room, rights to write, a disk that works, or free descriptors. */
const lacking = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE', 'ENOMEM'])

function isOutside(error: unknown): boolean {
  if (isRefused(error)) return error.code === 'unavailable'
  return error instanceof Error && lacking.has((error as NodeJS.ErrnoException).code ?? '')
}
