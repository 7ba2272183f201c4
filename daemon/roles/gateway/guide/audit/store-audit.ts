// Stores the audit record of an action, once: under an id that the action determines.
import type { Label } from '../../../../kernel/label/label.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { guideSettings } from '../settings.ts'
import { type AuditEntry, isIndefinite, scoreTerms } from './entry.ts'
import { guideAudits, type StoredAudit } from './model.ts'

const day_ms = 86_400_000

export type AuditOwner = { readonly tenant_id: string; readonly label?: Label | undefined }

/** The same record again is stored already. */
export async function storeAudit(call: Call, id: string, entry: AuditEntry, owner: AuditOwner): Promise<void> {
  const { audit_retention_days } = call.settings(guideSettings)
  await call.store(guideAudits).create(id, buildAudit(entry, owner, audit_retention_days))
}

function buildAudit({ at, ...entry }: AuditEntry, owner: AuditOwner, retention_days: number): StoredAudit {
  const { tenant_id, label } = owner
  const indefinite = isIndefinite(entry.action)
  const scores = scoreTerms.flatMap((term) =>
    entry.score_decomposition ? [[`score_${term}`, entry.score_decomposition[term]]] : [],
  )
  return {
    tenant_id,
    ...(label ? { label } : {}),
    uds: { timestamp: at, username: entry.actor, visibility: label ? 'label' : 'tenant' },
    ...{ create_ts: at, update_ts: at, schema_version: 1, ...entry, indefinite },
    ...(indefinite ? {} : { expires_ts: at + retention_days * day_ms }),
    ...Object.fromEntries(scores),
  }
}
