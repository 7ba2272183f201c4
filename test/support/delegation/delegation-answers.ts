// Reads answers of delegation: what was granted, or why not.
import { isRefusal, type Refusal } from '../../../daemon/kernel/error/errors.ts'
import type { WorkPlace } from '../../../daemon/kernel/identity/delegation.ts'

/** Some work that a role has stored. */
export const sampleWork: WorkPlace = { collection: 'fusion_run', id: 'run_1' }

/** The credential of stored work. */
export function grantOf({ grant }: { readonly grant: string }, work = sampleWork) {
  return { grant, work }
}

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
