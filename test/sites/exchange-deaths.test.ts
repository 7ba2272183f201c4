// Sites die between any two messages of an exchange, and the courier brings everything late, twice and the wrong way round.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { list as matches } from '../../daemon/roles/resolution/entity-match/list.ts'
import { get } from '../../daemon/roles/resolution/exchange/get.ts'
import { peopleOf } from '../roles/resolution/resolution-world.ts'
import { until } from '../support/site-world.ts'
import { bring, pickUp, quarantined } from './courier.ts'
import { agreed, exchangeSites, proposed, runEnded, type Sites } from './exchange-world.ts'

let sites: Sites
beforeAll(async () => {
  sites = await exchangeSites()
})
afterAll(() => sites?.world.end())

/** Killed, and there again. */
async function diesAndComesBack(name: string): Promise<void> {
  await sites.daemons.get(name)?.kill()
  const site = sites.all.find((each) => each.name === name)
  if (site) sites.daemons.set(name, await site.start())
}

async function bothAre(uid: string, state: string): Promise<boolean> {
  const seen = await Promise.all(['alpha', 'bravo'].map((name) => sites.at(name).ask(get, { uid })))
  return seen.every(({ value }) => value?.state === state)
}

test.each(['none', 'psi'] as const)(
  '%s: whoever is killed after each message, both learn the same once',
  async (privacy) => {
    const { uid } = await proposed(sites, { privacy, data: peopleOf(0, 40) })
    await agreed(sites, 'bravo', uid, peopleOf(25, 60))
    let deaths = 0
    for (let isOver = false; !isOver; ) {
      const trips = await until(async () => {
        const found = sites.roads
          .map((road) => ({ road, parcels: pickUp(road) }))
          .filter(({ parcels }) => parcels.length > 0)
        isOver = found.length === 0 && (await bothAre(uid, 'completed'))
        return (isOver || found.length > 0) && found
      })
      for (const { road, parcels } of trips) {
        bring(road, parcels.toReversed())
        await diesAndComesBack(deaths++ % 2 === 0 ? road.to.name : road.from.name)
        bring(road, parcels)
      }
    }
    expect(deaths).toBeGreaterThan(1)
    const run_id = uid.replace('xchg_', 'run_')
    for (const name of ['alpha', 'bravo']) {
      expect(await runEnded(sites, name, run_id)).toMatchObject({ state: 'completed', counts: { clusters: 15 } })
      const { items } = await sites.at(name).ok(matches, { run_id, limit: 500 })
      const own = items
        .filter(({ linked }) => linked)
        .map(({ left, right }) => (left.node_id === name ? left : right).record_id)
      expect(new Set(own)).toEqual(new Set(peopleOf(25, 40).map(({ id }) => id)))
      expect(own).toHaveLength(15)
    }
    for (const road of sites.roads) expect(quarantined(road)).toEqual([])
  },
)
