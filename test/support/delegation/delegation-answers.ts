// Reads answers of delegation: what was granted, or why not.
import { isRefusal, type Refusal } from '../../../daemon/kernel/error/errors.ts'

/** Throws a refusal. */
export function accept<T>(value: T | Refusal): T {
  if (isRefusal(value)) throw value
  return value
}

/** `code: message` of a refusal; otherwise `accepted`. */
export async function reasonOf(answer: Promise<unknown>): Promise<string> {
  const value = await answer
  return isRefusal(value) ? `${value.code}: ${value.message}` : 'accepted'
}

/** The claims of a token or grant, unverified. */
export function readClaims(token: string) {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
}
