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
  const store = call.store(guideAudits)
  if (await store.find(id)) return
  const { audit_retention_days } = call.settings(guideSettings)
  const { before_version_id: prior } = entry
  const before = prior === undefined ? undefined : await store.find(prior)
  // The feed is in the order of storing: a clock that is set back puts no change of an artifact before the one before it.
  const stored_ts = Math.max(call.now(), (before?.value.update_ts ?? 0) + 1)
  await store.create(id, buildAudit(entry, owner, { retention_days: audit_retention_days, stored_ts }))
}

type StoringTerms = { readonly retention_days: number; readonly stored_ts: number }

function buildAudit({ at, ...entry }: AuditEntry, owner: AuditOwner, terms: StoringTerms): StoredAudit {
  const { tenant_id, label } = owner
  const indefinite = isIndefinite(entry.action)
  const scores = scoreTerms.flatMap((term) =>
    entry.score_decomposition ? [[`score_${term}`, entry.score_decomposition[term]]] : [],
  )
  return {
    tenant_id,
    ...(label ? { label } : {}),
    uds: { timestamp: at, username: entry.actor, visibility: label ? 'label' : 'tenant' },
    ...{ create_ts: at, update_ts: terms.stored_ts, schema_version: 1, ...entry, indefinite },
    ...(indefinite ? {} : { expires_ts: at + terms.retention_days * day_ms }),
    ...Object.fromEntries(scores),
  }
}
