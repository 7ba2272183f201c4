// A site with the hub role, two enrolled nodes of its coalition and one node of another.
import { afterAll, beforeAll, expect } from 'vitest'
import { register } from '../../../daemon/roles/hub/node/register.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { startTestSite, type TestSite } from '../../support/site/test-site.ts'

/** Settings of the hub, besides the nodes. */
export type HubSettings = Readonly<Record<string, unknown>>

export const buildRegistration = (site: string) => ({
  kind: 'mission_service' as const,
  site,
  node_tenant_id: `tenant-${site}`,
  description: `site ${site}`,
  capabilities: ['consensus-session'],
})

export type HubSite = {
  readonly site: TestSite
  /** The subject that may act as the node, with the permission. */
  as(node: string): Promise<CheckedClient>
}

const nodes = {
  alpha: { subject: 'node:alpha' },
  bravo: { subject: 'node:bravo' },
  charlie: { subject: 'node:charlie' },
  foreign: { subject: 'node:foreign', tenant_id: 'tenant-z' },
}

/** One world for all tests of a file, which must end without a logged error; all nodes but charlie have registered. */
export function setUpHubSite(settings: HubSettings = {}): () => HubSite {
  let world: HubSite | undefined
  beforeAll(async () => {
    const site = await startTestSite({
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
      await (await world.as(name)).ok(register, { id: name, ...buildRegistration(name) })
    }
  })
  afterAll(async () => {
    await world?.site.end()
    expect(world?.site.loggedErrors ?? []).toEqual([])
  })
  return () => {
    if (!world) throw new Error('the world has not been made')
    return world
  }
}

export function buildMail(seq: number, text = `body ${seq}`, epoch = 1) {
  const base64 = (words: string) => Buffer.from(words).toString('base64')
  return { epoch, seq, envelope: base64(`envelope ${seq}`), body: base64(text) }
}
