// Sites die between any two messages of an exchange, and the courier brings everything late, twice and the wrong way round.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { list as matches } from '../../../daemon/roles/resolution/entity-match/list.ts'
import { get } from '../../../daemon/roles/resolution/exchange/get.ts'
import { buildPeople } from '../../roles/resolution/resolution-site.ts'
import { deliverParcels, listQuarantined, pickUpParcels } from '../../support/site/courier.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import {
  agreeToExchange,
  type ExchangeSites,
  proposeExchange,
  startExchangeSites,
  waitForRunEnd,
} from './exchange-sites.ts'

let sites: ExchangeSites
beforeAll(async () => {
  sites = await startExchangeSites()
})
afterAll(() => sites?.world.end())

/** Killed, and there again. */
async function restartSite(name: string): Promise<void> {
  await sites.daemons.get(name)?.kill()
  const site = sites.all.find((each) => each.name === name)
  if (site) sites.daemons.set(name, await site.start())
}

async function areBothInState(uid: string, state: string): Promise<boolean> {
  const seen = await Promise.all(['alpha', 'bravo'].map((name) => sites.at(name).call(get, { uid })))
  return seen.every(({ value }) => value?.state === state)
}

test.each(['none', 'psi'] as const)(
  '%s: with either killed after each message, both learn the same once',
  async (privacy) => {
    const { uid } = await proposeExchange(sites, { privacy, data: buildPeople(0, 40) })
    await agreeToExchange(sites, 'bravo', uid, buildPeople(25, 60))
    let deaths = 0
    for (let isOver = false; !isOver; ) {
      const trips = await waitUntil(async () => {
        const found = sites.roads
          .map((road) => ({ road, parcels: pickUpParcels(road) }))
          .filter(({ parcels }) => parcels.length > 0)
        isOver = found.length === 0 && (await areBothInState(uid, 'completed'))
        return (isOver || found.length > 0) && found
      })
      for (const { road, parcels } of trips) {
        deliverParcels(road, parcels.toReversed())
        await restartSite(deaths++ % 2 === 0 ? road.to.name : road.from.name)
        deliverParcels(road, parcels)
      }
    }
    expect(deaths).toBeGreaterThan(1)
    const run_id = uid.replace('xchg_', 'run_')
    for (const name of ['alpha', 'bravo']) {
      expect(await waitForRunEnd(sites, name, run_id)).toMatchObject({ state: 'completed', counts: { clusters: 15 } })
      const { items } = await sites.at(name).ok(matches, { run_id, limit: 500 })
      const own = items
        .filter(({ linked }) => linked)
        .map(({ left, right }) => (left.node_id === name ? left : right).record_id)
      expect(new Set(own)).toEqual(new Set(buildPeople(25, 40).map(({ id }) => id)))
      expect(own).toHaveLength(15)
    }
    for (const road of sites.roads) expect(listQuarantined(road)).toEqual([])
  },
)
