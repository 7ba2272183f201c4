// Runs each carrier against each requirement.
import { afterEach, describe, test } from 'vitest'
import { until } from '../support/site-world.ts'
import { hubSites } from '../transport/coalition/hub-sites.ts'
import { servedHub } from '../transport/coalition/served-hub.ts'
import {
  carry,
  labelFor,
  message,
  restart,
  startReceiving,
  twoSites,
  type World,
} from '../transport/filedrop/two-sites.ts'
import { joinedByTls } from '../transport/mtls/joined-sites.ts'
import { type TransportWorld, transportRequirements } from './transport.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** How what one site has made ready comes to the other, from the start of both on. */
type Joined = { bring(): Promise<void>; end(): Promise<void> }

const carriers: Readonly<Record<string, (sites: World) => Promise<Joined>>> = {
  filedrop: async ({ alpha, bravo }) => ({
    async bring() {
      carry(alpha, bravo)
    },
    end: async () => undefined,
  }),
  mtls: joinedByTls,
}

describe.each(Object.keys(carriers))('%s', (name) => {
  for (const { id, says, holds } of transportRequirements) {
    test(`${id}: ${says}`, async () => holds(await worldOf(carriers[name] ?? joinedByTls)))
  }
})

describe('coalition', () => {
  for (const { id, says, holds } of transportRequirements) {
    test(`${id}: ${says}`, async () => holds(await coalitionWorld()))
  }
})

async function worldOf(joining: (sites: World) => Promise<Joined>): Promise<TransportWorld> {
  const sites: World = await twoSites()
  const { alpha, bravo } = sites
  let answer: Parameters<TransportWorld['answer']>[0] = () => ({ verdict: 'applied' })
  const delivered: TransportWorld['delivered'] = []
  const handler = async (incoming: (typeof delivered)[number]) => {
    delivered.push(incoming)
    return await answer(incoming)
  }
  await startReceiving(alpha)
  await startReceiving(bravo, handler)
  const joined = await joining(sites)
  ends.push(async () => {
    await joined.end()
    await sites.dispose()
  })
  return {
    get sender() {
      return alpha.transport
    },
    restartSender: () => restart(alpha),
    restartReceiver: () => restart(bravo, handler),
    async settle() {
      await alpha.transport.rescan()
      await joined.bring()
      await bravo.transport.rescan()
    },
    delivered,
    answer(verdict) {
      answer = verdict
    },
    receiverStatus: () => bravo.transport.status(),
    outgoing: (more) => message(sites, more),
    forbidden: () => message(sites, { label: labelFor(bravo.tenant_id, { level: 'TOP_SECRET' }) }),
  }
}

/** File-drop's channel with a hub between: what lies ready goes there, and comes from there. */
async function coalitionWorld(): Promise<TransportWorld> {
  const hub = await servedHub()
  const moved = await hubSites(hub.way)
  ends.push(async () => {
    await moved.dispose()
    await hub.close()
  })
  const { sites, delivered, answer } = moved
  await moved.start('bravo', 'alpha')
  await until(async () => (await hub.isThere('alpha')) && (await hub.isThere('bravo')))
  return {
    get sender() {
      return sites.alpha.transport
    },
    restartSender: () => moved.restart('alpha'),
    restartReceiver: () => moved.restart('bravo'),
    async settle() {
      await moved.sent()
      await until(async () => (await hub.waiting()) === 0)
      await sites.bravo.transport.rescan()
    },
    delivered,
    answer,
    receiverStatus: () => sites.bravo.transport.status(),
    outgoing: (more) => message(sites, more),
    forbidden: () => message(sites, { label: labelFor(sites.bravo.tenant_id, { level: 'TOP_SECRET' }) }),
  }
}
