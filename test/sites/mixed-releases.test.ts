// A site of this release and one of the previous release, in one federation: what either begins ends alike at both.
import * as fs from 'node:fs'
import path from 'node:path'
import { expect, test as plainTest } from 'vitest'
import { product } from '../../adapters/platform/product/product.ts'
import { list as listEmissions } from '../../daemon/roles/consensus/emission/list.ts'
import { get as getEvidence } from '../../daemon/roles/consensus/evidence/get.ts'
import { findPreviousRelease, previousReleaseRequirement } from '../support/command/previous-release.ts'
import { findExecutable } from '../support/command/run-executable.ts'
import { whenPresent } from '../support/runner/requires.ts'
import { createMixedFederation, editProfile, type FederatedSite } from '../support/site/packaged-federation.ts'
import {
  carryUntil,
  contributeOpinion,
  findChannel,
  findSession,
  openInvitedSession,
  openPackagedSitePair,
  type PackagedSitePair,
  waitForState,
  waitUntilDelivered,
} from '../support/site/packaged-site-pair.ts'
import { waitUntil } from '../support/site/test-site.ts'

const requirement = previousReleaseRequirement()

/** Alpha has this release, bravo the previous one. */
const test = whenPresent(
  requirement,
  plainTest
    .extend('releases', { scope: 'file' }, async () => ({
      alpha: findExecutable(),
      bravo: findPreviousRelease(),
    }))
    .extend('pair', { scope: 'file' }, async ({ releases }, { onCleanup }) => {
      const world = await createMixedFederation(releases)
      onCleanup(() => world.end())
      const pair = await openPackagedSitePair(world)
      sendDecisions(pair.alpha, 'bravo')
      sendDecisions(pair.bravo, 'alpha')
      const [, bravo] = await Promise.all([pair.alpha.start(), pair.bravo.start()])
      return { ...pair, daemons: { bravo } }
    }),
)

function sendDecisions(site: FederatedSite, peer: string): void {
  editProfile(site, { consensus: { sinks: [{ name: `to-${peer}`, kind: 'filedrop', peer }] } })
}

/** The ends of a session that the named site begins. */
function endsOf({ atAlpha, atBravo, toAlpha, toBravo }: PackagedSitePair, home: string) {
  return home === 'alpha'
    ? { first: atAlpha, second: atBravo, invited: 'bravo', there: toBravo, back: toAlpha }
    : { first: atBravo, second: atAlpha, invited: 'alpha', there: toAlpha, back: toBravo }
}

/** Invitation, contribution, result and evidence: both ends hold the same block. */
async function decide(pair: PackagedSitePair, home: string): Promise<{ id: string; block_id: string }> {
  const { first, second, invited, there, back } = endsOf(pair, home)
  const id = await openInvitedSession(first, 0.94, [invited])
  await carryUntil(there, async () => (await findSession(second, id))?.state === 'PROPOSED')
  await contributeOpinion(second, id, 'bob', 0.92)
  await carryUntil(back, async () => (await findSession(first, id))?.state === 'RATIFIED')
  await carryUntil(there, async () => (await findSession(second, id))?.state === 'RATIFIED')
  const { evidence_block_id: block_id = '' } = await waitUntilDelivered(first, id)
  expect(await second.ok(getEvidence, { block_id })).toEqual(await first.ok(getEvidence, { block_id }))
  return { id, block_id }
}

/** A decision of one site alone, listed at the other. */
async function emit(pair: PackagedSitePair, home: string): Promise<string> {
  const { first, second, there } = endsOf(pair, home)
  const id = await openInvitedSession(first, 0.94, [])
  await contributeOpinion(first, id, 'bob', 0.92)
  await waitForState(first, id, 'RATIFIED')
  await carryUntil(there, async () => (await second.ok(listEmissions, { session_id: id })).items.length > 0)
  return id
}

test('the sites report two releases', async ({ pair }) => {
  const statuses = await Promise.all([pair.alpha, pair.bravo].map((site) => site.runJson(['status'])))
  const versions = statuses.flatMap(({ items }) => items.map(({ version }: { version: string }) => version))
  expect([...new Set(versions)].sort()).toEqual(['1.0.0', product.version])
})

test.for(['alpha', 'bravo'])('a session that %s begins ends with the same evidence at both', async (home, { pair }) => {
  const { block_id } = await decide(pair, home)
  const block = await pair.atAlpha.ok(getEvidence, { block_id })
  const file = path.join(pair.world.dir, `${home}-evidence.json`)
  fs.writeFileSync(file, JSON.stringify(block))
  for (const site of [pair.alpha, pair.bravo]) expect(await site.runJson(['evidence', 'verify', file])).toBeTruthy()
})

test.for(['alpha', 'bravo'])('a decision that %s sends is listed at the other', async (home, { pair }) => {
  await emit(pair, home)
})

test('nothing was refused, left out or held back in either direction', async ({ pair }) => {
  for (const [person, peer] of [
    [pair.atAlpha, 'bravo'],
    [pair.atBravo, 'alpha'],
  ] as const) {
    const channel = await waitUntil(async () => {
      const found = await findChannel(person, peer, 'in')
      return found.backlog === 0 && found
    })
    expect(channel).toMatchObject({ gaps: 0, quarantined: 0, state: 'open' })
  }
})

test('the other site is brought to this release in the middle of a session, and keeps what it had', async ({
  pair,
}) => {
  const { first, second, there, back } = endsOf(pair, 'alpha')
  const id = await openInvitedSession(first, 0.94, ['bravo'])
  await carryUntil(there, async () => (await findSession(second, id))?.state === 'PROPOSED')
  await pair.daemons.bravo.stop()
  const upgraded = await pair.bravo.startOf(findExecutable())
  expect(upgraded.log()).not.toContain('"level":"error"')
  await contributeOpinion(second, id, 'bob', 0.92)
  await carryUntil(back, async () => (await findSession(first, id))?.state === 'RATIFIED')
  await carryUntil(there, async () => (await findSession(second, id))?.state === 'RATIFIED')
  expect(await pair.bravo.runJson(['audit', 'verify'])).toMatchObject({ whole: true })
})
