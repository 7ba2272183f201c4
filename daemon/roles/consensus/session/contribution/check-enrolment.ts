// Checks that a caller may contribute in a contributor's name: as itself or as an authorised submitter, with a key
// enrolled for it.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Caller } from '../../../../kernel/identity/identity.ts'

export type EnrolledContributor = {
  readonly signer_keys: readonly string[]
  readonly spoken_for_by: readonly string[]
  readonly tenant_id?: string | undefined
}

/** Refuses `not_contributor`, with one message for all reasons, so that a caller cannot probe for enrolled contributors. */
export function checkEnrolment(
  caller: Caller,
  contributor_id: string,
  signer_key_id: string,
  enrolled: Readonly<Record<string, EnrolledContributor>>,
): Refusal | undefined {
  const contributor = Object.hasOwn(enrolled, contributor_id) ? enrolled[contributor_id] : undefined
  const maySubmit = caller.subject === contributor_id || contributor?.spoken_for_by.includes(caller.subject)
  const isInTenant = contributor?.tenant_id === undefined || contributor.tenant_id === caller.tenant_id
  if (contributor && maySubmit && isInTenant && contributor.signer_keys.includes(signer_key_id)) return undefined
  return refuse(
    'not_contributor',
    'the caller may not submit for this contributor, or the key is not enrolled for it; see consensus.contributors',
  )
}
