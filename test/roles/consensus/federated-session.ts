// A session that peers are invited to, and their contributions to it.
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import type { ConsensusSession } from '../../../daemon/roles/consensus/session/model.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import type { TestSite } from '../../support/site/test-site.ts'
import { buildSessionInput, createOperator, type PolicyInput, waitUntilDelivered } from './consensus-site.ts'
import { sharedClassification, sharedLabel } from './peer-site.ts'

/** The caller as which carriers act. */
export function createCarrier(world: TestSite): Promise<CheckedClient> {
  return world.as({ subject: 'role:site', roles: ['service'], tenant: '*' })
}

/** Reads every tenant's documents, which no role of the site may. */
export function createReader(world: TestSite): Promise<CheckedClient> {
  return world.as({ subject: 'role:reader', roles: ['auditor'], tenant: '*' })
}

/** The session once its invitations are on their way. */
export async function openInvitedSession(
  world: TestSite,
  policy: PolicyInput,
  invite: string[],
): Promise<ConsensusSession> {
  const person = await createOperator(world)
  const { id } = await person.ok(create, { ...buildSessionInput(policy), classification: sharedClassification, invite })
  return waitUntilDelivered(person, id)
}

/** The data of a `contribution` message. */
export function buildOpinionFields(session_id: string, pair_score: number, [accuracy, credibility] = [1, 1]) {
  return { session_id, pair_score, accuracy: accuracy ?? 1, credibility: credibility ?? 1, classification: sharedLabel }
}
