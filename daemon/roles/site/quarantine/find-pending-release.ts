// Pending requests for a second person, as far as the caller may see them.
import type * as z from 'zod'
import { dominates, type Label } from '../../../kernel/label/label.ts'
import { parseRelease, releaseRequest } from '../../../kernel/messaging/release.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { dismissalRequests, type PendingDismissal, type PendingRelease, releaseRequests } from './model.ts'

/** The requests of both kinds for an item. */
export async function findPendingDecisions(call: Call, item: string): Promise<PendingDecisionView> {
  return { ...(await findPendingRelease(call, item)), ...(await findPendingDismissal(call, item)) }
}

export type PendingDecisionView = PendingReleaseView & { readonly dismissal?: PendingDismissal }

/** Empty without a request, or once it has expired. */
export async function findPendingDismissal(call: Call, item: string): Promise<{ dismissal?: PendingDismissal }> {
  const request = await call.store(dismissalRequests).find(item)
  if (!request || request.value.expires_ts <= call.now()) return {}
  return { dismissal: readPendingDismissal(request) }
}

export function readPendingDismissal({ value }: Doc<z.infer<typeof dismissalRequests.schema>>): PendingDismissal {
  const { tenant_id: _tenant, expires_ts: _expires, ...dismissal } = value
  return dismissal
}

/** Empty without a request, or once it has expired. For a label above the caller it discloses only that a request exists. */
export async function findPendingRelease(call: Call, item: string): Promise<PendingReleaseView> {
  const request = await call.store(releaseRequests).find(item)
  if (!request || request.value.expires_ts <= call.now()) return {}
  const release = readPendingRelease(request)
  return isCleared(call, release.label) ? { release } : { is_release_withheld: true }
}

export type PendingReleaseView = { readonly release?: PendingRelease; readonly is_release_withheld?: true }

type StoredReleaseRequest = z.infer<typeof releaseRequests.schema>

export function readPendingRelease({ value }: Doc<StoredReleaseRequest>): PendingRelease {
  const { tenant_id: _tenant, expires_ts: _expires, ...pending } = value
  const label = parseRelease(releaseRequest, pending.signature)?.label
  return label ? { ...pending, label } : pending
}

/** A person may release a message only under a label that they are cleared for. */
export function isCleared({ caller, site }: Pick<Call, 'caller' | 'site'>, label: Label | undefined): boolean {
  return label === undefined || dominates(caller, label, site.labels)
}
