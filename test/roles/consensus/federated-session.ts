// A session that peers were invited to, and what they then say of it.
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import type { Session } from '../../../daemon/roles/consensus/session/model.ts'
import type { Person } from '../../support/person.ts'
import type { SiteWorld } from '../../support/site-world.ts'
import { type AskedPolicy, asked, delivered, operatorOf } from './consensus-world.ts'
import { shared, sharedLabel } from './peer-messages.ts'

/** What the carriers act as. */
export function carrierOf(world: SiteWorld): Promise<Person> {
  return world.as({ subject: 'role:site', roles: ['service'], tenant: '*' })
}

/** The session once its invitations are on their way. */
export async function invitedSession(world: SiteWorld, policy: AskedPolicy, invite: string[]): Promise<Session> {
  const person = await operatorOf(world)
  const { id } = await person.ok(create, { ...asked(policy), classification: shared, invite })
  return delivered(person, id)
}

/** The data of a `contribution` message. */
export function opinionFields(session_id: string, pair_score: number, [accuracy, credibility] = [1, 1]) {
  return { session_id, pair_score, accuracy: accuracy ?? 1, credibility: credibility ?? 1, classification: sharedLabel }
}
