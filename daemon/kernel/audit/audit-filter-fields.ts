// The parts of an audit event by which lists are filtered: what every store keeps beside the record.
import { labelKey } from '../label/label.ts'
import type { AuditEvent } from './audit-chain.ts'

/** `at`: epoch milliseconds. */
export function auditFilterFields({ at, tenant_id, action, target, subject, label }: AuditEvent) {
  return { at: Date.parse(at), tenant_id, action, target, subject, label_key: label && labelKey(label) }
}
