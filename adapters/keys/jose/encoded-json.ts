// JSON inside a token or signature: base64url of UTF-8 text that two parsers cannot read differently.

import { isCanonicalBase64url } from '../../../daemon/kernel/cryptography/public-jwk.ts'
import { parseExactJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import { parseStrictJson } from '../../../daemon/kernel/encoding/strict-json.ts'

/** Of a token of another issuer. */
const limits = { max_depth: 64 }

/** JSON as this product writes it, without white space; undefined for any other text. */
export function parseCompactJson(encoded: string): unknown {
  if (!isCanonicalBase64url(encoded)) return undefined
  return parseExactJson(Buffer.from(encoded, 'base64url'), JSON.stringify)
}

/** JSON of another issuer: any layout, but no member twice; undefined for any other text. */
export function parseUniqueJson(encoded: string): unknown {
  return isCanonicalBase64url(encoded) ? parseStrictJson(Buffer.from(encoded, 'base64url'), limits) : undefined
}
