// The body of a federation message: read only when its bytes are the ones that the statement was signed for.

import type * as z from 'zod'
import { sha384 } from '../../kernel/encoding/canonical-json.ts'
import { strictJsonReading } from '../../kernel/encoding/strict-json.ts'
import { bodyLimits } from '../../kernel/messaging/body-limits.ts'
import type { MessageKind } from '../../kernel/messaging/message-kind.ts'
import type { UnlabelledStatement } from '../../kernel/messaging/statement-format.ts'

/**
 * A computation for `runInSlices`. `body`: base64url of the bytes. Undefined when kind, length, digest or schema do not match,
 * or the bytes are not JSON within the limits of a body.
 */
export function* readSignedBody<T>(
  statement: Pick<UnlabelledStatement, 'kind' | 'body'>,
  kind: MessageKind,
  body: string,
  schema: z.ZodType<T>,
): Generator<undefined, T | undefined, undefined> {
  const bytes = Buffer.from(body, 'base64url')
  const signed = statement.body
  yield
  if (statement.kind !== kind || signed.length !== bytes.length || signed.sha384 !== sha384(bytes)) return undefined
  yield
  const read = yield* strictJsonReading(bytes, bodyLimits)
  yield
  return read.outcome === 'value' ? schema.safeParse(read.value).data : undefined
}
