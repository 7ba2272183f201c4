// Reports that intake pauses, with the files left where they are.
import type { ReceiveContext } from './scan-context.ts'

/** Not the message's fault: intake pauses, for one role or for all. */
export function reportPaused(
  { link, filedrop, trace, noteFailure }: ReceiveContext,
  detail: string,
  role?: string,
): void {
  noteFailure()
  link.trouble.set('in', `intake pauses: ${detail}${role === undefined ? '' : `; messages for role ${role} wait`}`)
  const times = filedrop.throttle(`${link.peer} paused ${role ?? ''}`)
  if (times === undefined) return
  const about = { peer: link.peer, ...(role === undefined ? {} : { role }), times, detail, trace_id: trace.trace_id }
  filedrop.log.warn('filedrop.intake.paused', about)
}
