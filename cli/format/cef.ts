// Audit records in the Common Event Format, for a SIEM (ArcSight CEF, revision 25).
import type { AuditRecord } from '../../daemon/kernel/audit/audit-chain.ts'

/** One CEF line. Severity is 3 for an allowed action, 6 for a refused one, 0 for a record whose body has expired. */
export function formatCef({ writer, seq, hash, event }: AuditRecord, version: string): string {
  const severity = event === undefined ? 0 : event.outcome === 'refused' ? 6 : 3
  const action = event?.action ?? 'expired'
  const header = ['CEF:0', 'platform', 'platform', version, action, action, String(severity)]
    .map(escapeCefHeader)
    .join('|')
  const extension: Record<string, string | undefined> = {
    rt: event && String(Date.parse(event.at)),
    suser: event?.subject,
    act: event?.action,
    outcome: event?.outcome,
    deviceExternalId: writer,
    externalId: String(seq),
    cs1Label: event && 'tenant',
    cs1: event?.tenant_id,
    cs2Label: event && 'target',
    cs2: event?.target,
    cs3Label: event && 'trace',
    cs3: event?.trace_id,
    cs4Label: event?.actor && 'actor',
    cs4: event?.actor,
    cs5Label: event?.label && 'classification',
    cs5: event?.label && [event.label.level, ...event.label.categories].join(' '),
    cs6Label: 'recordHash',
    cs6: hash,
    msg: event && JSON.stringify(event.detail),
  }
  const pairs = Object.entries(extension).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return `${header}|${pairs.map(([name, value]) => `${name}=${escapeCefValue(value)}`).join(' ')}`
}

function escapeCefHeader(text: string): string {
  return text.replaceAll(/[\\|]/g, '\\$&').replaceAll(/[\r\n]+/g, ' ')
}

function escapeCefValue(text: string): string {
  return text.replaceAll(/[\\=]/g, '\\$&').replaceAll('\r', '\\r').replaceAll('\n', '\\n')
}
