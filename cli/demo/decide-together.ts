// Decides a doubtful match at both sites of the demo: a session at one, an invitation to the other, contributions of both.
import type { ApiObject } from '../client/client.ts'
import type { DemoSite } from './demo-site.ts'
import type { DemoMatch } from './people.ts'
import { carryUntil, type DemoStage, demoClassification } from './stage.ts'
import { waitUntil } from './wait-until.ts'

export type DemoOpinions = { readonly alice: number; readonly carol: number; readonly bob: number }

/** Collects the contributions of both sites; returns the decided session as each site has it. */
export async function decideTogether(
  stage: DemoStage,
  match: DemoMatch,
  opinions: DemoOpinions,
): Promise<{ home: ApiObject; remote: ApiObject }> {
  const { home, remote, printLine } = stage
  const id = await openSession(stage, match)
  printLine(`${home.name} opens session ${id}: are these one person? All 3 of 3 contributors must answer`)
  await contributeOpinion(home, id, 'alice', opinions.alice, printLine)
  await contributeOpinion(home, id, 'carol', opinions.carol, printLine)
  await carryUntil(
    stage,
    `the invitation at ${remote.name}`,
    async () => (await getSessionState(remote, id)) === 'PROPOSED',
  )
  printLine(`the invitation crosses to ${remote.name} as a signed file`)
  await contributeOpinion(remote, id, 'bob', opinions.bob, printLine)
  await carryUntil(
    stage,
    'a decision at both sites',
    async () => isDecided(await getSessionState(home, id)) && isDecided(await getSessionState(remote, id)),
  )
  await carryUntil(stage, 'everything to be delivered', async () => (await getSession(home, id)).undelivered === 0)
  return { home: await getSession(home, id), remote: await getSession(remote, id) }
}

/** Opens a session for the match, whose decision the match then follows. */
async function openSession({ home, remote, signal }: DemoStage, { uid }: DemoMatch): Promise<string> {
  const request = { policy: { m: 3, n: 3 }, invite: [remote.name] }
  await home.analyst.call('resolution.entity-match.consult', { correlation_id: uid, ...request })
  let id = ''
  await waitUntil('the session of a match', signal, async () => {
    const [ruling] = (await getMatch(home, uid)).rulings as { session_id: string }[]
    id = ruling?.session_id ?? ''
    return id !== '' && (await getSessionState(home, id)) !== undefined
  })
  return id
}

/** Waits until the clusters reflect the decision. */
export async function waitForMatchState(
  { home, signal }: DemoStage,
  { uid }: DemoMatch,
  state: 'confirmed' | 'rejected',
): Promise<void> {
  await waitUntil(`the match to be ${state}`, signal, async () => {
    const match = await getMatch(home, uid)
    return match.state === state && match.settled === true
  })
}

function getMatch(site: DemoSite, uid: string): Promise<ApiObject> {
  return site.analyst.call('resolution.entity-match.get', { uid })
}

async function contributeOpinion(
  site: DemoSite,
  id: string,
  contributor_id: string,
  pair_score: number,
  printLine: DemoStage['printLine'],
): Promise<void> {
  const opinion = {
    pair_score,
    accuracy: 0.95,
    credibility: 0.9,
    signer_key_id: `${contributor_id}-1`,
    classification: demoClassification,
  }
  await site.analyst.call('consensus.session.contribute', { id, contributor_id, ...opinion })
  printLine(`${contributor_id} at ${site.name} scores the pair ${pair_score}`)
}

async function getSession(site: DemoSite, id: string): Promise<ApiObject> {
  return site.analyst.call('consensus.session.get', { id })
}

/** Returns undefined until the site knows the session. */
async function getSessionState(site: DemoSite, id: string): Promise<unknown> {
  try {
    return (await getSession(site, id)).state
  } catch {
    return undefined
  }
}

function isDecided(state: unknown): boolean {
  return state === 'RATIFIED' || state === 'IN_CONFLICT'
}
