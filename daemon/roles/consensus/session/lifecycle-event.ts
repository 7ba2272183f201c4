// Audit events of a session, recorded for the session's tenant, whichever caller changed it.
import type { AuditEvent } from '../../../kernel/audit/audit-chain.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { StoredSession } from './model.ts'

/** Workers and carriers act as a service of the site without a tenant; the event belongs to the session's tenant. */
export function lifecycleEvent(
  call: Call,
  action: string,
  session: Pick<StoredSession, 'id' | 'tenant_id' | 'label'>,
  detail: Readonly<Record<string, unknown>>,
  target = session.id,
): AuditEvent {
  return { ...call.audited(action, target, detail, session.label), tenant_id: session.tenant_id }
}
