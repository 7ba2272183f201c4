// The test function of the file-drop: it gives each test two sites of its own, and removes them afterwards.
import { test } from 'vitest'
import { createFiledropSites, type FiledropSites, type FiledropSitesOptions, startReceiving } from './filedrop-sites.ts'

export type FiledropTestOptions = FiledropSitesOptions & {
  /** Sites that receive messages before the test begins, in this order. */
  readonly receiving?: readonly ('alpha' | 'bravo')[]
}

/** Set `options` per file: `filedropTest.extend({ options: { receiving: ['bravo'] } })`. */
export const filedropTest = test.extend<{ options: FiledropTestOptions; sites: FiledropSites }>({
  options: {},
  sites: async ({ options }, use) => {
    const sites = await createFiledropSites(options)
    for (const name of options.receiving ?? []) await startReceiving(sites[name])
    await use(sites)
    await sites.dispose()
  },
})
