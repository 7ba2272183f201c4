// The test function for two packaged sites: the tests of a file share one pair, which is made before the first of them.
import { test } from 'vitest'
import type { RunningDaemon } from './daemon-process.ts'
import type { FederatedSite } from './packaged-federation.ts'
import { createPackagedSitePair, type PackagedSitePair } from './packaged-site-pair.ts'

export type PackagedPairOptions = {
  /** Names of sites beside alpha and bravo. */
  readonly otherSites?: readonly string[]
  /** Changes profiles and pins before any site starts. */
  readonly prepare?: (pair: PackagedSitePair) => void | Promise<void>
  /** Whether every site starts with all its roles before the first test; true by default. */
  readonly isStarted?: boolean
}

export type RunningSitePair = PackagedSitePair & {
  /** The daemon of each site that the fixture started; a test that restarts a site puts the new one here. */
  readonly daemons: Map<FederatedSite, RunningDaemon>
}

/** A test function with the fixture `pair`: `createPackagedPairTest({ otherSites: ['hub'] })`. */
export function createPackagedPairTest(options: PackagedPairOptions = {}) {
  const pairTest = test
    .extend('pairOptions', { scope: 'file' }, () => options)
    .extend('pair', { scope: 'file' }, async ({ pairOptions }, { onCleanup }) => {
      const { otherSites = [], prepare, isStarted = true } = pairOptions
      const sites = await createPackagedSitePair(...otherSites)
      onCleanup(() => sites.world.end())
      const pair: RunningSitePair = { ...sites, daemons: new Map() }
      await prepare?.(pair)
      if (isStarted) await startEverySite(pair)
      return pair
    })
  // A hook has more time than a test.
  pairTest.beforeAll(({ pair }) => void pair)
  return pairTest
}

/** Throws where the fixture did not start the site. */
export function findDaemon({ daemons }: RunningSitePair, site: FederatedSite): RunningDaemon {
  const daemon = daemons.get(site)
  if (!daemon) throw new Error(`the fixture did not start the site ${site.name}`)
  return daemon
}

async function startEverySite({ world, daemons }: RunningSitePair): Promise<void> {
  const started = await Promise.all(Object.values(world.sites).map(async (site) => [site, await site.start()] as const))
  for (const [site, daemon] of started) daemons.set(site, daemon)
}
