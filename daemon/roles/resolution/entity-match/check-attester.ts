// Who may attest as whom: the subject itself, or one that the profile lets speak for an enrolled attester.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Caller } from '../../../kernel/identity/identity.ts'

export type Attester = { readonly spoken_for_by: readonly string[]; readonly tenant_id?: string | undefined }

/** Refuses `not_contributor`, always with the same words, so that nobody can probe who is enrolled. */
export function checkAttester(
  caller: Caller,
  attester_id: string,
  enrolled: Readonly<Record<string, Attester>>,
): Refusal | undefined {
  const attester = Object.hasOwn(enrolled, attester_id) ? enrolled[attester_id] : undefined
  const isHere = attester?.tenant_id === undefined || attester.tenant_id === caller.tenant_id
  if (caller.subject === attester_id && isHere) return undefined
  if (attester?.spoken_for_by.includes(caller.subject) && isHere) return undefined
  return refuse('not_contributor', 'the caller does not attest as this attester')
}
