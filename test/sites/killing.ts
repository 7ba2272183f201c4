// Questions that two sites answer together while either is killed, wherever it happens to be, and started again.
import * as fs from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { contribute } from '../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../daemon/roles/consensus/session/create.ts'
import type { Daemon, PackagedSite } from '../support/packaged-sites.ts'
import { until } from '../support/site-world.ts'
import { folderOf } from './courier.ts'
import { delivered, inState, seen, shared, type Two } from './question.ts'

const lanes = 3

export type Killing = {
  readonly two: Two
  /** What runs; both do, and in the end both do again. */
  readonly daemons: Map<PackagedSite, Daemon>
  readonly questions: number
  readonly kills: number
  readonly seed: number
}

/** The sessions, all ratified at both sites, and how often a daemon was killed while they were asked. */
export async function askedWhileKilled(given: Killing): Promise<{ readonly ids: string[]; readonly killed: number }> {
  const { two } = given
  const ids: string[] = []
  const asked = new AbortController()
  const killer = killing(given, asked.signal)
  await Promise.all([...Array(lanes).keys()].map((lane) => asking(lane, given, ids)))
  asked.abort()
  const killed = await killer
  for (const id of ids) await Promise.all([delivered(two.atAlpha, id), inState(two.atBravo, id, 'RATIFIED')])
  return { ids, killed }
}

/** Both sites speak in every session; whoever finds nobody at home asks again, in the same words. */
async function asking(lane: number, { two, questions }: Killing, ids: string[]): Promise<void> {
  const { atAlpha, atBravo } = two
  const policy = { m: 2, n: 2 }
  const asked = { lens_id: 'l', lens_version: '1', policy, classification: shared, invite: ['bravo'] }
  const opinion = { accuracy: 0.95, credibility: 0.9, classification: shared }
  for (let each = lane; each < questions; each += lanes) {
    const key = { 'idempotency-key': `question-${each}-of-this-test` }
    const { id } = await stubbornly(() => atAlpha.ok(create, asked, key))
    ids.push(id)
    const alice = { id, contributor_id: 'alice', signer_key_id: 'alice-1', pair_score: 0.94, ...opinion }
    await stubbornly(() => atAlpha.ok(contribute, alice, key))
    await until(() => seen(atBravo, id).catch(() => undefined))
    const bob = { id, contributor_id: 'bob', signer_key_id: 'bob-1', pair_score: 0.92, ...opinion }
    await stubbornly(() => atBravo.ok(contribute, bob, key))
  }
}

function stubbornly<T>(act: () => Promise<T>): Promise<T> {
  return until(() => act().catch(whenNobodyAnswered))
}

/** A refusal is an answer; no connection, or one that broke off, is none. */
function whenNobodyAnswered(error: unknown): undefined {
  if (!(error instanceof TypeError)) throw error
}

/** Each site in turn, while questions are asked. */
async function killing({ two, daemons, seed, kills }: Killing, signal: AbortSignal): Promise<number> {
  let killed = 0
  // After how many changes on its disk a daemon is killed: in the middle of a write as well as between two.
  const moments = fc.sample(fc.noBias(fc.integer({ min: 1, max: 120 })), { seed, numRuns: kills })
  for (const [at, changes] of moments.entries()) {
    const site = at % 2 === 0 ? two.bravo : two.alpha
    await changesOnDisk(two, site, changes, signal)
    if (signal.aborted) return killed
    await daemons.get(site)?.kill()
    killed++
    daemons.set(site, await site.start())
  }
  return killed
}

/** Resolves after so many changes to the site's databases and drop folders, or when told to look no more. */
async function changesOnDisk(two: Two, site: PackagedSite, wanted: number, signal: AbortSignal): Promise<void> {
  const peer = site === two.alpha ? two.bravo : two.alpha
  const drops = ['in/new', 'in/work', 'in/done', 'out/tmp', 'out/ready'].map((name) => folderOf(site, peer, name))
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
