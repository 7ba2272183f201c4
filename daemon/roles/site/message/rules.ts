// Checks a peer's statement besides its signature: sender, addressee, time and label.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Peer } from '../../../kernel/identity/peer.ts'
import { admitIncomingLabel } from '../../../kernel/label/crossing.ts'
import type { Label, LabelPolicy } from '../../../kernel/label/label.ts'
import type { Statement } from '../../../kernel/messaging/statement.ts'

export type StatementReceiver = {
  readonly site: string
  /** Names of this site for releasability. */
  readonly names: readonly string[]
  readonly labels: LabelPolicy
  /** Epoch milliseconds; undefined where no clock can be trusted. */
  readonly now: number | undefined
  readonly skew_s: number
}

const day_ms = 86_400_000

/** The statement's label in the site's own terms, or the refusal of the statement. */
export function acceptStatement(statement: Statement, peer: Peer, receiver: StatementReceiver): Label | Refusal {
  if (statement.src !== peer.name || statement.sender_tenant_id !== peer.tenant_id || statement.dst !== receiver.site) {
    return refuse('signature_invalid', 'the statement is not from this peer to this site')
  }
  if (statement.channel !== `filedrop/${statement.src}/${statement.dst}`) {
    return refuse('signature_invalid', 'the channel of the statement does not belong to its sender and receiver')
  }
  if (!isFresh(statement, peer, receiver))
    return refuse(
      'signature_invalid',
      `the message is not valid at this time: created ${statement.created}, not after ${statement.not_after}`,
    )
  return admitIncomingLabel(statement.label, peer, receiver.names, receiver.labels)
}

/** The sender may request a shorter lifetime than enrolment grants, never a longer one. */
function isFresh(
  { created, not_after }: Statement,
  { not_after_days }: Peer,
  { now, skew_s }: StatementReceiver,
): boolean {
  if (now === undefined) return true
  const skew_ms = skew_s * 1_000
  const created_ms = Date.parse(created)
  const end = Math.min(Date.parse(not_after), created_ms + not_after_days * day_ms)
  return created_ms <= now + skew_ms && now <= end + skew_ms
}
