// Parses a protected header with exactly the members `alg`, `kid` and `typ`, each once; all others are refused.
import * as z from 'zod'
import { parseCompactJson } from './encoded-json.ts'

/**
 * Anything more is refused, so `crit`, `b64`, `jwk`, `jku`, `x5c` and `x5u` never reach a decision: a header may not
 * bring its own key, nor change what is signed.
 */
const header = z.strictObject({
  alg: z.string().min(1).max(32),
  kid: z.string().min(1).max(128),
  typ: z.string().min(1).max(64),
})
export type StrictHeader = z.infer<typeof header>

/** Undefined for text that is not canonical base64url of UTF-8 JSON with exactly these members. */
export function parseStrictHeader(encoded: string): StrictHeader | undefined {
  return header.safeParse(parseCompactJson(encoded)).data
}
