// Takes a message of a peer that arrived by REST into the channel of the peer, as a carrier brings it there.
import * as z from 'zod'
import type { Jws } from '../../kernel/cryptography/signatures.ts'
import { type ErrorCode, errorTable, isRefusal, type Refusal, refuse } from '../../kernel/error/errors.ts'
import { dominates, label } from '../../kernel/label/label.ts'
import type { MessageKind } from '../../kernel/messaging/message-kind.ts'
import { parseUnlabelledStatement } from '../../kernel/messaging/statement-format.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { operationContract } from '../../kernel/operation/operation-contract.ts'
import { federationMessage } from './federation-message.ts'

export const landPeerMessage = operationContract({
  address: 'site.message.land',
  input: federationMessage,
  output: z
    .strictObject({
      outcome: z.enum(['applied', 'refused', 'quarantined', 'waiting']),
      code: z
        .string()
        .meta({ description: 'Problem code of a refusal, or reason of the quarantine; empty if unknown' }),
    })
    .meta({ id: 'LandedMessage' }),
})

/**
 * Lets the message pass the checks, the ledger and the quarantine of its channel, and waits for its outcome. Undefined once it
 * is applied: then a repeat of it changes nothing. The site's own service delivers what has passed them, and passes here.
 */
export async function landDirectMessage(
  call: Call,
  kind: MessageKind,
  { envelope, body }: { readonly envelope: Jws; readonly body: string },
): Promise<Refusal | undefined> {
  if (call.caller.tenant_id === '*') return undefined
  const claimed = parseUnlabelledStatement(Buffer.from(envelope.payload, 'base64url'))
  if (claimed?.kind !== kind)
    return refuse('signature_invalid', `the message carries no readable statement of a ${kind}`)
  if (claimed.receiver_tenant_id !== call.caller.tenant_id)
    return refuse('not_your_tenant', 'the message is for a tenant other than the caller’s')
  const { src: peer, msg_id } = claimed
  if (isAboveClearance(call, claimed.label)) return refuse('not_found', 'there is no such message for the caller')
  call.nameTarget({ id: msg_id, detail: { peer, msg_id } })
  const landed = await call.roles.request(landPeerMessage, { envelope, body })
  if (isRefusal(landed)) return landed
  const { outcome, code } = landed
  if (outcome === 'applied') return undefined
  if (outcome === 'waiting')
    return refuse('unavailable', 'the message is received, and waits for earlier ones of its channel; repeat it later')
  const detail = `the message is in quarantine${code === '' ? '' : `: ${code}`}; see platform filedrop quarantine list`
  if (outcome === 'refused') return refuse(errorCodeOf(code), detail)
  return refuse(code.startsWith('LABEL') ? 'label_denied' : 'signature_invalid', detail)
}

/** A label of another policy is for the site to translate: the operation behind it then checks the caller. */
function isAboveClearance({ caller, site }: Call, claimed: unknown): boolean {
  const { data } = label.safeParse(claimed)
  return data?.policy === site.labels.policy && !dominates(caller, data, site.labels)
}

function errorCodeOf(code: string): ErrorCode {
  return Object.hasOwn(errorTable, code) ? (code as ErrorCode) : 'signature_invalid'
}
