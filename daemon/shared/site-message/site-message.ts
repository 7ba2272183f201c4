// Sending messages to peers and verifying theirs: contracts of the site role.

import * as z from 'zod'
import { documentType } from '../../kernel/cryptography/document-type.ts'
import { type Jws, jws, type PublicKey, publicKey, type VerifiedPayload } from '../../kernel/cryptography/signatures.ts'
import { isRefusal, type Refusal } from '../../kernel/error/errors.ts'
import { type Label, label } from '../../kernel/label/label.ts'
import { type LabelMap, labelMap } from '../../kernel/label/label-map.ts'
import { messageKind } from '../../kernel/messaging/message-kind.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { type ContractInput, operationContract, throwRefusal } from '../../kernel/operation/operation-contract.ts'

export const sendSiteMessage = operationContract({
  address: 'site.message.send',
  input: z.strictObject({
    peer: z.string().min(1).max(64),
    event_id: z.string().min(1).max(512).meta({ description: 'A repeat with the same id finds the same message' }),
    kind: messageKind.meta({ description: 'A kind that a role takes' }),
    schema: z.string().min(1).max(128),
    body: z.record(z.string(), z.unknown()),
    label,
    parent_block_ids: z.array(z.string()).max(64),
  }),
  output: z
    .strictObject({ msg_id: z.string(), epoch: z.int(), seq: z.int() })
    .meta({ id: 'SentMessage', description: 'Position of the message on its channel' }),
})

export const verifyPeerMessage = operationContract({
  address: 'site.message.verify',
  input: z.strictObject({
    peer: z.string().min(1).max(64),
    type: z.union([z.enum(['statement', 'quoted_statement', 'checkpoint']), documentType]).meta({
      description:
        'quoted_statement: of a message to another site, which that site quotes; peer may be this site. Else checkpoint, or a type of document of a role',
    }),
    envelope: jws,
  }),
  output: z
    .strictObject({
      payload: z.string().meta({ description: 'base64url' }),
      keys: z.array(publicKey),
      label: label.optional().meta({ description: 'Of a statement: its label in the terms of this site’s policy' }),
      is_label_released: z
        .boolean()
        .optional()
        .meta({ description: 'People released it under this label, which replaces the label in the message' }),
      transport: z.string().optional().meta({ description: 'Carrier of this peer’s messages' }),
      label_map: labelMap.optional().meta({ description: 'Translation of other labels of this peer' }),
    })
    .meta({ id: 'VerifiedMessage' }),
})

const verifiedStatement = verifyPeerMessage.output.required({ label: true, transport: true })

/** `label`: that of the statement in the terms of the site's policy; `label_map` translates other labels of the peer. */
export type VerifiedStatement = VerifiedPayload & {
  readonly label: Label
  readonly label_map: LabelMap | undefined
  /** People released the message under this label: the labels in body and statement do not count. */
  readonly is_label_released: boolean
  /** Name of the transport that moves the messages of this peer. */
  readonly transport: string
}

/** Hands a message to the site's transport: durable when it resolves; a repeated `event_id` changes nothing. */
export async function sendMessage(
  { roles }: Call,
  message: ContractInput<(typeof sendSiteMessage)['input']>,
): Promise<void> {
  await throwRefusal(roles.request(sendSiteMessage, message))
}

/** Verifies a signature of a peer against its pinned keys. `type`: a checkpoint, or a document of a role. */
export async function verifyFromPeer(
  { roles }: Call,
  peer: string,
  type: string,
  envelope: Jws,
): Promise<VerifiedPayload | Refusal> {
  const message = await roles.request(verifyPeerMessage, { peer, type, envelope })
  return isRefusal(message) ? message : toVerifiedPayload(message)
}

/** Verifies a signed statement of a peer by the same checks as its transport: signature, addressee, freshness and label. */
export async function verifyStatement(
  { roles }: Call,
  peer: string,
  envelope: Jws,
): Promise<VerifiedStatement | Refusal> {
  const answer = await roles.request(verifyPeerMessage, { peer, type: 'statement', envelope })
  if (isRefusal(answer)) return answer
  const message = verifiedStatement.parse(answer)
  const { label: translated, label_map, transport, is_label_released = false } = message
  return { ...toVerifiedPayload(message), label: translated, label_map, transport, is_label_released }
}

/**
 * Verifies a statement that another site quotes as proof, by the keys of its sender: of a peer, or of this site. Neither
 * addressee nor freshness count.
 */
export async function verifyQuotedStatement(
  { roles }: Call,
  sender: string,
  envelope: Jws,
): Promise<VerifiedPayload | Refusal> {
  const message = await roles.request(verifyPeerMessage, { peer: sender, type: 'quoted_statement', envelope })
  return isRefusal(message) ? message : toVerifiedPayload(message)
}

function toVerifiedPayload({ payload, keys }: { payload: string; keys: PublicKey[] }): VerifiedPayload {
  return { payload: new Uint8Array(Buffer.from(payload, 'base64url')), keys }
}
