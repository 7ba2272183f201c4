// What befalls a session, as its tenant's auditors must see it, whoever's hand did it.
import type { AuditEvent } from '../../../kernel/audit/audit-chain.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { StoredSession } from './model.ts'

/** Workers and carriers act as the site's own service, of no tenant: the record belongs to the session's. */
export function lifecycleEvent(
  call: Call,
  action: string,
  session: Pick<StoredSession, 'id' | 'tenant_id' | 'label'>,
  detail: Readonly<Record<string, unknown>>,
  target = session.id,
): AuditEvent {
  return { ...call.audited(action, target, detail, session.label), tenant_id: session.tenant_id }
}
