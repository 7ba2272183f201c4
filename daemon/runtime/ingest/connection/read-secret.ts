// The secret fields of a connection, which its template has checked.
import { parseJson } from '../../../kernel/encoding/parse-json.ts'

export function readSecret(secret: string | undefined): unknown {
  return secret === undefined ? {} : parseJson(secret)
}
