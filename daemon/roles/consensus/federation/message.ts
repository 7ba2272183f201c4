// A peer's message as it reaches this role: verified again here, so that no unsigned contribution can enter by any door.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { canonical, sha384 } from '../../../kernel/canonical.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { jws } from '../../../kernel/keys.ts'
import { type MessageKind, type Statement, statement } from '../../../kernel/transport.ts'

export const message = z
  .strictObject({
    transport: z.enum(['filedrop', 'mtls', 'amqp', 'coalition']),
    envelope: z.string().max(65_536).meta({ description: 'The JWS over the statement, exactly as received' }),
    body: z.string().max(4_194_304).meta({ description: 'The body, exactly as received' }),
  })
  .meta({ id: 'TransportMessage', description: 'The signed message that carried this request' })
export type Message = z.infer<typeof message>

export type Sent = { readonly statement: Statement; readonly signer_key_id: string }

const carried = z.looseObject({ data: z.record(z.string(), z.unknown()) })

/** The statement behind the message, once its signature, addressee, digest and body agree with what was asked. */
export async function verified(
  call: Call,
  given: Message,
  kind: MessageKind,
  fields: Readonly<Record<string, unknown>>,
): Promise<Sent | Refused> {
  const envelope = parsed(jws, given.envelope)
  const claimed = envelope && parsed(statement, text(envelope.payload))
  if (!envelope || !claimed) return refuse('signature_invalid', 'the message carries no readable signed statement')
  const signed = await call.verifyFromPeer(claimed.src, 'statement', envelope)
  if (isRefused(signed)) return signed
  const body = parsed(carried, given.body)
  const whole =
    claimed.dst === call.site.name &&
    claimed.kind === kind &&
    claimed.body.sha384 === sha384(given.body) &&
    body !== undefined &&
    canonical(body.data) === canonical(fields)
  if (!whole) return refuse('signature_invalid', 'what is asked is not what the message says')
  return { statement: claimed, signer_key_id: signed.keys[0]?.kid ?? '' }
}

function parsed<T>(schema: z.ZodType<T>, given: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(given)).data
  } catch {
    return undefined
  }
}

function text(payload: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(payload, 'base64url'))
  } catch {
    return ''
  }
}
