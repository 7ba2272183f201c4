// Sites find who is who over every network, by blinded keys and by bit vectors at a third site, as they do by the file-drop.
import { expect, test as plain } from 'vitest'
import { list as matches } from '../../../daemon/roles/resolution/entity-match/list.ts'
import { buildPeople } from '../../roles/resolution/resolution-site.ts'
import {
  agreeToExchange,
  type ExchangeSites,
  proposeExchange,
  startExchangeSites,
  waitForExchange,
  waitForRunEnd,
} from '../../sites/exchange/exchange-sites.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { type FederationNetwork, federationTransports } from './federation-transports.ts'

for (const arm of federationTransports.filter(({ name }) => name !== 'filedrop')) {
  const test = arm.requirement ? whenPresent(arm.requirement) : plain
  test(`${arm.name}: both learn whom both know`, async () => {
    let network: FederationNetwork | undefined
    const sites = await startExchangeSites({}, async (all, world) => {
      network = await arm.prepare(all, world)
    })
    try {
      await exchangeByKeys(sites)
      await exchangeByVectors(sites)
    } finally {
      await network?.end()
      await sites.world.end()
    }
  }, 300_000)
}

async function exchangeByKeys(sites: ExchangeSites): Promise<void> {
  const { uid } = await proposeExchange(sites, { data: buildPeople(0, 60) })
  await agreeToExchange(sites, 'bravo', uid, buildPeople(40, 100))
  await waitForExchange(sites, uid, 'completed')
  await expectShared(sites, uid, 40, 60)
}

async function exchangeByVectors(sites: ExchangeSites): Promise<void> {
  const options = { privacy: 'clk' as const, linker: 'charlie', data: buildPeople(0, 40), clk: { threshold: 0.8 } }
  const { uid } = await proposeExchange(sites, options)
  await agreeToExchange(sites, 'charlie', uid)
  await agreeToExchange(sites, 'bravo', uid, buildPeople(20, 60))
  await waitForExchange(sites, uid, 'completed', ['alpha', 'bravo', 'charlie'])
  await expectShared(sites, uid, 20, 40)
}

/** Each knows its own records that the other has, and none besides. */
async function expectShared(sites: ExchangeSites, uid: string, from: number, to: number): Promise<void> {
  const run_id = uid.replace('xchg_', 'run_')
  for (const name of ['alpha', 'bravo']) {
    expect(await waitForRunEnd(sites, name, run_id)).toMatchObject({ state: 'completed' })
    const { items } = await sites.at(name).ok(matches, { run_id, limit: 500 })
    const own = items.map(({ left, right }) => (left.node_id === name ? left : right).record_id)
    expect(new Set(own)).toEqual(new Set(buildPeople(from, to).map(({ id }) => id)))
  }
}
