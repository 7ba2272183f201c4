// Runs each carrier against each requirement.
import { afterEach, describe, test } from 'vitest'
import {
  buildLabel,
  buildMessage,
  carryFiles,
  createFiledropSites,
  type FiledropSites,
} from '../support/filedrop/filedrop-sites.ts'
import { startTransportFixture } from '../support/filedrop/filedrop-transport-fixture.ts'
import { waitUntil } from '../support/site/test-site.ts'
import { createHubSites } from '../transport/coalition/hub-sites.ts'
import { startTestHub } from '../transport/coalition/test-hub.ts'
import { joinByMtls } from '../transport/mtls/join-by-mtls.ts'
import { type TransportFixture, transportRequirements } from './transport.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** How what one site has made ready comes to the other, from the start of both on. */
type SiteLink = { bring(): Promise<void>; end(): Promise<void> }

const carriers: Readonly<Record<string, (sites: FiledropSites) => Promise<SiteLink>>> = {
  filedrop: async ({ alpha, bravo }) => ({
    async bring() {
      carryFiles(alpha, bravo)
    },
    end: async () => undefined,
  }),
  mtls: joinByMtls,
}

describe.each(Object.keys(carriers))('%s', (name) => {
  for (const { id, description, verify } of transportRequirements) {
    test(`${id}: ${description}`, async () => verify(await createFixture(carriers[name] ?? joinByMtls)))
  }
})

describe('coalition', () => {
  for (const { id, description, verify } of transportRequirements) {
    test(`${id}: ${description}`, async () => verify(await createCoalitionFixture()))
  }
})

async function createFixture(joining: (sites: FiledropSites) => Promise<SiteLink>): Promise<TransportFixture> {
  const sites: FiledropSites = await createFiledropSites()
  const fixture = await startTransportFixture(sites, async () => {
    await sites.alpha.transport.rescan()
    await joined.bring()
    await sites.bravo.transport.rescan()
  })
  const joined = await joining(sites)
  ends.push(async () => {
    await joined.end()
    await sites.dispose()
  })
  return fixture
}

/** File-drop's channel with a hub between: what lies ready goes there, and comes from there. */
async function createCoalitionFixture(): Promise<TransportFixture> {
  const hub = await startTestHub()
  const moved = await createHubSites(hub.endpoint)
  ends.push(async () => {
    await moved.dispose()
    await hub.close()
  })
  const { sites, delivered, answer } = moved
  await moved.start('bravo', 'alpha')
  await waitUntil(async () => (await hub.isRegistered('alpha')) && (await hub.isRegistered('bravo')))
  return {
    get sender() {
      return sites.alpha.transport
    },
    restartSender: () => moved.restart('alpha'),
    restartReceiver: () => moved.restart('bravo'),
    async deliverAll() {
      await moved.waitUntilSent()
      await waitUntil(async () => (await hub.countWaiting()) === 0)
      await sites.bravo.transport.rescan()
    },
    delivered,
    answer,
    receiverStatus: () => sites.bravo.transport.status(),
    outgoing: (more) => buildMessage(sites, more),
    forbidden: () => buildMessage(sites, { label: buildLabel(sites.bravo.tenant_id, { level: 'TOP_SECRET' }) }),
  }
}
