// Checks that a caller may contribute in a contributor's name: as itself or as an authorised submitter, with a key
// enrolled for it.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Caller } from '../../../../kernel/identity/identity.ts'
import type { Contributor } from '../../contributor/model.ts'

/** Whether the caller may submit for a contributor of its tenant. */
export function maySubmitFor({ subject }: Pick<Caller, 'subject'>, { name, spoken_for_by }: Contributor): boolean {
  return name === subject || spoken_for_by.includes(subject)
}

/**
 * `contributor`: as it is enrolled for the caller's tenant. Refuses `not_contributor`, with one message for all reasons, so that
 * a caller cannot probe for enrolled contributors.
 */
export function checkEnrolment(
  caller: Pick<Caller, 'subject'>,
  signer_key_id: string,
  contributor: Contributor | undefined,
): Refusal | undefined {
  if (contributor && maySubmitFor(caller, contributor) && contributor.signer_keys.includes(signer_key_id))
    return undefined
  return refuse(
    'not_contributor',
    `the caller may not submit for this contributor, or the key is not enrolled for it; you are \`${caller.subject}\`; contributors are in consensus.contributors, or enrolled: platform consensus contributor list`,
  )
}
