// What the two sites of a soak ask each other, step by step, as far as each can be taken now.
import { contribute } from '../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../daemon/roles/consensus/session/create.ts'
import type { Road } from '../sites/courier.ts'
import { channelOf, seen, shared } from '../sites/question.ts'
import type { PackagedSite } from '../support/packaged-sites.ts'
import type { Person } from '../support/person.ts'

/** A site, whoever speaks there, and the road that leads to it. */
export type End = {
  readonly site: PackagedSite
  readonly person: Person
  readonly road: Road
  readonly peer: string
  /** The last number that this end had heard when all was found to be through: inventories go on being sent. */
  through?: number
}
export type Ends = readonly [alpha: End, bravo: End]

export type Question = {
  readonly home: End
  readonly guest: End
  readonly key: Record<string, string>
  id: string
  said: number
  isOver: boolean
}

/** What this end has sent is read at the other one. */
export async function channelsOf(end: End, other: End) {
  const [into, out] = await Promise.all([
    channelOf(end.person, end.peer, 'in'),
    channelOf(other.person, other.peer, 'out'),
  ])
  return { into, out }
}

/** The next step of a question, as far as it can be taken now; a repeat of one whose answer was lost changes nothing. */
export async function advance(question: Question): Promise<void> {
  const { home, guest, key } = question
  const policy = { m: 2, n: 2 }
  const asked = { lens_id: 'l', lens_version: '1', policy, classification: shared, invite: [guest.site.name] }
  question.id ||= (await home.person.ok(create, asked, key)).id
  if (question.said === 0) {
    await say(home, question, 'alice', 0.94)
    question.said = 1
  }
  if (question.said === 2 || !(await seen(guest.person, question.id))) return
  await say(guest, question, 'bob', 0.92)
  question.said = 2
}

async function say({ person }: End, { id, key }: Question, contributor_id: string, pair_score: number): Promise<void> {
  const opinion = { pair_score, accuracy: 0.95, credibility: 0.9, signer_key_id: `${contributor_id}-1` }
  await person.ok(contribute, { id, contributor_id, ...opinion, classification: shared }, key)
}

/** A refusal is an answer; no connection, or one that broke off, is none. */
export function whenNobodyAnswered(error: unknown): undefined {
  if (!(error instanceof TypeError)) throw error
}
