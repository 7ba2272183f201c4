// Three packaged sites with the resolution role and a courier on every road: for exchanges of records, keys and vectors.
import * as fs from 'node:fs'
import path from 'node:path'
import { agree } from '../../../daemon/roles/resolution/exchange/agree.ts'
import { get } from '../../../daemon/roles/resolution/exchange/get.ts'
import { list } from '../../../daemon/roles/resolution/exchange/list.ts'
import type { ExchangeState, ExchangeView } from '../../../daemon/roles/resolution/exchange/model.ts'
import { propose } from '../../../daemon/roles/resolution/exchange/propose.ts'
import { status } from '../../../daemon/roles/resolution/fusion-run/status.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { buildPeople, buildPersonLens } from '../../roles/resolution/resolution-site.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { type CourierRoute, deliverParcels, pickUpParcels } from '../../support/site/courier.ts'
import type { RunningDaemon } from '../../support/site/daemon-process.ts'
import {
  createPackagedFederation,
  editProfile,
  type FederatedSite,
  type PackagedFederation,
} from '../../support/site/packaged-federation.ts'
import { sharedClassification } from '../../support/site/packaged-site-pair.ts'
import { waitUntil } from '../../support/site/test-site.ts'

export const exchangeFields = ['given_name', 'surname', 'date_of_birth']

export type ExchangeSites = {
  readonly world: PackagedFederation
  readonly all: readonly FederatedSite[]
  readonly people: ReadonlyMap<string, CheckedClient>
  readonly daemons: Map<string, RunningDaemon>
  readonly roads: readonly CourierRoute[]
  at(name: string): CheckedClient
}

const siteNames = ['alpha', 'bravo', 'charlie']

/**
 * Started, with the same lens at each. `profiles`: settings of the role, by site. `joined`: lays a network between the sites before
 * they start, with a fourth one at hand for a hub; no courier goes then.
 */
export async function startExchangeSites(
  profiles: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {},
  joined?: (sites: readonly FederatedSite[], world: PackagedFederation) => Promise<void>,
): Promise<ExchangeSites> {
  const world = await createPackagedFederation(...siteNames, ...(joined ? ['hub'] : []))
  const all = siteNames.flatMap((name) => world.sites[name] ?? [])
  await joined?.(all, world)
  const people = new Map<string, CheckedClient>()
  const daemons = new Map<string, RunningDaemon>()
  for (const site of all) {
    const data_folder = writeDataFolder(site)
    const resolution = { port: 0, data_folder, ...profiles[site.name] }
    editProfile(site, { platform: { roles: ['site', 'resolution'] }, resolution })
    daemons.set(site.name, await site.start())
    people.set(site.name, await site.as('demo', ['operator', 'admin']))
  }
  const at = (name: string) => people.get(name) ?? throwUnknownSite(name)
  for (const { name } of all)
    await at(name).ok(create, { body: buildPersonLens('1.0.0'), classification: sharedClassification })
  const roads = joined ? [] : all.flatMap((from) => all.filter((to) => to !== from).map((to) => ({ from, to })))
  return { world, all, people, daemons, roads, at }
}

/** With twenty people for each tenant, ten of whom alpha and bravo share. */
function writeDataFolder({ name, dir }: FederatedSite): string {
  const folder = path.join(dir, 'records')
  fs.mkdirSync(path.join(folder, name), { recursive: true })
  for (const [file, from] of [
    ['ours.csv', 0],
    ['theirs.csv', 10],
  ] as const) {
    const lines = buildPeople(from, from + 20).map((person) => Object.values(person).join(','))
    fs.writeFileSync(path.join(folder, name, file), ['id,given_name,surname,date_of_birth', ...lines, ''].join('\n'))
  }
  return folder
}

function throwUnknownSite(name: string): never {
  throw new Error(`there is no ${name}`)
}

/** The test's changes to the proposal of alpha to bravo. */
type ProposalChanges = Partial<Parameters<typeof buildProposal>[0]>

function buildProposal(changes: {
  privacy: 'none' | 'psi' | 'clk'
  data: Record<string, string>[]
  learns: string[]
  linker?: string
  accept_dictionary_risk?: boolean
  max_set_size: number
  clk?: { threshold: number }
}) {
  return { peer: 'bravo', lens_id: 'people', fields: exchangeFields, classification: sharedClassification, ...changes }
}

export function proposeExchange(
  sites: ExchangeSites,
  changes: ProposalChanges & { data: Record<string, string>[] },
): Promise<ExchangeView> {
  const both = { privacy: 'psi' as const, learns: ['alpha', 'bravo'], max_set_size: 1_000 }
  return sites.at('alpha').ok(propose, buildProposal({ ...both, ...changes }))
}

/** Once the proposal has arrived there. */
export async function agreeToExchange(
  sites: ExchangeSites,
  site: string,
  uid: string,
  data?: Record<string, string>[],
): Promise<ExchangeView> {
  await carryAllUntil(sites, async () =>
    (await sites.at(site).ok(list, { limit: 500 })).items.some((each) => each.uid === uid),
  )
  return await sites.at(site).ok(agree, data === undefined ? { uid } : { uid, data })
}

/** Couriers go until the exchange is in this state at all of these sites. */
export function waitForExchange(sites: ExchangeSites, uid: string, state: ExchangeState, names = ['alpha', 'bravo']) {
  return carryAllUntil(sites, async () => {
    const seen = await Promise.all(names.map((name) => sites.at(name).call(get, { uid })))
    return seen.every(({ value }) => value?.state === state) && seen.map(({ value }) => value as ExchangeView)
  })
}

export function waitForRunEnd(sites: ExchangeSites, name: string, run_id: string) {
  return waitUntil(async () => {
    const { value } = await sites.at(name).call(status, { run_id })
    return value && ['completed', 'failed', 'cancelled'].includes(value.state) && value
  })
}

export function carryAllUntil<T>(sites: ExchangeSites, holds: () => Promise<T | undefined | false>): Promise<T> {
  return waitUntil(async () => {
    for (const road of sites.roads) deliverParcels(road, pickUpParcels(road))
    return await holds()
  })
}
