// What a peer's statement must hold besides its signature: sender, addressee, time and label.
import { type Refused, refuse } from '../../../kernel/errors.ts'
import { type LabelPolicy, releasableTo, within } from '../../../kernel/label.ts'
import type { Peer } from '../../../kernel/peer.ts'
import type { Statement } from '../../../kernel/transport.ts'

export type Here = {
  readonly site: string
  /** What this site counts as for releasability. */
  readonly names: readonly string[]
  readonly labels: LabelPolicy
  /** Epoch milliseconds; undefined where no clock can be trusted. */
  readonly now: number | undefined
  readonly skew_s: number
}

/** A channel is named `<carrier>/<src>/<dst>`. */
const carriers: readonly string[] = ['filedrop', 'mtls', 'amqp', 'coalition']

/** Why the statement must not be acted on; undefined when it may. */
export function objection(said: Statement, peer: Peer, here: Here): Refused | undefined {
  if (said.src !== peer.name || said.sender_tenant_id !== peer.tenant_id || said.dst !== here.site) {
    return refuse('signature_invalid', 'the statement is not from this peer to this site')
  }
  const [carrier = '', ...ends] = said.channel.split('/')
  if (!carriers.includes(carrier) || ends.join('/') !== `${said.src}/${said.dst}`) {
    return refuse('signature_invalid', 'the statement names another channel than that of its sender and receiver')
  }
  if (!isFresh(said, here)) return refuse('signature_invalid', 'the message is no longer, or not yet, valid')
  if (!within(peer.ceiling, said.label, here.labels))
    return refuse('label_denied', 'the label is above the channel’s ceiling')
  return releasableTo(said.label, here.names)
    ? undefined
    : refuse('label_denied', 'the label is not releasable to this site')
}

function isFresh({ created, not_after }: Statement, { now, skew_s }: Here): boolean {
  if (now === undefined) return true
  const skew_ms = skew_s * 1_000
  return Date.parse(created) <= now + skew_ms && now <= Date.parse(not_after) + skew_ms
}
