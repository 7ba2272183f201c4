// Sites find who is who over the file-drop: by records as they are, by blinded keys, by bit vectors and a third site.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { list as clusters } from '../../../daemon/roles/resolution/entity-cluster/list.ts'
import { list as matches } from '../../../daemon/roles/resolution/entity-match/list.ts'
import { cancelExchange } from '../../../daemon/roles/resolution/exchange/cancel.ts'
import { propose } from '../../../daemon/roles/resolution/exchange/propose.ts'
import { cancel } from '../../../daemon/roles/resolution/fusion-run/cancel.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { buildPeople } from '../../roles/resolution/resolution-site.ts'
import { listQuarantined } from '../../support/site/courier.ts'
import { sharedClassification } from '../../support/site/packaged-site-pair.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import {
  agreeToExchange,
  carryAllUntil,
  type ExchangeSites,
  exchangeFields,
  proposeExchange,
  startExchangeSites,
  waitForExchange,
  waitForRunEnd,
} from './exchange-sites.ts'

let sites: ExchangeSites
beforeAll(async () => {
  // Bravo agrees by its profile to proposals about names alone.
  sites = await startExchangeSites({
    bravo: {
      agreements: [
        {
          peer: 'alpha',
          lens: 'people',
          privacy: ['psi'],
          fields: ['given_name', 'surname'],
          max_set_size: 50,
          they_learn: true,
          file: 'theirs.csv',
        },
      ],
    },
  })
})
afterAll(() => sites?.world.end())

const formatRunId = (uid: string) => uid.replace('xchg_', 'run_')

/** Everything that a run says of who is who, in an order of its own. */
async function readRunResult(name: string, run_id: string) {
  const found = await sites.at(name).ok(matches, { run_id, limit: 500 })
  const grouped = await sites.at(name).ok(clusters, { run_id, limit: 500 })
  const pairs = found.items.flatMap((item) => ('run_id' in item ? [item] : []))
  return {
    pairs: pairs
      .map(({ left, right, score, linked, levels }) => JSON.stringify([left, right, score, linked, levels]))
      .sort(),
    clusters: grouped.items.flatMap((item) => ('members' in item ? [JSON.stringify(item.members)] : [])).sort(),
  }
}

test('records as they are: both sites come to what one site finds that has all of them', async () => {
  const [ours, theirs] = [buildPeople(0, 60), buildPeople(30, 90)]
  const alone = await sites
    .at('alpha')
    .ok(start, { lens_id: 'people', node_data: { alpha: ours, bravo: theirs }, classification: sharedClassification })
  expect(await waitForRunEnd(sites, 'alpha', alone.uid)).toMatchObject({ state: 'completed' })
  const local = await readRunResult('alpha', alone.uid)
  expect(local.clusters).toHaveLength(30)
  const { uid, warnings } = await proposeExchange(sites, { privacy: 'none', data: ours })
  expect(warnings.join()).toContain('unencoded')
  await agreeToExchange(sites, 'bravo', uid, theirs)
  await waitForExchange(sites, uid, 'completed')
  for (const name of ['alpha', 'bravo']) {
    expect(await waitForRunEnd(sites, name, formatRunId(uid))).toMatchObject({
      state: 'completed',
      privacy: 'none',
      counts: { clusters: 30 },
    })
    expect(await readRunResult(name, formatRunId(uid))).toEqual(local)
  }
})

test('psi: both learn exactly the keys that both have, and nothing of the others’ names', async () => {
  const { uid, warnings } = await proposeExchange(sites, { data: buildPeople(0, 60) })
  expect(warnings.join()).toMatch(/semi-honest.*can guess/)
  await agreeToExchange(sites, 'bravo', uid, buildPeople(40, 100))
  await waitForExchange(sites, uid, 'completed')
  const shared = new Set(buildPeople(40, 60).map(({ id }) => id))
  const places: string[][] = []
  for (const [name, other] of [
    ['alpha', 'bravo'],
    ['bravo', 'alpha'],
  ] as const) {
    const run = await waitForRunEnd(sites, name, formatRunId(uid))
    expect(run).toMatchObject({
      state: 'completed',
      privacy: 'psi',
      counts: { matches: 20, clusters: 20, clustered: 40 },
    })
    const { items } = await sites.at(name).ok(matches, { run_id: run.uid, limit: 500 })
    const ends = items.map(({ left, right }) => (left.node_id === name ? [left, right] : [right, left]))
    expect(new Set(ends.map(([own]) => own?.record_id))).toEqual(shared)
    expect(ends.every(([, theirs]) => theirs?.node_id === other && theirs.record_id.startsWith(`${uid}#`))).toBe(true)
    places.push(ends.map(([, theirs]) => theirs?.record_id ?? '').sort())
  }
  expect(places[0]).toEqual(places[1])
})

