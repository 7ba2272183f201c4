// How the demo's sites decide about a doubtful match: a session at one, an invitation to the other, a word of each.
import type { Answered } from '../client/client.ts'
import type { DemoSite } from './demo-site.ts'
import type { Match } from './people.ts'
import { carrying, classification, type Stage } from './stage.ts'
import { until } from './until.ts'

export type Opinions = { readonly alice: number; readonly carol: number; readonly bob: number }

/** Both sites contribute; resolves with the session as both sites then see it. */
export async function decideTogether(
  stage: Stage,
  match: Match,
  given: Opinions,
): Promise<{ home: Answered; guest: Answered }> {
  const { home, guest, say } = stage
  const id = await sessionFor(stage, match)
  say(`${home.name} asks: are they one person? Session ${id}, all 3 of 3 must speak`)
  await contribute(home, id, 'alice', given.alice, say)
  await contribute(home, id, 'carol', given.carol, say)
  await carrying(stage, `the invitation at ${guest.name}`, async () => (await stateAt(guest, id)) === 'PROPOSED')
  say(`the invitation has crossed to ${guest.name} as a signed file`)
  await contribute(guest, id, 'bob', given.bob, say)
  await carrying(
    stage,
    'a decision at both sites',
    async () => isDecided(await stateAt(home, id)) && isDecided(await stateAt(guest, id)),
  )
  await carrying(stage, 'everything to be delivered', async () => (await sessionAt(home, id)).undelivered === 0)
  return { home: await sessionAt(home, id), guest: await sessionAt(guest, id) }
}

/** The match puts itself to a session, which it then follows. */
async function sessionFor({ home, guest, signal }: Stage, { uid }: Match): Promise<string> {
  const asked = { policy: { m: 3, n: 3 }, invite: [guest.name] }
  await home.analyst.call('resolution.entity-match.consult', { correlation_id: uid, ...asked })
  let id = ''
  await until('the session of a match', signal, async () => {
    const [ruling] = (await matchAt(home, uid)).rulings as { session_id: string }[]
    id = ruling?.session_id ?? ''
    return id !== '' && (await stateAt(home, id)) !== undefined
  })
  return id
}

/** Once the clusters hold what was decided. */
export async function settled({ home, signal }: Stage, { uid }: Match, state: 'confirmed' | 'rejected'): Promise<void> {
  await until(`the match to be ${state}`, signal, async () => {
    const match = await matchAt(home, uid)
    return match.state === state && match.settled === true
  })
}

function matchAt(site: DemoSite, uid: string): Promise<Answered> {
  return site.analyst.call('resolution.entity-match.get', { uid })
}

async function contribute(
  site: DemoSite,
  id: string,
  contributor_id: string,
  pair_score: number,
  say: Stage['say'],
): Promise<void> {
  const opinion = { pair_score, accuracy: 0.95, credibility: 0.9, signer_key_id: `${contributor_id}-1`, classification }
  await site.analyst.call('consensus.session.contribute', { id, contributor_id, ...opinion })
  say(`${contributor_id} at ${site.name} scores the pair ${pair_score}`)
}

async function sessionAt(site: DemoSite, id: string): Promise<Answered> {
  return site.analyst.call('consensus.session.get', { id })
}

/** Undefined while the site does not know the session. */
async function stateAt(site: DemoSite, id: string): Promise<unknown> {
  try {
    return (await sessionAt(site, id)).state
  } catch {
    return undefined
  }
}

function isDecided(state: unknown): boolean {
  return state === 'RATIFIED' || state === 'IN_CONFLICT'
}
