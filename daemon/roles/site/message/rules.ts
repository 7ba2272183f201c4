// Checks a peer's statement besides its signature: sender, addressee, time and label.

import type { PublicKey } from '../../../kernel/cryptography/signatures.ts'
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

/** The statement's label in the site's own terms, or why the statement must not be acted on. */
export function acceptStatement(statement: Statement, peer: Peer, here: StatementReceiver): Label | Refusal {
  if (statement.src !== peer.name || statement.sender_tenant_id !== peer.tenant_id || statement.dst !== here.site) {
    return refuse('signature_invalid', 'the statement is not from this peer to this site')
  }
  if (statement.channel !== `filedrop/${statement.src}/${statement.dst}`) {
    return refuse('signature_invalid', 'the statement names another channel than that of its sender and receiver')
  }
  if (!isFresh(statement, peer, here))
    return refuse(
      'signature_invalid',
      `the message is not valid at this time: created ${statement.created}, not after ${statement.not_after}`,
    )
  return admitIncomingLabel(statement.label, peer, here.names, here.labels)
}

/** The sender may request a shorter lifetime than enrolment grants, never a longer one. */
function isFresh(
  { created, not_after }: Statement,
  { not_after_days }: Peer,
  { now, skew_s }: StatementReceiver,
): boolean {
  if (now === undefined) return true
  const skew_ms = skew_s * 1_000
  const made = Date.parse(created)
  const end = Math.min(Date.parse(not_after), made + not_after_days * day_ms)
  return made <= now + skew_ms && now <= end + skew_ms
}

/** Whether no key signed it after its own end. */
export function isSignedInKeyLifetime({ created }: Statement, keys: readonly PublicKey[]): boolean {
  const made = Date.parse(created)
  return keys.every(({ not_after }) => not_after === undefined || made <= Date.parse(not_after))
}
