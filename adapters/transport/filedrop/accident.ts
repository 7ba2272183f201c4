// One file that cannot be handled must not stop the others: the accident is told, and the file is tried again.
import { failureText } from './failure-text.ts'
import type { Desk } from './fate.ts'

/** Undefined when it failed. */
export async function guarded<T>(desk: Desk, file: string, act: () => Promise<T> | T): Promise<T | undefined> {
  try {
    return await act()
  } catch (error) {
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
