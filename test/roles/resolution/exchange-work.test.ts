// The computation of an exchange runs beside the service: visible meanwhile, cancelled on demand, with files of any kind.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { entityRecords, recordUid } from '../../../daemon/roles/resolution/entity-record/model.ts'
import { agree } from '../../../daemon/roles/resolution/exchange/agree.ts'
import { cancelExchange } from '../../../daemon/roles/resolution/exchange/cancel.ts'
import { get } from '../../../daemon/roles/resolution/exchange/get.ts'
import { exchangePieces } from '../../../daemon/roles/resolution/exchange/model.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { clkParameters } from '../../../daemon/roles/resolution/privacy/clk/parameters.ts'
import { encodeParquet } from '../../support/data/encode-blocks.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import {
  buildAgreement,
  buildProposal,
  type ExchangeFixture,
  referToAgreement,
  startExchangeFixture,
  waitForExchangeState,
} from './exchange-fixture.ts'
import { buildPeople, waitForRunEnd } from './resolution-site.ts'
import { registryLabel, seeded_at } from './seed-registry.ts'

const folder = fs.mkdtempSync(path.join(tmpdir(), 'exchange-files-'))
let fixture: ExchangeFixture
beforeAll(async () => {
  fixture = await startExchangeFixture({ data_folder: folder, exchange_records: 5_000 })
  writeFiles(path.join(folder, 'tenant-a'))
})
afterAll(async () => {
  await fixture?.end()
  fs.rmSync(folder, { recursive: true, force: true })
  expect(fixture?.world.loggedErrors ?? []).toEqual([])
})

/** The same people in files of each kind. */
function writeFiles(own: string): void {
  fs.mkdirSync(own)
  const people = buildPeople(0, 30)
  const columns = Object.keys(people[0] ?? {})
  const lines = people.map((each) => Object.values(each).join(','))
  fs.writeFileSync(path.join(own, 'people.csv'), [columns.join(','), ...lines, ''].join('\n'))
  fs.writeFileSync(path.join(own, 'people.jsonl'), people.map((each) => JSON.stringify(each)).join('\n'))
  const rows = people.map((person) => columns.map((name) => person[name as keyof typeof person]))
  fs.writeFileSync(path.join(own, 'people.parquet'), encodeParquet(columns, rows))
  fs.writeFileSync(path.join(own, 'broken.jsonl'), '{"id":"1","given_name":"a","surname":"b"}\n{"id":')
  fs.writeFileSync(path.join(own, 'broken.parquet'), 'PAR1 and nothing of the kind PAR1')
  fs.writeFileSync(path.join(own, 'latin.csv'), Buffer.from('id,given_name,surname\n1,J\xfcrgen,b\n', 'latin1'))
}

async function proposeExchange() {
  const agreement = buildAgreement({ max_set_size: 30 })
  expect(await fixture.say(fixture.bravo, buildProposal(agreement))).toBe(200)
  return agreement.exchange_id
}

test('CSV, JSON lines and Parquet bring the same records', async () => {
  const accepted: string[][] = []
  for (const file of ['people.csv', 'people.jsonl', 'people.parquet']) {
    const uid = await proposeExchange()
    const { ok } = await fixture.ann()
    expect(await ok(agree, { uid, data: { file } })).toMatchObject({ sizes: { alpha: 30 } })
    const { own = '' } = await fixture.stored(uid)
    const piece = await fixture.world.store('resolution').get(exchangePieces, `${uid}.alpha.${own}.0`)
    accepted.push(JSON.parse(piece?.value.data ?? '[]'))
    await ok(cancelExchange, { uid })
  }
  expect(accepted[0]).toHaveLength(30)
  expect(accepted[1]).toEqual(accepted[0])
  expect(accepted[2]).toEqual(accepted[0])
})

test('an id that is longer than any name is none', async () => {
  const { call } = await fixture.ann()
  const [person] = buildPeople(0, 1)
  const data = [{ ...person, id: 'é'.repeat(2_049) }]
  const { problem } = await call(agree, { uid: await proposeExchange(), data })
  expect(problem?.detail).toBe('the id of record 1 has 4098 bytes, and may have 4096')
})

test.each([
  ['broken.jsonl', /^the data file, line 2/],
  ['broken.parquet', /^the data file: damaged, or not a Parquet file/],
  ['latin.csv', /^the data file, line 2: bytes that are not UTF-8/],
  ['people.txt', /must be one of \.csv/],
  ['nobody.csv', /the data file does not exist/],
])('%s is refused, and nothing is agreed', async (file, why) => {
  const uid = await proposeExchange()
  const { call, ok } = await fixture.ann()
  const { problem } = await call(agree, { uid, data: { file } })
  expect(problem).toMatchObject({ code: 'invalid', detail: expect.stringMatching(why) })
  expect(await ok(get, { uid })).toMatchObject({ state: 'proposed' })
  expect(await fixture.pieces(uid)).toBe(0)
})

