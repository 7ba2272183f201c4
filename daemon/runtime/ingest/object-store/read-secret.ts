// Reads the secret fields of a connection.
import { parseJson } from '../../../kernel/encoding/parse-json.ts'

export function readSecret(secret: string | undefined): unknown {
  return secret === undefined ? {} : parseJson(secret)
}
