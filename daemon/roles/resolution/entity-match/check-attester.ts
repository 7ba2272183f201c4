// Checks the attester of an attestation: the caller itself, or an enrolled attester that the caller may represent.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Caller } from '../../../kernel/identity/identity.ts'

export type Attester = { readonly spoken_for_by: readonly string[]; readonly tenant_id?: string | undefined }

/** Refuses `not_contributor` with one message for all cases, so that nobody can probe for enrolled attesters. */
export function checkAttester(
  caller: Caller,
  attester_id: string,
  enrolled: Readonly<Record<string, Attester>>,
): Refusal | undefined {
  const attester = Object.hasOwn(enrolled, attester_id) ? enrolled[attester_id] : undefined
  const isOfTenant = attester?.tenant_id === undefined || attester.tenant_id === caller.tenant_id
  if (caller.subject === attester_id && isOfTenant) return undefined
  if (attester?.spoken_for_by.includes(caller.subject) && isOfTenant) return undefined
  return refuse(
    'not_contributor',
    `the caller may not attest as this attester; you are \`${caller.subject}\`; attesters are in resolution.attesters`,
  )
}
