// The one enrolled person whose key signed: the same rule for contributions and for releases.
import { findSoleSigner, type SoleSignerFault } from '../../../kernel/cryptography/counting-signers.ts'
import type { PublicKey, VerificationFailure, VerifiedPayload } from '../../../kernel/cryptography/signatures.ts'
import type { Person } from '../../../kernel/identity/person.ts'

type PersonalSigner = { readonly person: Person; readonly key: PublicKey }

/** The enrolled person of the one key that counts; `not_one` also for a key of nobody among them. */
export function findPersonalSigner(
  verified: VerifiedPayload | VerificationFailure,
  made: string,
  people: readonly Person[],
): PersonalSigner | SoleSignerFault {
  const key = findSoleSigner(verified, made)
  if (typeof key === 'string') return key
  const person = people.find(({ keys }) => keys.some(({ fingerprint }) => fingerprint === key.fingerprint))
  return person ? { person, key } : 'not_one'
}
