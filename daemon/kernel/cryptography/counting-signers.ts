// The one judgement of ended and revoked keys: for messages, notes, key sets, epochs, checkpoints, audit exports and tokens.
import type { PublicKey, VerificationFailure, VerifiedPayload } from './signatures.ts'

/** Whether the key had ended by then, in epoch milliseconds: its last instant is its `not_after`. */
export function hasKeyEnded({ not_after }: Pick<PublicKey, 'not_after'>, at: number): boolean {
  return not_after !== undefined && at > Date.parse(not_after)
}

/** The keys that are not revoked. A key revoked under one name is revoked under all. */
export function dropRevokedKeys<K extends PublicKey>(keys: readonly K[]): K[] {
  const revoked = new Set(keys.filter(({ status }) => status === 'revoked').map(({ fingerprint }) => fingerprint))
  return revoked.size === 0 ? [...keys] : keys.filter(({ fingerprint }) => !revoked.has(fingerprint))
}

/**
 * The keys whose signature of an object made at `made` (RFC 3339) counts: those that had not ended, and of root keys only
 * active ones. A signature that does not count does not spoil those that do: anybody may add one.
 */
export function selectCountingKeys<K extends PublicKey>(signers: readonly K[], made: string): K[] {
  const at = Date.parse(made)
  return signers.filter((key) => !hasKeyEnded(key, at) && (key.use !== 'root' || key.status === 'active'))
}

/** `key_ended`: every key that signed had ended before the object was made. */
export type SignerFault = VerificationFailure | 'key_ended' | 'too_few'

/**
 * The fault of the signers of an object; undefined where at least `threshold` distinct keys count. `made`: when the object
 * says that it was made; undefined before that is known.
 */
export function findSignerFault(
  verified: Pick<VerifiedPayload, 'keys'> | VerificationFailure,
  threshold: number,
  made: string | undefined,
): SignerFault | undefined {
  if (typeof verified === 'string') return verified
  const counting = made === undefined ? verified.keys : selectCountingKeys(verified.keys, made)
  if (counting.length === 0) return 'key_ended'
  return new Set(counting.map(({ fingerprint }) => fingerprint)).size >= threshold ? undefined : 'too_few'
}

/** `not_one`: several keys count. */
export type SoleSignerFault = Exclude<SignerFault, 'too_few'> | 'not_one'

/**
 * The one active key that had not ended when the content was made (RFC 3339): a person signs alone, with one key. Signatures
 * that do not count spoil nothing.
 */
export function findSoleSigner(
  verified: Pick<VerifiedPayload, 'keys'> | VerificationFailure,
  made: string,
): PublicKey | SoleSignerFault {
  if (typeof verified === 'string') return verified
  const [key, secondKey] = selectCountingKeys(verified.keys, made).filter(({ status }) => status === 'active')
  if (!key) return 'key_ended'
  return secondKey ? 'not_one' : key
}
