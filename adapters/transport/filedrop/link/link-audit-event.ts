// The audit event of a link to a peer.
import type { AuditEvent } from '../../../../daemon/kernel/audit/audit-chain.ts'
import type { Label } from '../../../../daemon/kernel/label/label.ts'
import type { Trace } from '../../../../daemon/kernel/telemetry/trace.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import type { FiledropLink } from './filedrop-link.ts'

/**
 * An event of the audit chain about this link. `outcome` is `refused` for a message that was not accepted. `trace` is
 * that of the message; an event about the link alone has a new trace.
 */
export function linkAuditEvent(
  link: FiledropLink,
  action: string,
  target: string,
  detail: Readonly<Record<string, unknown>>,
  { clock, tenant_id, random }: Pick<FiledropContext, 'clock' | 'tenant_id' | 'random'>,
  more: { readonly outcome?: AuditEvent['outcome']; readonly label?: Label; readonly trace?: Trace } = {},
): AuditEvent {
  // In canonical order, in which it is printed fastest.
  return {
    action,
    at: new Date(clock.now()).toISOString(),
    detail,
    ...(more.label ? { label: more.label } : {}),
    outcome: more.outcome ?? 'done',
    subject: `peer:${link.peer}`,
    target,
    tenant_id,
    trace_id: more.trace?.trace_id ?? random(16),
  }
}
