// A site with the resolution role, and lenses and records to resolve.
import { afterAll, beforeAll, expect } from 'vitest'
import { type SiteWorld, siteWorld } from '../../support/site-world.ts'

/** People with a name and a date. */
export function personLens(version = '1.0.0', entity_type = 'person') {
  return {
    lens: 'people',
    version,
    entity_type,
    fields: [
      { name: 'given_name', type: 'name' as const },
      { name: 'surname', type: 'name' as const },
      { name: 'date_of_birth', type: 'date' as const, optional: true },
    ],
  }
}

/** One world for all tests of a file, which must end without a logged error. */
export function sharedResolution(settings: Readonly<Record<string, unknown>> = {}): () => SiteWorld {
  let world: SiteWorld | undefined
  beforeAll(async () => {
    const profile = { platform: { roles: ['site', 'resolution'] }, resolution: { port: 0, ...settings } }
    world = await siteWorld({ profile })
  })
  afterAll(async () => {
    await world?.end()
    expect(world?.faults ?? []).toEqual([])
  })
  return () => {
    if (!world) throw new Error('the world has not been made')
    return world
  }
}
