// A site with the hub role, two enrolled nodes of its own coalition and one of another.
import { afterAll, beforeAll, expect } from 'vitest'
import { register } from '../../../daemon/roles/hub/node/register.ts'
import type { Person } from '../../support/person.ts'
import { type SiteWorld, siteWorld } from '../../support/site-world.ts'

/** Settings of the hub, besides the nodes. */
export type HubSettings = Readonly<Record<string, unknown>>

export const about = (site: string) => ({
  kind: 'mission_service' as const,
  site,
  node_tenant_id: `tenant-${site}`,
  description: `site ${site}`,
  capabilities: ['consensus-session'],
})

export type HubWorld = {
  readonly site: SiteWorld
  /** Who may act as the node, with the right to. */
  as(node: string): Promise<Person>
}

const nodes = {
  alpha: { subject: 'node:alpha' },
  bravo: { subject: 'node:bravo' },
  charlie: { subject: 'node:charlie' },
  foreign: { subject: 'node:foreign', tenant_id: 'tenant-z' },
}

/** One world for all tests of a file, which must end without a logged error; all nodes but charlie have registered. */
export function sharedHub(settings: HubSettings = {}): () => HubWorld {
  let world: HubWorld | undefined
  beforeAll(async () => {
    const site = await siteWorld({
      profile: { platform: { roles: ['site', 'hub'] }, hub: { port: 0, ...settings, nodes } },
    })
    world = {
      site,
      as: (node) =>
        site.as({
          subject: `node:${node}`,
          roles: ['node'],
          ...(node === 'foreign' ? { tenant: 'tenant-z' } : {}),
        }),
    }
    for (const name of ['alpha', 'bravo', 'foreign']) {
      await (await world.as(name)).ok(register, { id: name, ...about(name) })
    }
  })
  afterAll(async () => {
    await world?.site.end()
    expect(world?.site.faults ?? []).toEqual([])
  })
  return () => {
    if (!world) throw new Error('the world has not been made')
    return world
  }
}

export function mailOf(seq: number, text = `body ${seq}`, epoch = 1) {
  const base64 = (words: string) => Buffer.from(words).toString('base64')
  return { epoch, seq, envelope: base64(`envelope ${seq}`), body: base64(text) }
}