test('psi: who does not learn has a run that finds nothing', async () => {
  const { uid } = await proposeExchange(sites, { data: buildPeople(0, 20), learns: ['bravo'] })
  await agreeToExchange(sites, 'bravo', uid, buildPeople(10, 30))
  await waitForExchange(sites, uid, 'completed')
  expect(await waitForRunEnd(sites, 'bravo', formatRunId(uid))).toMatchObject({ counts: { matches: 10 } })
  expect(await waitForRunEnd(sites, 'alpha', formatRunId(uid))).toMatchObject({
    state: 'completed',
    counts: { records: 20 },
  })
  expect((await sites.at('alpha').ok(matches, { run_id: formatRunId(uid) })).items).toEqual([])
})

test('clk: a third site that has no key compares; slips of the pen are found', async () => {
  const theirs = buildPeople(20, 60).map((person) => ({ ...person, surname: `${person.surname}n` }))
  const { uid } = await proposeExchange(sites, {
    privacy: 'clk',
    linker: 'charlie',
    data: buildPeople(0, 40),
    clk: { threshold: 0.8 },
  })
  await agreeToExchange(sites, 'charlie', uid)
  await agreeToExchange(sites, 'bravo', uid, theirs)
  await waitForExchange(sites, uid, 'completed', ['alpha', 'bravo', 'charlie'])
  for (const name of ['alpha', 'bravo']) {
    expect(await waitForRunEnd(sites, name, formatRunId(uid))).toMatchObject({
      state: 'completed',
      counts: { matches: 20 },
    })
    const { items } = await sites.at(name).ok(matches, { run_id: formatRunId(uid), limit: 500 })
    const ids = items.map(({ left, right }) => (left.node_id === name ? left : right).record_id)
    expect(new Set(ids)).toEqual(new Set(buildPeople(20, 40).map(({ id }) => id)))
  }
  expect((await sites.at('charlie').ok(matches, { run_id: formatRunId(uid) })).items).toEqual([])
})

test('clk between two alone: only by a word that the risk is accepted', async () => {
  const options = { privacy: 'clk' as const, linker: 'alpha', data: buildPeople(0, 10) }
  const words = {
    peer: 'bravo',
    lens_id: 'people',
    fields: exchangeFields,
    learns: ['alpha'],
    max_set_size: 100,
    classification: sharedClassification,
    ...options,
  }
  expect(await sites.at('alpha').refusal(propose, words)).toBe('invalid')
  const { uid, warnings } = await proposeExchange(sites, {
    ...options,
    learns: ['alpha'],
    accept_dictionary_risk: true,
  })
  expect(warnings.join()).toContain('alpha compares and has the key')
  await agreeToExchange(sites, 'bravo', uid, buildPeople(5, 15))
  await waitForExchange(sites, uid, 'completed')
  expect(await waitForRunEnd(sites, 'alpha', formatRunId(uid))).toMatchObject({ counts: { matches: 5 } })
})

test('a site that declines, cancels an exchange or ends its run, ends it for all', async () => {
  const first = await proposeExchange(sites, { data: buildPeople(0, 10) })
  await carryAllUntil(
    sites,
    async () => (await sites.at('bravo').call(cancelExchange, { uid: first.uid, reason: 'not today' })).value,
  )
  const [atAlpha] = await waitForExchange(sites, first.uid, 'declined')
  expect(atAlpha?.failure?.reason).toContain('not today')
  const second = await proposeExchange(sites, { data: buildPeople(0, 10) })
  await agreeToExchange(sites, 'bravo', second.uid, buildPeople(5, 15))
  await waitUntil(async () => (await sites.at('bravo').call(cancel, { run_id: formatRunId(second.uid) })).value)
  await waitForExchange(sites, second.uid, 'cancelled')
})

test('by the command line, which warns, and with a peer whose profile agrees to this much and no more', async () => {
  const { alpha } = sites.world.sites
  if (!alpha) throw new Error('alpha was made')
  const words = [
    'resolve',
    'exchange',
    'propose',
    'bravo',
    '--mode',
    'psi',
    '--lens',
    'people',
    '--file',
    'ours.csv',
    '--learns',
    'alpha',
  ]
  const shared = ['--classification', 'RESTRICTED', '--releasable-to', 'alpha,bravo', '--json']
  const propose = async (fields: string, most: string) => {
    const ended = await alpha.run([...words, '--fields', fields, '--most', most, ...shared])
    expect(ended).toMatchObject({ exit: 0 })
    expect(ended.stderr).toMatch(/warning: .*semi-honest/)
    expect(ended.stderr).toMatch(/warning: a party that learns can guess/)
    return JSON.parse(ended.stdout).uid as string
  }
  const wide = await propose('given_name,surname,date_of_birth', '50')
  const large = await propose('given_name,surname', '51')
  const uid = await propose('given_name,surname', '50')
  await waitForExchange(sites, uid, 'completed')
  expect(await waitForRunEnd(sites, 'alpha', formatRunId(uid))).toMatchObject({ counts: { matches: 10 } })
  for (const id of [wide, large]) await waitForExchange(sites, id, 'proposed')
})

test('nothing of all this was refused on its way', () => {
  for (const road of sites.roads) expect(listQuarantined(road)).toEqual([])
})
