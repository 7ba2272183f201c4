// Verifies a peer's message: the signature by its pinned keys, and the statement's sender, addressee, time and label.

import { findSignerFault, selectCountingKeys } from '../../../kernel/cryptography/counting-signers.ts'
import type { Jws, PublicKey, SignatureType, VerifiedPayload } from '../../../kernel/cryptography/signatures.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Peer } from '../../../kernel/identity/peer.ts'
import type { Label } from '../../../kernel/label/label.ts'
import { parseStatement, parseUnlabelledStatement } from '../../../kernel/messaging/statement-format.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { verifyPeerMessage } from '../../../shared/site-message/site-message.ts'
import { carrierOf } from '../carrier-settings.ts'
import { documentTypesPart, peersPart, signaturesPart, verifiedMessageCachePart } from '../parts.ts'
import { filedropSettings } from '../settings.ts'
import { acceptStatement } from './rules.ts'

export const verify = operation({
  summary: 'Verify a signed message of a peer',
  method: 'POST',
  path: '/api/v2/site/message/verify',
  input: verifyPeerMessage.input,
  output: verifyPeerMessage.output,
  errors: ['signature_invalid', 'label_denied'],
  allow: 'message:verify',
  max_body_bytes: 1_048_576,

  async run(call, { peer: name, type, envelope }) {
    const fault = findTypeFault(call, type)
    if (fault) return fault
    if (type === 'quoted_statement') return await verifyQuotedStatement(call, name, envelope)
    const peer = type === 'statement' ? await call.part(peersPart).get(name) : await findSigner(call, name)
    if (!peer) return refuseUnsigned()
    const recent = call.part(verifiedMessageCachePart).find(name, type, envelope)
    const verification = recent ?? (await verifySignature(call, peer, type, envelope))
    if (isRefusal(verification)) return verification
    const payload = Buffer.from(verification.payload).toString('base64url')
    if (type !== 'statement') return { payload, keys: [...verification.keys] }
    const judged = recent?.label ? { label: recent.label, keys: recent.keys } : judgeStatement(call, peer, verification)
    if (isRefusal(judged)) return judged
    const { label, keys } = judged
    const { is_label_released = false } = recent ?? {}
    const transport = carrierOf(peer.name, (section) => call.settings(section))
    const { label_map } = peer
    return { payload, keys: [...keys], label, is_label_released, transport, ...(label_map ? { label_map } : {}) }
  },
})

const messageTypes = ['statement', 'quoted_statement', 'checkpoint']

function findTypeFault(call: Call, type: string): Refusal | undefined {
  const types = [...messageTypes, ...call.part(documentTypesPart).keys()]
  if (types.includes(type)) return undefined
  const errors = [{ path: 'type', message: `must be one of ${types.join(', ')}` }]
  return refuse('invalid', `signatures of type "${type}" are not verified for roles`, errors)
}

/**
 * Verifies a statement that a third site quotes, which was sent to that site: signature and sender, but neither addressee nor
 * freshness. The sender may be this site.
 */
async function verifyQuotedStatement(call: Call, name: string, envelope: Jws) {
  const sender = name === call.site.name ? ownSender(call) : await findSigner(call, name)
  const verification = sender ? await verifySignature(call, sender, 'statement', envelope) : refuseUnsigned()
  if (!sender || isRefusal(verification)) return isRefusal(verification) ? verification : refuseUnsigned()
  const statement = parseUnlabelledStatement(verification.payload)
  if (!statement) return refuse('signature_invalid', 'the signed content is not a statement')
  const { src, dst, channel, sender_tenant_id, created } = statement
  if (src !== name || sender_tenant_id !== sender.tenant_id || channel !== `filedrop/${src}/${dst}`)
    return refuse('signature_invalid', 'the statement is not from this site')
  if (findSignerFault(verification, sender.threshold, created))
    return refuse('signature_invalid', 'too few keys of the sender signed the message before they ended')
  const keys = selectCountingKeys(verification.keys, created)
  return { payload: Buffer.from(verification.payload).toString('base64url'), keys }
}

/**
 * A peer that a message names. Where its channel may not be used its messages wait; those of others that name it do not, or
 * they would block their own channel.
 */
async function findSigner(call: Call, name: string): Promise<Peer | undefined> {
  return (await call.part(peersPart).list()).find((peer) => peer.name === name)
}

type MessageSender = Pick<Peer, 'keys' | 'threshold' | 'tenant_id'>

function ownSender(call: Call): MessageSender {
  return { keys: [...call.part(signaturesPart).publicKeys()], threshold: 1, tenant_id: call.site.tenant_id }
}

async function verifySignature(
  call: Call,
  peer: MessageSender,
  type: SignatureType,
  envelope: Jws,
): Promise<VerifiedPayload | Refusal> {
  const keys = peer.keys.filter((key) => key.use === 'message')
  const verification = await call.part(signaturesPart).verify(type, envelope, keys)
  return typeof verification === 'string' || findSignerFault(verification, peer.threshold, undefined)
    ? refuseUnsigned()
    : verification
}

function refuseUnsigned(): Refusal {
  return refuse('signature_invalid', 'the message carries no valid signature of a pinned key')
}

/** Checks a message that did not arrive by a carrier as a carrier checks it; returns its label and the keys that count. */
function judgeStatement(
  call: Call,
  peer: Peer,
  verified: VerifiedPayload,
): { readonly label: Label; readonly keys: readonly PublicKey[] } | Refusal {
  const statement = parseStatement(verified.payload)
  if (!statement) return refuse('signature_invalid', 'the signed content is not a statement')
  if (findSignerFault(verified, peer.threshold, statement.created))
    return refuse('signature_invalid', 'too few keys of the peer signed the message before they ended')
  const { skew_s, trusted_clock, releasable_names } = call.settings(filedropSettings)
  const { name: site, tenant_id, labels } = call.site
  const names = [tenant_id, ...releasable_names]
  const now = trusted_clock ? call.now() : undefined
  const label = acceptStatement(statement, peer, { site, names, labels, now, skew_s })
  return isRefusal(label) ? label : { label, keys: selectCountingKeys(verified.keys, statement.created) }
}
