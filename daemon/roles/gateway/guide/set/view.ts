// A set as administrators see it: where it comes from, and who has decided what about it.
import * as z from 'zod'
import { label } from '../../../../kernel/label/label.ts'
import { hex96 } from '../../../../kernel/messaging/statement.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { acceptanceApproval, acceptanceRequest, decisionSignature, parseDecision } from './decision.ts'
import { type StoredSet, setStatuses } from './model.ts'

export const setId = z.string().min(1).max(128)

const shownDecision = z.strictObject({
  subject: z.string(),
  reason: z.string(),
  artifacts: z.array(z.int()),
  created: z.iso.datetime(),
  digest: hex96.meta({ description: 'SHA-384 of the signed content; an approval names that of its request' }),
  signature: decisionSignature,
})

export const setView = z
  .strictObject({
    id: setId,
    site: z.string().meta({ description: 'The name of this site in signatures' }),
    tenant_id: z.string(),
    status: z.enum(setStatuses),
    peer: z.string().meta({ description: 'The site that made and signed it' }),
    origin_tenant_id: z.string(),
    digest: hex96.meta({ description: 'SHA-384 of the signed manifest: two administrators sign it' }),
    made_at: z.iso.datetime(),
    artifacts: z.int().meta({ description: 'Number of artifacts' }),
    label: label.optional(),
    imported_by: z.string(),
    imported_at: z.iso.datetime(),
    ends: z.iso.datetime().optional().meta({ description: 'When a set that nobody has accepted is removed' }),
    request: shownDecision.optional().meta({ description: 'Waits for another administrator' }),
    approval: shownDecision.optional(),
    rejected: z.strictObject({ actor: z.string(), reason: z.string() }).optional(),
  })
  .meta({ id: 'GuidanceSet' })

export function showSet({ id, value }: Doc<StoredSet>, site: string): z.output<typeof setView> {
  const { status, peer, origin_tenant_id, digest, made_at, artifact_count, importer, create_ts, expires_ts } = value
  const request = value.request && showDecision(acceptanceRequest, value.request)
  const approval = value.approval && showDecision(acceptanceApproval, value.approval)
  return {
    ...{ id, site, tenant_id: value.tenant_id, status, peer, origin_tenant_id, digest, made_at },
    artifacts: artifact_count,
    ...(value.label ? { label: value.label } : {}),
    ...{ imported_by: importer, imported_at: new Date(create_ts).toISOString() },
    ...(status === 'held' && expires_ts !== undefined ? { ends: new Date(expires_ts).toISOString() } : {}),
    ...(request ? { request } : {}),
    ...(approval ? { approval } : {}),
    ...(value.rejected ? { rejected: value.rejected } : {}),
  }
}

function showDecision(
  schema: typeof acceptanceRequest | typeof acceptanceApproval,
  { signature, digest }: NonNullable<StoredSet['request']>,
): z.output<typeof shownDecision> | undefined {
  const decision = parseDecision(
    schema as z.ZodType<z.infer<typeof acceptanceRequest | typeof acceptanceApproval>>,
    signature,
  )
  if (!decision) return undefined
  const { subject, reason, artifacts, created } = decision
  return { subject, reason, artifacts, created, digest, signature }
}