test('a forgotten record leaves the site in no exchange, from a file or a request', async () => {
  const ref = { node_id: 'alpha', record_id: 'p3' }
  const uid = recordUid('tenant-a', 'people', ref)
  const withdrawn = { kind: 'forgotten' as const, at: seeded_at, by: 'olga', reason: 'requested' }
  const tombstone = { tenant_id: 'tenant-a', label: registryLabel, lens: 'people', ref, values: {}, base: uid }
  const times = { withdrawn_at: seeded_at, updated_at: seeded_at, run_id: 'run_1' }
  await fixture.world.store('resolution').create(entityRecords, uid, { ...tombstone, withdrawn, ...times })
  for (const data of [{ file: 'people.csv' }, buildPeople(0, 30)]) {
    const exchange = await proposeExchange()
    const { ok } = await fixture.ann()
    expect(await ok(agree, { uid: exchange, data })).toMatchObject({ sizes: { alpha: 29 } })
    const { own = '' } = await fixture.stored(exchange)
    const piece = await fixture.world.store('resolution').get(exchangePieces, `${exchange}.alpha.${own}.0`)
    const ids = (JSON.parse(piece?.value.data ?? '[]') as string[][]).map(([id]) => id)
    expect(ids).toHaveLength(29)
    expect(ids).not.toContain('p3')
    await ok(cancelExchange, { uid: exchange })
  }
  await fixture.world.store('resolution').remove(entityRecords, uid)
})

test('a run of this site reads the same kinds', async () => {
  const ann = await fixture.ann()
  const node_data = { a: { file: 'people.csv' }, b: { file: 'people.jsonl' }, c: { file: 'people.parquet' } }
  const run = await waitForRunEnd(ann, (await ann.ok(start, { lens_id: 'people', node_data })).run_id)
  expect(run).toMatchObject({ state: 'completed', counts: { records: 90, clusters: 30, clustered: 90 } })
})

const word_count = 128

/** 500 vectors that few bits tell apart, and some with all bits, which make a linker draw as often as it ever does. */
function buildHostileVectors(full: number): { readonly items: number; readonly data: string } {
  const items = 500 + full
  const vectors = new Uint32Array(items * word_count)
  for (let row = 0; row < 500; row++) vectors[row * word_count + ((row * 7) % word_count)] = 1 << (row % 32)
  vectors.fill(0xffffffff, 500 * word_count)
  return { items, data: Buffer.from(vectors.buffer).toString('base64url') }
}

test('vectors that take minutes to compare hold up nobody, and who cancels ends the work', async () => {
  const clk = clkParameters.parse({ length: 4_096, fold: false, threshold: 0.5 })
  const parties: [string, string] = ['bravo', 'charlie']
  const agreement = buildAgreement({
    parties,
    privacy: 'clk',
    linker: 'alpha',
    learns: ['bravo'],
    clk,
    max_set_size: 5_000,
  })
  const uid = agreement.exchange_id
  const [ours, theirs] = [buildHostileVectors(1_500), buildHostileVectors(0)]
  expect(await fixture.say(fixture.bravo, buildProposal(agreement, ours.items))).toBe(200)
  await (await fixture.ann()).ok(agree, { uid })
  const piece = { say: 'piece', ...referToAgreement(agreement), round: 'vectors', number: 0, of: 1 }
  expect(await fixture.say(fixture.bravo, { ...piece, ...ours })).toBe(200)
  expect(await fixture.say(fixture.charlie, { ...piece, ...theirs })).toBe(200)
  const { ok } = await fixture.ann()
  // Read while it goes on: were it done in the service itself, nothing would answer.
  const seen = await waitUntil(async () => {
    const { progress } = await ok(get, { uid })
    return progress?.step === 'compare vectors' && progress.done > 0 && progress
  })
  expect(seen.total).toBe(256)
  // Charlie's own exchange goes on meanwhile, and the tests' patience is shorter than the work.
  const other = buildAgreement({ parties: ['charlie', 'alpha'], learns: ['alpha'] })
  expect(await fixture.say(fixture.charlie, buildProposal(other))).toBe(200)
  await ok(agree, { uid: other.exchange_id, data: buildPeople(0, 5) })
  await waitUntil(async () => (await fixture.stored(other.exchange_id)).step === 1)
  expect((await ok(get, { uid })).progress?.step).toBe('compare vectors')
  await ok(cancelExchange, { uid })
  await waitForExchangeState(fixture, uid, 'cancelled')
  expect(await fixture.pieces(uid)).toBe(0)
  await ok(cancelExchange, { uid: other.exchange_id })
})
