// Reports refused connections: counts each one, and logs once a minute per reason, so that a flood cannot fill the log.
import type { AuditEvent } from '../../../daemon/kernel/audit/audit-chain.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import type { Metrics } from '../../../daemon/kernel/telemetry/metrics.ts'
import { reportThrottle } from '../../../daemon/kernel/telemetry/report-throttle.ts'
import { refusedTotal } from './metrics.ts'

export type RefusalReporterOptions = {
  readonly tenant_id: string
  readonly log: Log
  readonly metrics: Pick<Metrics, 'count'>
  readonly record: (events: readonly AuditEvent[]) => Promise<void>
  readonly random: (bytes: number) => string
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** `peer`: whose certificate it was, where that is certain. */
export type RefusalReporter = (
  why: string,
  about?: { readonly peer?: string; readonly from?: string | undefined },
) => void

/** `why` is one of few words: each is a label of the metric. */
export function refusalReporter({
  tenant_id,
  log,
  metrics,
  record,
  random,
  now,
}: RefusalReporterOptions): RefusalReporter {
  const throttle = reportThrottle(now)
  return (why, { peer, from } = {}) => {
    metrics.count(refusedTotal, { why })
    const times = throttle(why)
    if (times === undefined) return
    const detail = { why, times, ...(peer === undefined ? {} : { peer }), ...(from ? { from } : {}) }
    log.warn('mtls.refused', detail)
    const event: AuditEvent = {
      at: new Date(now()).toISOString(),
      action: 'mtls.connection.refused',
      outcome: 'refused',
      tenant_id,
      subject: peer === undefined ? 'stranger' : `peer:${peer}`,
      target: 'mtls',
      trace_id: random(16),
      detail,
    }
    record([event]).catch((error: unknown) => log.error('mtls.refusal.unrecorded', { detail: String(error) }))
  }
}
