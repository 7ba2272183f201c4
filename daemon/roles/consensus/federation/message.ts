// A peer's message as it reaches this role by any carrier: the signed envelope, and the exact bytes of its body.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { canonical, sha384 } from '../../../kernel/canonical.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { jws } from '../../../kernel/keys.ts'
import { type Label, type LabelPolicy, releasableTo, within } from '../../../kernel/label.ts'
import { fieldErrors } from '../../../kernel/problem.ts'
import { type MessageKind, messageBody, type Statement, statement } from '../../../kernel/transport.ts'

export const federationMessage = z
  .strictObject({
    envelope: jws.meta({ description: 'JWS (general JSON serialisation) over the statement' }),
    body: z.base64url().max(6_000_000).meta({ description: 'base64url of the exact bytes of the body' }),
  })
  .meta({ id: 'FederationMessage', description: 'A signed message of a federation peer' })
export type FederationMessage = z.infer<typeof federationMessage>

/** Largest request that carries one: a body of 4 MiB, base64url, and its envelope. */
export const max_message_bytes = 6 * 1_048_576

export type Sent<T> = {
  readonly statement: Statement
  readonly signer_key_id: string
  /** The carrier that the channel belongs to. */
  readonly transport: string
  readonly data: T
}

/**
 * What the message says, once its signature, sender, addressee, freshness, label and digest hold. Nothing is read from
 * a body before that. Refuses `signature_invalid`, `label_denied`, and `invalid` for a body that is not of the schema.
 */
export async function opened<T>(
  call: Call,
  given: FederationMessage,
  kind: MessageKind,
  schema: z.ZodType<T>,
): Promise<Sent<T> | Refused> {
  const claimed = jsonOf(statement, Buffer.from(given.envelope.payload, 'base64url'))
  if (!claimed) return refuse('signature_invalid', 'the message carries no readable signed statement')
  const signed = await call.verifyFromPeer(claimed.src, 'statement', given.envelope)
  if (isRefused(signed)) return signed
  const bytes = Buffer.from(given.body, 'base64url')
  const isWhole = claimed.kind === kind && claimed.body.length === bytes.length && claimed.body.sha384 === sha384(bytes)
  const body = isWhole ? jsonOf(messageBody, bytes) : undefined
  if (!body) return refuse('signature_invalid', 'the body is not the one that was signed for')
  if (canonical(body.label) !== canonical(claimed.label))
    return refuse('label_denied', 'the label of the body is not that of the statement')
  if (body.schema !== claimed.body.schema) return refuse('invalid', 'the body names another schema than the statement')
  const data = schema.safeParse(body.data)
  if (!data.success) return refuse('invalid', 'the body is not what this kind of message says', fieldErrors(data.error))
  if (!isCovered(data.data, claimed.label, call.site.labels))
    return refuse('label_denied', 'what the message carries is labelled above the message')
  const [transport = ''] = claimed.channel.split('/')
  return { statement: claimed, signer_key_id: signed.keys[0]?.kid ?? '', transport, data: data.data }
}

/**
 * The carried classification may be neither above the label that the channel was asked about, nor narrower: a peer could
 * otherwise bring in what its ceiling forbids, or take a session out of everybody's sight.
 */
function isCovered(data: unknown, outer: Label, labels: LabelPolicy): boolean {
  const { classification } = data as { readonly classification?: Label }
  if (!classification) return true
  const audience = outer.releasable_to ?? [outer.originator]
  return within(outer, classification, labels) && audience.every((name) => releasableTo(classification, [name]))
}

function jsonOf<T>(schema: z.ZodType<T>, bytes: Buffer): T | undefined {
  try {
    return schema.safeParse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))).data
  } catch {
    return undefined
  }
}
