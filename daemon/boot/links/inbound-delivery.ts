// Delivers verified messages of the carriers to the operation of the role that takes their kind, and returns the verdict.

import { type Jws, jws, type SignatureType, type VerifiedPayload } from '../../kernel/cryptography/signatures.ts'
import { isRefusal, type Refusal } from '../../kernel/error/errors.ts'
import type { Peers } from '../../kernel/identity/peer.ts'
import type { Label } from '../../kernel/label/label.ts'
import type { DeliveryVerdict, InboundMessage, Transport } from '../../kernel/messaging/transport.ts'
import type { Log } from '../../kernel/telemetry/log.ts'
import { findFailureCause, type ReportThrottle } from '../../kernel/telemetry/report-throttle.ts'
import type { SpanStart } from '../../kernel/telemetry/spans.ts'
import type { Trace } from '../../kernel/telemetry/trace.ts'
import type { VerifiedMessageCache } from '../../roles/site/parts.ts'
import type { RolePresence } from '../host/role-presence.ts'
import { findMessageOperation, findMessageRole } from '../loaded-roles.ts'
import type { RoleCaller } from '../role-caller.ts'

/** Caches a message during its delivery, so that the receiver does not verify the same signature again. */
export function verifiedMessageCache(): VerifiedMessageCache & {
  retainDuring<T>(message: InboundMessage, peers: Peers, action: () => Promise<T>): Promise<T>
} {
  const cache = new Map<string, VerifiedPayload & { label: Label; is_label_released: boolean }>()
  const keyOf = (peer: string, envelope: Jws) => `${peer}\n${JSON.stringify(envelope)}`
  return {
    find: (peer: string, type: SignatureType, envelope: Jws) =>
      type === 'statement' ? cache.get(keyOf(peer, envelope)) : undefined,
    async retainDuring(message, peers, action) {
      const envelope = jws.parse(JSON.parse(message.envelope))
      const peer = await peers.get(message.statement.src)
      // If the key was revoked since the carrier verified it, the receiver verifies again.
      const keys = (peer?.keys ?? []).filter((key) => key.kid === message.signer_key_id && key.status !== 'revoked')
      if (keys.length === 0) return await action()
      const key = keyOf(message.statement.src, envelope)
      const payload = new Uint8Array(Buffer.from(envelope.payload, 'base64url'))
      cache.set(key, { payload, keys, label: message.label, is_label_released: message.is_label_released ?? false })
      try {
        return await action()
      } finally {
        cache.delete(key)
      }
    },
  }
}

/** Span of a delivery: identifies the message, without its content. */
export function buildDeliverySpan(
  transport: Transport['name'],
  { statement }: InboundMessage,
  trace: Trace,
): SpanStart {
  const attributes = {
    'messaging.system': transport,
    'messaging.operation.type': 'process',
    'messaging.message.id': statement.msg_id,
    'platform.peer': statement.src,
    'platform.kind': statement.kind,
  }
  return { trace, name: `deliver ${statement.kind}`, kind: 'consumer', attributes }
}

/**
 * Delivers as the site's service. A message that cannot be processed now gets the verdict `later`, and one for a role that
 * the site does not run `set_aside`, so none is lost.
 */
export function inboundDelivery(callRole: RoleCaller, isPresent: RolePresence, log: Log, throttle: ReportThrottle) {
  return async (message: InboundMessage, trace: Trace): Promise<DeliveryVerdict> => {
    const { kind, src, msg_id } = message.statement
    const role = findMessageRole(kind)
    if (role && !(await isPresent(role.name)))
      return {
        verdict: 'set_aside',
        detail: `this site does not run role ${role.name}, which takes messages of kind ${kind}`,
      }
    const operation = role && (await findMessageOperation(role, kind))
    if (!operation) return { verdict: 'refused', code: 'not_found', detail: `no role takes messages of kind ${kind}` }
    try {
      const body = Buffer.from(message.body_text).toString('base64url')
      await callRole(operation, { envelope: JSON.parse(message.envelope), body }, trace)
      return { verdict: 'applied' }
    } catch (error) {
      if (isRefusal(error) && isFinalRefusal(error)) {
        return { verdict: 'refused', code: error.code, detail: error.message }
      }
      const times = throttle(`${src} ${kind} ${findFailureCause(error)}`)
      const { trace_id, span_id } = trace
      if (times !== undefined)
        log.warn('site.message.deferred', { msg_id, kind, peer: src, times, error: String(error), trace_id, span_id })
      return { verdict: 'later', detail: isRefusal(error) ? error.message : 'the receiving role failed' }
    }
  }
}

/** Whether the refusal concerns the message, and not a temporary fault or the site's own token. */
function isFinalRefusal({ code, row }: Refusal): boolean {
  return !row.retryable && code !== 'internal' && code !== 'unauthenticated'
}
