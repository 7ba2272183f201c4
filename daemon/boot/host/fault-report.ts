// Reports the fault that ends the process in its log: an exception that nothing catches, or a rejection that nothing awaits.
import type { Log } from '../../kernel/telemetry/log.ts'

const logs = new Set<Log>()

/** Reports until the returned function is called. Node still ends the process then, with a status that is not 0. */
export function reportFaults(log: Log): () => void {
  if (logs.size === 0) process.on('uncaughtExceptionMonitor', report)
  logs.add(log)
  return () => {
    logs.delete(log)
    if (logs.size === 0) process.off('uncaughtExceptionMonitor', report)
  }
}

function report(fault: unknown, origin: string): void {
  const error = fault instanceof Error ? (fault.stack ?? fault.message) : String(fault)
  for (const log of logs) log.error('platform.fault', { origin, error })
}
