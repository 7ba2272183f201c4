// The steps of the two sites of a soak, one by one, as far as each is possible now.
import { contribute } from '../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../daemon/roles/consensus/session/create.ts'
import type { CheckedClient } from '../support/http/checked-client.ts'
import type { CourierRoute } from '../support/site/courier.ts'
import type { FederatedSite } from '../support/site/packaged-federation.ts'
import { findChannel, findSession, sharedClassification } from '../support/site/packaged-site-pair.ts'

/** A site, its contributor, and the road that leads to it. */
export type SoakSite = {
  readonly site: FederatedSite
  readonly person: CheckedClient
  readonly road: CourierRoute
  readonly peer: string
  /** The last number that this end had heard when all was found to be through: inventories go on being sent. */
  settledNumber?: number
}
export type SoakSites = readonly [alpha: SoakSite, bravo: SoakSite]

export type SoakSession = {
  readonly opener: SoakSite
  readonly invitee: SoakSite
  readonly key: Record<string, string>
  id: string
  opinionCount: number
  isOver: boolean
}

/** The other end has read all messages of this one. */
export async function readChannels(end: SoakSite, other: SoakSite) {
  const [into, out] = await Promise.all([
    findChannel(end.person, end.peer, 'in'),
    findChannel(other.person, other.peer, 'out'),
  ])
  return { into, out }
}

/** The next step of a question, as far as it can be taken now; a repeat of one whose answer was lost changes nothing. */
export async function advanceSession(question: SoakSession): Promise<void> {
  const { opener, invitee, key } = question
  const policy = { m: 2, n: 2 }
  const input = {
    lens_id: 'l',
    lens_version: '1',
    policy,
    classification: sharedClassification,
    invite: [invitee.site.name],
  }
  question.id ||= (await opener.person.ok(create, input, key)).id
  if (question.opinionCount === 0) {
    await contributeOpinion(opener, question, 'alice', 0.94)
    question.opinionCount = 1
  }
  if (question.opinionCount === 2 || !(await findSession(invitee.person, question.id))) return
  await contributeOpinion(invitee, question, 'bob', 0.92)
  question.opinionCount = 2
}

async function contributeOpinion(
  { person }: SoakSite,
  { id, key }: SoakSession,
  contributor_id: string,
  pair_score: number,
): Promise<void> {
  const opinion = { pair_score, accuracy: 0.95, credibility: 0.9, signer_key_id: `${contributor_id}-1` }
  await person.ok(contribute, { id, contributor_id, ...opinion, classification: sharedClassification }, key)
}

/** A refusal is an answer; no connection, or one that broke off, is none. */
export function ignoreConnectionFailure(error: unknown): undefined {
  if (!(error instanceof TypeError)) throw error
}
