// Three packaged sites with the resolution role and a courier on every road: for exchanges of records, keys and vectors.
import * as fs from 'node:fs'
import path from 'node:path'
import { agree } from '../../daemon/roles/resolution/exchange/agree.ts'
import { get } from '../../daemon/roles/resolution/exchange/get.ts'
import { list } from '../../daemon/roles/resolution/exchange/list.ts'
import type { ExchangeState, ExchangeView } from '../../daemon/roles/resolution/exchange/model.ts'
import { propose } from '../../daemon/roles/resolution/exchange/propose.ts'
import { status } from '../../daemon/roles/resolution/fusion-run/status.ts'
import { create } from '../../daemon/roles/resolution/lens/create.ts'
import { peopleOf, personLens } from '../roles/resolution/resolution-world.ts'
import { type Daemon, edit, type PackagedSite, type PackagedSites, packagedSites } from '../support/packaged-sites.ts'
import type { Person } from '../support/person.ts'
import { until } from '../support/site-world.ts'
import { bring, pickUp, type Road } from './courier.ts'
import { shared } from './question.ts'

export const fields = ['given_name', 'surname', 'date_of_birth']

export type Sites = {
  readonly world: PackagedSites
  readonly all: readonly PackagedSite[]
  readonly people: ReadonlyMap<string, Person>
  readonly daemons: Map<string, Daemon>
  readonly roads: readonly Road[]
  at(name: string): Person
}

const names = ['alpha', 'bravo', 'charlie']

/**
 * Started, with the same lens at each. `profiles`: settings of the role, by site. `joined`: lays a network between the sites before
 * they start, with a fourth one at hand for a hub; no courier goes then.
 */
export async function exchangeSites(
  profiles: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {},
  joined?: (sites: readonly PackagedSite[], world: PackagedSites) => Promise<void>,
): Promise<Sites> {
  const world = await packagedSites(...names, ...(joined ? ['hub'] : []))
  const all = names.flatMap((name) => world.sites[name] ?? [])
  await joined?.(all, world)
  const people = new Map<string, Person>()
  const daemons = new Map<string, Daemon>()
  for (const site of all) {
    const data_folder = dataFolderOf(site)
    const resolution = { port: 0, data_folder, ...profiles[site.name] }
    edit(site, { platform: { roles: ['site', 'resolution'] }, resolution })
    daemons.set(site.name, await site.start())
    people.set(site.name, await site.as('demo', ['operator', 'admin']))
  }
  const at = (name: string) => people.get(name) ?? absent(name)
  for (const { name } of all) await at(name).ok(create, { body: personLens('1.0.0'), classification: shared })
  const roads = joined ? [] : all.flatMap((from) => all.filter((to) => to !== from).map((to) => ({ from, to })))
  return { world, all, people, daemons, roads, at }
}

/** With twenty people for each tenant, ten of whom alpha and bravo share. */
function dataFolderOf({ name, dir }: PackagedSite): string {
  const folder = path.join(dir, 'records')
  fs.mkdirSync(path.join(folder, name), { recursive: true })
  for (const [file, from] of [
    ['ours.csv', 0],
    ['theirs.csv', 10],
  ] as const) {
    const lines = peopleOf(from, from + 20).map((person) => Object.values(person).join(','))
    fs.writeFileSync(path.join(folder, name, file), ['id,given_name,surname,date_of_birth', ...lines, ''].join('\n'))
  }
  return folder
}

function absent(name: string): never {
  throw new Error(`there is no ${name}`)
}

/** What a test lays over the proposal of alpha to bravo. */
type Proposal = Partial<Parameters<typeof proposalOf>[0]>

function proposalOf(given: {
  privacy: 'none' | 'psi' | 'clk'
  data: Record<string, string>[]
  learns: string[]
  linker?: string
  accept_dictionary_risk?: boolean
  max_set_size: number
  clk?: { threshold: number }
}) {
  return { peer: 'bravo', lens_id: 'people', fields, classification: shared, ...given }
}

export function proposed(sites: Sites, given: Proposal & { data: Record<string, string>[] }): Promise<ExchangeView> {
  const both = { privacy: 'psi' as const, learns: ['alpha', 'bravo'], max_set_size: 1_000 }
  return sites.at('alpha').ok(propose, proposalOf({ ...both, ...given }))
}

/** Once the proposal has arrived there. */
export async function agreed(
  sites: Sites,
  site: string,
  uid: string,
  data?: Record<string, string>[],
): Promise<ExchangeView> {
  await carryUntil(sites, async () =>
    (await sites.at(site).ok(list, { limit: 500 })).items.some((each) => each.uid === uid),
  )
  return await sites.at(site).ok(agree, data === undefined ? { uid } : { uid, data })
}

/** Couriers go until the exchange is in this state at all of these sites. */
export function inState(sites: Sites, uid: string, state: ExchangeState, names = ['alpha', 'bravo']) {
  return carryUntil(sites, async () => {
    const seen = await Promise.all(names.map((name) => sites.at(name).ask(get, { uid })))
    return seen.every(({ value }) => value?.state === state) && seen.map(({ value }) => value as ExchangeView)
  })
}

export function runEnded(sites: Sites, name: string, run_id: string) {
  return until(async () => {
    const { value } = await sites.at(name).ask(status, { run_id })
    return value && ['completed', 'failed', 'cancelled'].includes(value.state) && value
  })
}

export function carryUntil<T>(sites: Sites, holds: () => Promise<T | undefined | false>): Promise<T> {
  return until(async () => {
    for (const road of sites.roads) bring(road, pickUp(road))
    return await holds()
  })
}
