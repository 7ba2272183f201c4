// Joins the carriers to the roles: a verified message goes to the operation that takes its kind, and its fate comes back.
import type { Log } from '../kernel/call.ts'
import { isRefused, type Refused } from '../kernel/errors.ts'
import { type Jws, jws, type SignatureType, type Verified } from '../kernel/keys.ts'
import type { Label } from '../kernel/label.ts'
import type { Peers } from '../kernel/peer.ts'
import type { Begun } from '../kernel/spans.ts'
import type { Trace } from '../kernel/trace.ts'
import type { Incoming, Transport, Verdict } from '../kernel/transport.ts'
import type { RecentlyVerified } from '../roles/site/parts.ts'
import type { Ask } from './asking.ts'
import { takerOf } from './operations.ts'

/** Remembers a message while it is being delivered, so that its receiver need not check the same signature again. */
export function recentlyVerified(): RecentlyVerified & {
  during<T>(message: Incoming, peers: Peers, act: () => Promise<T>): Promise<T>
} {
  const held = new Map<string, Verified & { label: Label; is_label_released: boolean }>()
  const keyOf = (peer: string, envelope: Jws) => `${peer}\n${JSON.stringify(envelope)}`
  return {
    find: (peer: string, type: SignatureType, envelope: Jws) =>
      type === 'statement' ? held.get(keyOf(peer, envelope)) : undefined,
    async during(message, peers, act) {
      const envelope = jws.parse(JSON.parse(message.envelope))
      const peer = await peers.get(message.statement.src)
      // Revoked since the carrier looked: then it is for the receiver to look again.
      const keys = (peer?.keys ?? []).filter((key) => key.kid === message.signer_key_id && key.status !== 'revoked')
      if (keys.length === 0) return await act()
      const key = keyOf(message.statement.src, envelope)
      const payload = new Uint8Array(Buffer.from(envelope.payload, 'base64url'))
      held.set(key, { payload, keys, label: message.label, is_label_released: message.is_label_released ?? false })
      try {
        return await act()
      } finally {
        held.delete(key)
      }
    },
  }
}

/** What is told of a delivery: which message by its id, nothing of what it says. */
export function deliveryOf(transport: Transport['name'], { statement }: Incoming, trace: Trace): Begun {
  const attributes = {
    'messaging.system': transport,
    'messaging.operation.type': 'process',
    'messaging.message.id': statement.msg_id,
    'platform.peer': statement.src,
    'platform.kind': statement.kind,
  }
  return { trace, name: `deliver ${statement.kind}`, kind: 'consumer', attributes }
}

/** Delivers as the site's service. Nothing is lost: what cannot be judged now comes `later`. */
export function delivery(ask: Ask, log: Log) {
  return async (message: Incoming, trace: Trace): Promise<Verdict> => {
    const taker = await takerOf(message.statement.kind)
    if (!taker)
      return {
        verdict: 'refused',
        code: 'not_found',
        detail: `no role takes messages of kind ${message.statement.kind}`,
      }
    try {
      const body = Buffer.from(message.body_text).toString('base64url')
      await ask(taker, { envelope: JSON.parse(message.envelope), body }, trace)
      return { verdict: 'applied' }
    } catch (error) {
      if (isRefused(error) && isVerdict(error)) {
        return { verdict: 'refused', code: error.code, detail: error.message }
      }
      const { trace_id, span_id } = trace
      log.warn('site.message.later', { msg_id: message.statement.msg_id, error: String(error), trace_id, span_id })
      return { verdict: 'later', detail: isRefused(error) ? error.message : 'the receiving role failed' }
    }
  }
}

/** Whether the refusal is about the message. That this site's own token does not count now is no fault of its sender. */
function isVerdict({ code, row }: Refused): boolean {
  return !row.retryable && code !== 'internal' && code !== 'unauthenticated'
}
