// What happens in the demo: one session that both sites agree in, one that ends in an explained conflict.
import type { Answered } from '../client/client.ts'
import { carry, type Link } from './carrier.ts'
import type { DemoSite } from './demo-site.ts'
import { until } from './until.ts'

export type Stage = {
  /** The session lives here; its contributors are alice and carol. */
  readonly home: DemoSite
  /** Invited; speaks with one voice, its tenant's, by bob. */
  readonly guest: DemoSite
  readonly links: readonly Link[]
  readonly signal: AbortSignal
  readonly say: (line: string) => void
}

export type Opinions = { readonly alice: number; readonly carol: number; readonly bob: number }

const classification = { level: 'RESTRICTED', releasable_to: ['alpha', 'bravo'] }

/** Both sites contribute; resolves with the session as both sites then see it. */
export async function decideTogether(
  stage: Stage,
  left: string,
  right: string,
  given: Opinions,
): Promise<{ home: Answered; guest: Answered }> {
  const { home, guest, say } = stage
  const session = await home.analyst.call('consensus.session.create', {
    lens_id: 'vessel-identity',
    lens_version: '1',
    subject: { kind: 'entity_match', left, right },
    policy: { m: 3, n: 3 },
    classification,
    invite: [guest.name],
  })
  const id = String(session.id)
  say(
    `${home.name} asks: is ${left} the same as ${right}? Session ${id}, all 3 of 3 must speak; ${guest.name} is invited`,
  )
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
  await until('everything to be delivered', stage.signal, async () => {
    for (const way of stage.links) carry(way)
    return (await sessionAt(home, id)).undelivered === 0
  })
  return { home: await sessionAt(home, id), guest: await sessionAt(guest, id) }
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

async function carrying({ links, signal }: Stage, what: string, holds: () => Promise<boolean>): Promise<void> {
  await until(what, signal, async () => {
    for (const way of links) carry(way)
    return holds()
  })
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
