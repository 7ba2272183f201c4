// Opens a peer's message to this role: sender, signature, label and digest are verified before the body is parsed.
import * as z from 'zod'
import type { Jws } from '../../../kernel/cryptography/signatures.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { formatFieldErrors, parseWithSchema } from '../../../kernel/error/parsing.ts'
import type { MessageKind } from '../../../kernel/messaging/message-kind.ts'
import { unlabelledBody } from '../../../kernel/messaging/statement.ts'
import { parseUnlabelledStatement, type UnlabelledStatement } from '../../../kernel/messaging/statement-format.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { runInSlices } from '../../../kernel/role/run-in-slices.ts'
import { federationMessageFields } from '../../../shared/federation-message/federation-message.ts'
import { landDirectMessage } from '../../../shared/federation-message/land-message.ts'
import { readSignedBody } from '../../../shared/federation-message/signed-body.ts'
import { verify } from './verify.ts'

export const deliveredMessage = z.strictObject(federationMessageFields)

/** The message that an operation expects; `description` names it in a refusal, as in `an inventory`. */
export type ExpectedMessage<T> = {
  readonly kind: MessageKind
  readonly schema: string
  readonly data: z.ZodType<T>
  readonly description: string
}

/** Refuses `signature_invalid`, `label_denied` and `invalid`. */
export async function openMessage<T>(
  call: Call,
  message: { readonly envelope: Jws; readonly body: string },
  { kind, schema, data: dataSchema, description }: ExpectedMessage<T>,
): Promise<{ readonly statement: UnlabelledStatement; readonly data: T } | Refusal> {
  const stopped = await landDirectMessage(call, kind, message)
  if (stopped) return stopped
  const { envelope } = message
  const claimed = parseUnlabelledStatement(Buffer.from(envelope.payload, 'base64url'))
  if (!claimed) return refuse('signature_invalid', 'the message carries no readable signed statement')
  const verified = await verify.run(call, { peer: claimed.src, type: 'statement', envelope })
  if (isRefusal(verified)) return verified
  const { src: peer, msg_id } = claimed
  call.nameTarget({ id: msg_id, detail: { peer, msg_id } })
  const body = await runInSlices(call, readSignedBody(claimed, kind, message.body, unlabelledBody))
  if (!body)
    return refuse(
      'signature_invalid',
      'the body does not match the signed statement, or is not JSON within the limits of a body',
    )
  if (claimed.body.schema !== schema || body.schema !== schema)
    return refuse('invalid', `the message does not contain ${description}`)
  const parsed = parseWithSchema(dataSchema, body.data)
  return parsed.success
    ? { statement: claimed, data: parsed.data }
    : refuse('invalid', formatFieldErrors(parsed.errors))
}
