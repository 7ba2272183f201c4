// The data of a peer's message to this role, once sender, signature, label and digest hold: nothing is read from a body before.
import * as z from 'zod'
import { type Jws, jws } from '../../../kernel/cryptography/signatures.ts'
import { sha384 } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { formatFieldErrors, parseWithSchema } from '../../../kernel/error/parsing.ts'
import { parseUnlabelledStatement, type UnlabelledStatement } from '../../../kernel/messaging/statement-format.ts'
import { type MessageKind, unlabelledBody } from '../../../kernel/messaging/transport.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { verify } from './verify.ts'

export const deliveredMessage = z.strictObject({
  envelope: jws.meta({ description: 'JWS (general JSON serialisation) over the statement' }),
  body: z.base64url().max(6_000_000).meta({ description: 'base64url of the exact bytes of the body' }),
})

/** What such a message must be; `named`: what a message of another schema is told that it is not. */
export type ExpectedMessage<T> = {
  readonly kind: MessageKind
  readonly schema: string
  readonly data: z.ZodType<T>
  readonly named: string
}

/** Refuses `signature_invalid`, `label_denied` and `invalid`. */
export async function openMessage<T>(
  call: Call,
  given: { readonly envelope: Jws; readonly body: string },
  { kind, schema, data, named }: ExpectedMessage<T>,
): Promise<{ readonly statement: UnlabelledStatement; readonly said: T } | Refusal> {
  const { envelope } = given
  const bytes = Buffer.from(given.body, 'base64url')
  const claimed = parseUnlabelledStatement(Buffer.from(envelope.payload, 'base64url'))
  if (!claimed) return refuse('signature_invalid', 'the message carries no readable signed statement')
  const verified = await verify.run(call, { peer: claimed.src, type: 'statement', envelope })
  if (isRefusal(verified)) return verified
  const { body } = claimed
  const isWhole = claimed.kind === kind && body.length === bytes.length && body.sha384 === sha384(bytes)
  const read = isWhole ? unlabelledBody.safeParse(parseJson(bytes)).data : undefined
  if (!read) return refuse('signature_invalid', 'the body is not the one that was signed for')
  if (body.schema !== schema || read.schema !== schema) return refuse('invalid', `this is no message about ${named}`)
  const parsed = parseWithSchema(data, read.data)
  return parsed.success
    ? { statement: claimed, said: parsed.data }
    : refuse('invalid', formatFieldErrors(parsed.errors))
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}
