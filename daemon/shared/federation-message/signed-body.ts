// The body of a federation message: read only when its bytes are the ones that the statement was signed for.

import type * as z from 'zod'
import { sha384 } from '../../kernel/encoding/canonical-json.ts'
import { parseJsonAs } from '../../kernel/encoding/parse-json.ts'
import type { MessageKind } from '../../kernel/messaging/statement.ts'
import type { UnlabelledStatement } from '../../kernel/messaging/statement-format.ts'

/** `body`: base64url of the bytes. Undefined when kind, length, digest or schema do not hold, or the bytes are not JSON. */
export function readSignedBody<T>(
  statement: Pick<UnlabelledStatement, 'kind' | 'body'>,
  kind: MessageKind,
  body: string,
  schema: z.ZodType<T>,
): T | undefined {
  const bytes = Buffer.from(body, 'base64url')
  const signed = statement.body
  if (statement.kind !== kind || signed.length !== bytes.length || signed.sha384 !== sha384(bytes)) return undefined
  return parseJsonAs(schema, bytes)
}
