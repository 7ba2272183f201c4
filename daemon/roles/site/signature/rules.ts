// The one enrolled person whose key signed: the same rule for contributions and for releases.
import { findSignerFault, type SignerFault, selectCountingKeys } from '../../../kernel/cryptography/counting-signers.ts'
import type { PublicKey, VerificationFailure, VerifiedPayload } from '../../../kernel/cryptography/signatures.ts'
import type { Person } from '../../../kernel/identity/person.ts'

type PersonalSigner = { readonly person: Person; readonly key: PublicKey }

/** `not_one`: keys of several people count, or several keys of one. */
export type PersonalSignerFault = Exclude<SignerFault, 'too_few'> | 'not_one'

/**
 * The person of the one active key that had not ended when the content was made (RFC 3339). Signatures that do not count
 * spoil nothing.
 */
export function findPersonalSigner(
  verified: VerifiedPayload | VerificationFailure,
  made: string,
  people: readonly Person[],
): PersonalSigner | PersonalSignerFault {
  if (typeof verified === 'string') return verified
  const active = verified.keys.filter(({ status }) => status === 'active')
  if (findSignerFault({ keys: active }, 1, made)) return 'key_ended'
  const [key, secondKey] = selectCountingKeys(active, made)
  const person = people.find(({ keys }) => keys.some(({ fingerprint }) => fingerprint === key?.fingerprint))
  return key && !secondKey && person ? { person, key } : 'not_one'
}
