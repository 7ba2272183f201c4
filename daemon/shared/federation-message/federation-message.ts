// A peer's message as it reaches a role by any carrier: the signed envelope, and the exact bytes of its body.

import * as z from 'zod'
import { jws } from '../../kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../kernel/error/errors.ts'
import { parseWithSchema } from '../../kernel/error/parsing.ts'
import {
  isReleasableTo,
  isWithinCeiling,
  type Label,
  type LabelPolicy,
  label as labelSchema,
} from '../../kernel/label/label.ts'
import { type LabelMap, translateLabel } from '../../kernel/label/label-map.ts'
import type { MessageKind } from '../../kernel/messaging/message-kind.ts'
import { messageBody, type Statement, unlabelledBody } from '../../kernel/messaging/statement.ts'
import { parseUnlabelledStatement } from '../../kernel/messaging/statement-format.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { runInSlices } from '../../kernel/role/run-in-slices.ts'
import { type VerifiedStatement, verifyStatement } from '../site-message/site-message.ts'
import { readSignedBody } from './signed-body.ts'

export const federationMessageFields = {
  envelope: jws.meta({ description: 'JWS (general JSON serialisation) over the statement' }),
  // By its alphabet alone: z.base64url decodes and converts the text as well, 50 ms for 4 MiB. The digest covers the bytes.
  body: z
    .string()
    .max(6_000_000)
    .regex(/^[A-Za-z0-9_-]*$/)
    .meta({
      format: 'base64url',
      contentEncoding: 'base64url',
      description: 'base64url of the exact bytes of the body',
    }),
}

export const federationMessage = z
  .strictObject(federationMessageFields)
  .meta({ id: 'FederationMessage', description: 'A signed message of a federation peer' })
export type FederationMessage = z.infer<typeof federationMessage>

/** Largest request that carries one: a body of 4 MiB, base64url, and its envelope. */
export const max_message_bytes = 6 * 1_048_576

export type VerifiedFederationMessage<T> = {
  /** The statement as it was signed. */
  readonly statement: Statement
  /** The statement's label in the terms of the site's policy; a classification in the data is translated as well. */
  readonly label: Label
  readonly signer_key_id: string
  /** Name of the transport that moves the messages of this peer. */
  readonly transport: string
  /** Translation of labels of this peer. */
  readonly label_map: LabelMap | undefined
  readonly data: T
  /** The message as it arrived. */
  readonly message: FederationMessage
}

/**
 * Opens a message: checks signature, sender, addressee, freshness, label and digest, and only then reads the body. A body of
 * several MiB takes a turn of the event loop for each stage. Refuses `signature_invalid`, `label_denied`, and `invalid` for a
 * body that is not of the schema.
 */
export async function openFederationMessage<T>(
  call: Call,
  message: FederationMessage,
  kind: MessageKind,
  schema: z.ZodType<T>,
): Promise<VerifiedFederationMessage<T> | Refusal> {
  const claimed = parseUnlabelledStatement(Buffer.from(message.envelope.payload, 'base64url'))
  if (!claimed) return refuse('signature_invalid', 'the message carries no readable signed statement')
  const signed = await verifyStatement(call, claimed.src, message.envelope)
  if (isRefusal(signed)) return signed
  await call.pause()
  const statement = { ...claimed, label: labelSchema.safeParse(claimed.label).data ?? signed.label }
  const bodySchema = signed.is_label_released ? unlabelledBody : messageBody
  const body = await runInSlices(call, readSignedBody(claimed, kind, message.body, bodySchema))
  if (!body)
    return refuse(
      'signature_invalid',
      'the body does not match the signed statement, or is not JSON within the limits of a body',
    )
  const { src: peer, msg_id } = statement
  call.nameTarget({ id: msg_id, label: signed.label, detail: { peer, msg_id } })
  if (!signed.is_label_released && canonicalJson(body.label) !== canonicalJson(statement.label))
    return refuse('label_denied', 'the label of the body differs from the label of the statement')
  if (body.schema !== claimed.body.schema) return refuse('invalid', 'the body names another schema than the statement')
  await call.pause()
  const data = parseWithSchema(schema, body.data)
  if (!data.success) return refuse('invalid', 'the body does not match the schema of its kind', data.errors)
  const carried = translateClassification(data.data, signed, call.site.labels)
  if (isRefusal(carried)) return carried
  const { label, keys, transport, label_map } = signed
  return { statement, label, signer_key_id: keys[0]?.kid ?? '', transport, label_map, data: carried, message }
}

/**
 * Refuses a message that creates an object here for a tenant other than the site's or the caller's; undefined when it
 * is accepted.
 */
export function checkAddressee(call: Call, { receiver_tenant_id }: Statement): Refusal | undefined {
  const { caller, site } = call
  if (receiver_tenant_id !== site.tenant_id)
    return refuse('not_your_tenant', 'the message is for a tenant other than the site’s')
  if (caller.tenant_id === '*' || caller.tenant_id === receiver_tenant_id) return undefined
  return refuse('not_your_tenant', 'the message is for a tenant other than the caller’s')
}

/** The data with the classification that it may carry in the terms of the site's policy. */
function translateClassification<T>(
  data: T,
  { label, label_map }: VerifiedStatement,
  labels: LabelPolicy,
): T | Refusal {
  const { classification: received } = data as { readonly classification?: Label }
  if (!received) return data
  const classification = translateLabel(received, label_map, labels)
  if (isRefusal(classification)) return classification
  if (!isCovered(classification, label, labels))
    return refuse('label_denied', 'the classification in the message is above the label of the message')
  return { ...data, classification }
}

/**
 * The carried classification may be neither above the label that the channel was checked for, nor narrower: otherwise a peer
 * could bring in data above its ceiling, or hide a session from everybody.
 */
function isCovered(classification: Label, outer: Label, labels: LabelPolicy): boolean {
  const audience = outer.releasable_to ?? [outer.originator]
  return (
    isWithinCeiling(outer, classification, labels) && audience.every((name) => isReleasableTo(classification, [name]))
  )
}
