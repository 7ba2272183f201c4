// Sites find who is who over every network, by blinded keys and by bit vectors at a third site, as they do by the file-drop.
import { expect, test as plain } from 'vitest'
import { list as matches } from '../../../daemon/roles/resolution/entity-match/list.ts'
import { peopleOf } from '../../roles/resolution/resolution-world.ts'
import { agreed, exchangeSites, inState, proposed, runEnded, type Sites } from '../../sites/exchange-world.ts'
import { whenPresent } from '../../support/requires.ts'
import { arms, type Network } from './arms.ts'

for (const arm of arms.filter(({ name }) => name !== 'filedrop')) {
  const test = arm.wanted ? whenPresent(arm.wanted) : plain
  test(`${arm.name}: both learn whom both know`, async () => {
    let network: Network | undefined
    const sites = await exchangeSites({}, async (all, world) => {
      network = await arm.prepare(all, world)
    })
    try {
      await byKeys(sites)
      await byVectors(sites)
    } finally {
      await network?.end()
      await sites.world.end()
    }
  }, 300_000)
}

async function byKeys(sites: Sites): Promise<void> {
  const { uid } = await proposed(sites, { data: peopleOf(0, 60) })
  await agreed(sites, 'bravo', uid, peopleOf(40, 100))
  await inState(sites, uid, 'completed')
  await expectShared(sites, uid, 40, 60)
}

async function byVectors(sites: Sites): Promise<void> {
  const given = { privacy: 'clk' as const, linker: 'charlie', data: peopleOf(0, 40), clk: { threshold: 0.8 } }
  const { uid } = await proposed(sites, given)
  await agreed(sites, 'charlie', uid)
  await agreed(sites, 'bravo', uid, peopleOf(20, 60))
  await inState(sites, uid, 'completed', ['alpha', 'bravo', 'charlie'])
  await expectShared(sites, uid, 20, 40)
}

/** Each knows its own records that the other has, and none besides. */
async function expectShared(sites: Sites, uid: string, from: number, to: number): Promise<void> {
  const run_id = uid.replace('xchg_', 'run_')
  for (const name of ['alpha', 'bravo']) {
    expect(await runEnded(sites, name, run_id)).toMatchObject({ state: 'completed' })
    const { items } = await sites.at(name).ok(matches, { run_id, limit: 500 })
    const own = items.map(({ left, right }) => (left.node_id === name ? left : right).record_id)
    expect(new Set(own)).toEqual(new Set(peopleOf(from, to).map(({ id }) => id)))
  }
}
