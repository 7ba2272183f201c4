// What an exchange computes goes on beside the service: seen while it does, ended when it is wanted no more, of files of any kind.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parquetSink } from '../../../adapters/format/parquet/writing.ts'
import { agree } from '../../../daemon/roles/resolution/exchange/agree.ts'
import { decline } from '../../../daemon/roles/resolution/exchange/decline.ts'
import { get } from '../../../daemon/roles/resolution/exchange/get.ts'
import { exchangePieces } from '../../../daemon/roles/resolution/exchange/model.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { clkParameters } from '../../../daemon/roles/resolution/privacy/clk/parameters.ts'
import { until } from '../../support/site-world.ts'
import { about, agreementOf, type ExchangeWorld, exchangeWorld, proposalOf, settled } from './peer-exchange.ts'
import { ended, peopleOf } from './resolution-world.ts'

const folder = fs.mkdtempSync(path.join(tmpdir(), 'exchange-files-'))
let given: ExchangeWorld
beforeAll(async () => {
  given = await exchangeWorld({ data_folder: folder, exchange_records: 5_000 })
  writeFiles(path.join(folder, 'tenant-a'))
})
afterAll(async () => {
  await given?.end()
  fs.rmSync(folder, { recursive: true, force: true })
  expect(given?.world.faults ?? []).toEqual([])
})

/** The same people in files of each kind. */
function writeFiles(own: string): void {
  fs.mkdirSync(own)
  const people = peopleOf(0, 30)
  const columns = Object.keys(people[0] ?? {})
  const lines = people.map((each) => Object.values(each).join(','))
  fs.writeFileSync(path.join(own, 'people.csv'), [columns.join(','), ...lines, ''].join('\n'))
  fs.writeFileSync(path.join(own, 'people.jsonl'), people.map((each) => JSON.stringify(each)).join('\n'))
  const parts: Uint8Array[] = []
  const sink = parquetSink(
    columns.map((name) => ({ name, type: 'text' as const })),
    (bytes) => parts.push(bytes.slice()),
  )
  sink.group(columns.map((name) => people.map((person) => person[name as keyof typeof person])))
  sink.finish()
  fs.writeFileSync(path.join(own, 'people.parquet'), Buffer.concat(parts))
  fs.writeFileSync(path.join(own, 'broken.jsonl'), '{"id":"1","given_name":"a","surname":"b"}\n{"id":')
  fs.writeFileSync(path.join(own, 'broken.parquet'), 'PAR1 and nothing of the kind PAR1')
  fs.writeFileSync(path.join(own, 'latin.csv'), Buffer.from('id,given_name,surname\n1,J\xfcrgen,b\n', 'latin1'))
}

async function asked() {
  const agreement = agreementOf({ max_set_size: 30 })
  expect(await given.say(given.bravo, proposalOf(agreement))).toBe(200)
  return agreement.exchange_id
}

test('CSV, JSON lines and Parquet bring the same records', async () => {
  const kept: string[][] = []
  for (const file of ['people.csv', 'people.jsonl', 'people.parquet']) {
    const uid = await asked()
    const { ok } = await given.ann()
    expect(await ok(agree, { uid, data: { file } })).toMatchObject({ sizes: { alpha: 30 } })
    const { own = '' } = await given.stored(uid)
    const piece = await given.world.store('resolution').get(exchangePieces, `${uid}.alpha.${own}.0`)
    kept.push(JSON.parse(piece?.value.data ?? '[]'))
    await ok(decline, { uid })
  }
  expect(kept[0]).toHaveLength(30)
  expect(kept[1]).toEqual(kept[0])
  expect(kept[2]).toEqual(kept[0])
})

test('an id that is longer than any name is none', async () => {
  const { ask } = await given.ann()
  const [person] = peopleOf(0, 1)
  const data = [{ ...person, id: 'é'.repeat(2_049) }]
  const { problem } = await ask(agree, { uid: await asked(), data })
  expect(problem?.detail).toBe('record 1 has an id of more than 4096 bytes')
})

test.each([
  ['broken.jsonl', /^the data file, line 2/],
  ['broken.parquet', /^the data file: broken, or no Parquet/],
  ['latin.csv', /^the data file cannot be read: line 2 is not UTF-8/],
  ['people.txt', /must be one of \.csv/],
  ['nobody.csv', /there is no such data file/],
])('%s is refused, and nothing is agreed', async (file, why) => {
  const uid = await asked()
  const { ask, ok } = await given.ann()
  const { problem } = await ask(agree, { uid, data: { file } })
  expect(problem).toMatchObject({ code: 'invalid', detail: expect.stringMatching(why) })
  expect(await ok(get, { uid })).toMatchObject({ state: 'proposed' })
  expect(await given.pieces(uid)).toBe(0)
})

test('a run of this site reads the same kinds', async () => {
  const ann = await given.ann()
  const node_data = { a: { file: 'people.csv' }, b: { file: 'people.jsonl' }, c: { file: 'people.parquet' } }
  const run = await ended(ann, (await ann.ok(start, { lens_id: 'people', node_data })).run_id)
  expect(run).toMatchObject({ state: 'completed', counts: { records: 90, clusters: 30, clustered: 90 } })
})

const words = 128

/** 500 vectors that few bits tell apart, and some with all bits, which make a linker draw as often as it ever does. */
function hostile(full: number): { readonly items: number; readonly data: string } {
  const items = 500 + full
  const vectors = new Uint32Array(items * words)
  for (let row = 0; row < 500; row++) vectors[row * words + ((row * 7) % words)] = 1 << (row % 32)
  vectors.fill(0xffffffff, 500 * words)
  return { items, data: Buffer.from(vectors.buffer).toString('base64url') }
}

test('vectors that take minutes to compare hold up nobody, and who cancels ends the work', async () => {
  const clk = clkParameters.parse({ length: 4_096, fold: false, threshold: 0.5 })
  const parties: [string, string] = ['bravo', 'charlie']
  const agreement = agreementOf({
    parties,
    privacy: 'clk',
    linker: 'alpha',
    learns: ['bravo'],
    clk,
    max_set_size: 5_000,
  })
  const uid = agreement.exchange_id
  const [ours, theirs] = [hostile(1_500), hostile(0)]
  expect(await given.say(given.bravo, proposalOf(agreement, ours.items))).toBe(200)
  await (await given.ann()).ok(agree, { uid })
  const piece = { say: 'piece', ...about(agreement), round: 'vectors', number: 0, of: 1 }
  expect(await given.say(given.bravo, { ...piece, ...ours })).toBe(200)
  expect(await given.say(given.charlie, { ...piece, ...theirs })).toBe(200)
  const { ok } = await given.ann()
  // Read while it goes on: were it done in the service itself, nothing would answer.
  const seen = await until(async () => {
    const { progress } = await ok(get, { uid })
    return progress?.step === 'compare vectors' && progress.done > 0 && progress
  })
  expect(seen.total).toBe(256)
  // Charlie's own exchange goes on meanwhile, and the tests' patience is shorter than the work.
  const other = agreementOf({ parties: ['charlie', 'alpha'], learns: ['alpha'] })
  expect(await given.say(given.charlie, proposalOf(other))).toBe(200)
  await ok(agree, { uid: other.exchange_id, data: peopleOf(0, 5) })
  await until(async () => (await given.stored(other.exchange_id)).step === 1)
  expect((await ok(get, { uid })).progress?.step).toBe('compare vectors')
  await ok(decline, { uid })
  await settled(given, uid, 'cancelled')
  expect(await given.pieces(uid)).toBe(0)
  await ok(decline, { uid: other.exchange_id })
})
