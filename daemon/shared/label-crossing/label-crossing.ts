// Contracts of the site role's checks if an object with a label may leave for a peer, or enter from one.
import * as z from 'zod'
import { type Refusal, refuse } from '../../kernel/error/errors.ts'
import { type Label, label } from '../../kernel/label/label.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { operationContract, throwRefusal } from '../../kernel/operation/operation-contract.ts'

export const checkPeerCrossing = operationContract({
  address: 'site.peer.crossing',
  input: z.strictObject({ name: z.string().min(1).max(64), label }),
  output: z.strictObject({ allowed: z.boolean(), reason: z.string() }).meta({ id: 'Crossing' }),
})

export const admitPeerLabel = operationContract({
  address: 'site.peer.admission',
  input: z.strictObject({ name: z.string().min(1).max(64), label }),
  output: z
    .strictObject({
      label: label.optional().meta({ description: 'In the terms of this site; absent: the object may not enter' }),
      reason: z.string().optional(),
    })
    .meta({ id: 'Admission' }),
})

/**
 * The refusal of an object of a tenant other than the site's: on a channel a site acts only as its own tenant, which is the
 * one that peers have pinned, so no peer could answer another one.
 */
export function checkChannelTenant({ site }: Call, tenant_id: string): Refusal | undefined {
  if (tenant_id === site.tenant_id) return undefined
  return refuse(
    'not_your_tenant',
    `peers are reached for the tenant of the site alone (${site.tenant_id}); this is an object of ${tenant_id}. Work without peers, or as ${site.tenant_id}`,
  )
}

/** The refusal of an object with this label to the peer; undefined when it may leave. */
export async function checkCrossing({ roles }: Call, peer: string, label: Label): Promise<Refusal | undefined> {
  const { allowed, reason } = await throwRefusal(roles.request(checkPeerCrossing, { name: peer, label }))
  return allowed ? undefined : refuse('label_denied', `the object may not leave for peer ${peer}: ${reason}`)
}

/** The label of an object from the peer in the terms of this site. Refuses `label_denied` for one that may not enter. */
export async function admitLabel({ roles }: Call, peer: string, received: Label): Promise<Label | Refusal> {
  const answer = await throwRefusal(roles.request(admitPeerLabel, { name: peer, label: received }))
  return answer.label ?? refuse('label_denied', answer.reason ?? 'the object may not enter')
}
