// Questions that pair sites answer together while either is killed, wherever it happens to be, and started again.
import * as fs from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { formatChannelFolder } from './courier.ts'
import type { FederatedSite } from './packaged-federation.ts'
import type { RunningSitePair } from './packaged-pair-test.ts'
import { findSession, sharedClassification, waitForState, waitUntilDelivered } from './packaged-site-pair.ts'
import { waitUntil } from './test-site.ts'

const lane_count = 3

export type KillSchedule = {
  /** Both sites run before and after. */
  readonly pair: RunningSitePair
  readonly sessionCount: number
  readonly killCount: number
  readonly seed: number
}

/** The sessions, all ratified at both sites, and the number of kills meanwhile. */
export async function runSessionsWhileKilling(
  schedule: KillSchedule,
): Promise<{ readonly ids: string[]; readonly killed: number }> {
  const { pair } = schedule
  const ids: string[] = []
  const finished = new AbortController()
  const killer = killDaemons(schedule, finished.signal)
  await Promise.all([...Array(lane_count).keys()].map((lane) => runLane(lane, schedule, ids)))
  finished.abort()
  const killed = await killer
  for (const id of ids)
    await Promise.all([waitUntilDelivered(pair.atAlpha, id), waitForState(pair.atBravo, id, 'RATIFIED')])
  return { ids, killed }
}

/** Both sites contribute to every session; a request that gets no answer is repeated unchanged. */
async function runLane(lane: number, { pair, sessionCount }: KillSchedule, ids: string[]): Promise<void> {
  const { atAlpha, atBravo } = pair
  const policy = { m: 2, n: 2 }
  const input = { lens_id: 'l', lens_version: '1', policy, classification: sharedClassification, invite: ['bravo'] }
  const opinion = { accuracy: 0.95, credibility: 0.9, classification: sharedClassification }
  for (let each = lane; each < sessionCount; each += lane_count) {
    const key = { 'idempotency-key': `question-${each}-of-this-test` }
    const { id } = await retryUnanswered(() => atAlpha.ok(create, input, key))
    ids.push(id)
    const alice = { id, contributor_id: 'alice', signer_key_id: 'alice-1', pair_score: 0.94, ...opinion }
    await retryUnanswered(() => atAlpha.ok(contribute, alice, key))
    await waitUntil(() => findSession(atBravo, id).catch(() => undefined))
    const bob = { id, contributor_id: 'bob', signer_key_id: 'bob-1', pair_score: 0.92, ...opinion }
    await retryUnanswered(() => atBravo.ok(contribute, bob, key))
  }
}

function retryUnanswered<T>(act: () => Promise<T>): Promise<T> {
  return waitUntil(() => act().catch(ignoreConnectionFailure))
}

/** A refusal is an answer; no connection, or one that broke off, is none. */
function ignoreConnectionFailure(error: unknown): undefined {
  if (!(error instanceof TypeError)) throw error
}

/** Each site in turn, while sessions are opened. */
async function killDaemons({ pair, seed, killCount }: KillSchedule, signal: AbortSignal): Promise<number> {
  let killed = 0
  // After how many changes on its disk a daemon is killed: in the middle of a write as well as between two.
  const moments = fc.sample(fc.noBias(fc.integer({ min: 1, max: 120 })), { seed, numRuns: killCount })
  for (const [at, changes] of moments.entries()) {
    const site = at % 2 === 0 ? pair.bravo : pair.alpha
    await waitForDiskChanges(pair, site, changes, signal)
    if (signal.aborted) return killed
    await pair.daemons.get(site)?.kill()
    killed++
    pair.daemons.set(site, await site.start())
  }
  return killed
}

/** Resolves after so many changes to the site's databases and drop folders, or at the signal. */
async function waitForDiskChanges(
  pair: RunningSitePair,
  site: FederatedSite,
  wanted: number,
  signal: AbortSignal,
): Promise<void> {
  const peer = site === pair.alpha ? pair.bravo : pair.alpha
  const drops = ['in/new', 'in/work', 'in/done', 'out/tmp', 'out/ready'].map((name) =>
    formatChannelFolder(site, peer, name),
  )
  let changes = 0
  let enough: () => void = () => undefined
  const reached = new Promise<void>((resolve) => (enough = resolve))
  signal.addEventListener('abort', enough)
  const watchers = [path.join(site.dir, 'data'), ...drops].map((folder) =>
    fs.watch(folder, () => {
      changes++
      if (changes >= wanted) enough()
    }),
  )
  await reached
  for (const watcher of watchers) watcher.close()
}
