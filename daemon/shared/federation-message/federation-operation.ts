// Declares an operation that takes a signed message of a peer.
import type * as z from 'zod'
import { isRefusal, type Refusal } from '../../kernel/error/errors.ts'
import type { MessageKind } from '../../kernel/messaging/message-kind.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { type Operation, operation } from '../../kernel/operation/operation.ts'
import type { OutputSchema } from '../../kernel/operation/operation-contract.ts'
import {
  federationMessage,
  max_message_bytes,
  openFederationMessage,
  type VerifiedFederationMessage,
} from './federation-message.ts'
import { landDirectMessage } from './land-message.ts'

type FederationOperation<T, O extends OutputSchema> = Pick<Operation, 'summary' | 'path' | 'errors'> & {
  readonly kind: MessageKind
  /** Schema of the data in the body. */
  readonly data: z.ZodType<T>
  readonly output: O
  /** Reads the id of the object that the message is about, for the audit record of a refusal. */
  readonly readObjectId: (data: T) => string
  readonly run: (call: Call, message: VerifiedFederationMessage<T>) => Promise<z.output<O> | Refusal>
}

/**
 * `run` gets the verified message, which has passed the checks of its channel: those of the carrier, or of `landDirectMessage`.
 * `errors` names `signature_invalid` and `label_denied`, which
 * the verification may answer.
 */
export function federationOperation<T, O extends OutputSchema>(
  declaration: FederationOperation<T, O>,
): Operation<typeof federationMessage, O> {
  const { kind, data, run, readObjectId, ...fields } = declaration
  return operation({
    ...fields,
    method: 'POST',
    input: federationMessage,
    message: { kind, data },
    allow: 'federation:deliver',
    max_body_bytes: max_message_bytes,

    async run(call, message) {
      const stopped = await landDirectMessage(call, kind, message)
      if (stopped) return stopped
      const verified = await openFederationMessage(call, message, kind, data)
      if (isRefusal(verified)) return verified
      call.nameTarget({ id: readObjectId(verified.data) })
      return await run(call, verified)
    },
  })
}
