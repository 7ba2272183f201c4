// Parts of datasets of peers on the disk: repeated, contradictory, missing and false ones, and what is kept for how long.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { IncomingSet } from '../../../daemon/roles/ingest/landing-zone/incoming-sets.ts'
import { openIncomingSets } from '../../../daemon/runtime/ingest/zone/open-incoming-sets.ts'

const root = fs.mkdtempSync(path.join(tmpdir(), 'incoming-sets-'))
afterAll(() => fs.rmSync(root, { recursive: true, force: true }))
const place = { tenant_id: 'tenant-a', pipeline: 'pl_one' }
const zone = path.join(root, 'tenant-a/pl_one/new')
fs.mkdirSync(zone, { recursive: true })
const sets = openIncomingSets({ root, max_file_bytes: 64, keep_ms: 3_600_000 })

const lines = ['{"id":1}\n{"id":2}\n', '{"id":3}\n']
let count = 0
function buildSet(more: Partial<IncomingSet> = {}): IncomingSet {
  count += 1
  return {
    ...{ peer: 'bravo', set_id: `${count}`.padStart(32, '0'), name: 'orders', parts: 2, total_rows: 3 },
    sha256: createHash('sha256').update(lines.join('')).digest('hex'),
    columns: [{ name: 'id', type: 'int64' }],
    label: { policy: 'P', level: 'L', categories: [], originator: 'tenant-b' },
    ...more,
  }
}
const take = (set: IncomingSet, number: number, text = lines[number - 1] ?? '') =>
  sets.take('tenant-a', set, number, text)
const find = async ({ set_id }: IncomingSet) => (await sets.list('tenant-a')).find((each) => each.set_id === set_id)

test('a whole set becomes one file, in the order of its parts, and stays delivered', async () => {
  const set = buildSet()
  expect(await take(set, 2)).toBe('taken')
  expect(await take(set, 2)).toBe('taken')
  expect(await find(set)).toMatchObject({ received: 1, parts: 2 })
  expect(await take(set, 1)).toBe('taken')
  expect(await find(set)).toMatchObject({ received: 2 })
  expect(await sets.list('tenant-b')).toEqual([])
  expect(await sets.deliver('tenant-a', set, place)).toBe('delivered')
  const file = path.join(zone, `orders.${set.set_id}.jsonl`)
  expect(fs.readFileSync(file, 'utf8')).toBe(lines.join(''))
  // A carrier may bring a message again.
  expect(await take(set, 1)).toBe('taken')
  expect(await find(set)).toBeUndefined()
})

test('the same set of another peer is another set', async () => {
  const set = buildSet()
  expect(await take(set, 1)).toBe('taken')
  expect(await take({ ...set, peer: 'charlie', name: 'other' }, 1)).toBe('taken')
  expect((await sets.list('tenant-a')).filter(({ set_id }) => set_id === set.set_id)).toHaveLength(2)
})

test.each<Partial<IncomingSet>>([
  { name: 'other' },
  { parts: 3 },
  { sha256: '0'.repeat(64) },
  { columns: [{ name: 'id', type: 'text' }] },
  { label: { policy: 'P', level: 'M', categories: [], originator: 'tenant-b' } },
])('a part that describes its set otherwise is refused: %j', async (more) => {
  const set = buildSet()
  expect(await take(set, 1)).toBe('taken')
  expect(await take({ ...set, ...more }, 2)).toBe('differs')
  expect(await find(set)).toMatchObject({ received: 1, name: 'orders' })
})

test.each<Partial<IncomingSet>>([{ total_rows: 2 }, { sha256: '0'.repeat(64) }])(
  'a set of other rows than its sender states reaches no pipeline: %j',
  async (more) => {
    const set = buildSet(more)
    for (const number of [1, 2]) await take(set, number)
    const before = fs.readdirSync(zone)
    expect(await sets.deliver('tenant-a', set, place)).toBe('differs')
    expect(fs.readdirSync(zone)).toEqual(before)
    expect(await find(set)).toBeUndefined()
  },
)

test('a set beyond the size of a file of a zone is refused', async () => {
  const set = buildSet()
  expect(await take(set, 1, 'x'.repeat(60))).toBe('taken')
  expect(await take(set, 2, 'x'.repeat(5))).toBe('too_large')
})

test('what a crash leaves of a set is no set, and an old one is removed with its parts', async () => {
  const home = path.join(root, 'tenant-a/.incoming')
  fs.mkdirSync(path.join(home, `bravo.${'f'.repeat(32)}`))
  fs.writeFileSync(path.join(home, `bravo.${'f'.repeat(32)}`, '1.jsonl'), '{}\n')
  const set = buildSet()
  await take(set, 1)
  const old = new Date(Date.now() - 7_200_000)
  for (const name of fs.readdirSync(home)) fs.utimesSync(path.join(home, name), old, old)
  const expired = await sets.purge('tenant-a')
  expect(expired.map(({ set_id }) => set_id)).toContain(set.set_id)
  expect(fs.readdirSync(home)).toEqual([])
})

const openIn = (name: string, max_file_bytes = 64) => {
  const home = path.join(root, name)
  const zone_folder = path.join(home, 'tenant-a/pl_one/new')
  fs.mkdirSync(zone_folder, { recursive: true })
  return { own: openIncomingSets({ root: home, max_file_bytes, keep_ms: 3_600_000 }) }
}
const whole = (more: Partial<IncomingSet> = {}) =>
  buildSet({ parts: 1, total_rows: 1, sha256: createHash('sha256').update('{}\n').digest('hex'), ...more })

test('sets that were delivered leave their place, and those of one peer leave places to others', async () => {
  const { own } = openIn('places')
  for (let at = 0; at < 250; at++) {
    const set = whole()
    expect(await own.take('tenant-a', set, 1, '{}\n')).toBe('taken')
    expect(await own.list('tenant-a', 'bravo')).toMatchObject([{ set_id: set.set_id, received: 1 }])
    expect(await own.deliver('tenant-a', set, place)).toBe('delivered')
  }
  for (let at = 0; at < 200; at++) expect(await own.take('tenant-a', buildSet(), 1, '')).toBe('taken')
  await expect(own.take('tenant-a', buildSet(), 1, '')).rejects.toThrow('200 datasets of the peer bravo wait already')
  expect(await own.take('tenant-a', buildSet({ peer: 'bravo-2' }), 1, '')).toBe('taken')
}, 60_000)

test('sets of a peer that wait have a few times the size of a file together', async () => {
  const { own } = openIn('bytes')
  const text = 'x'.repeat(60)
  for (let at = 0; at < 4; at++) expect(await own.take('tenant-a', buildSet(), 1, text)).toBe('taken')
  await expect(own.take('tenant-a', buildSet(), 1, text)).rejects.toThrow('bravo that wait have 300 bytes')
  expect(await own.take('tenant-a', buildSet({ peer: 'charlie' }), 1, text)).toBe('taken')
  expect(await own.list('tenant-a')).toHaveLength(5)
})

test('parts that come at the same time agree on their set, and count together', async () => {
  const { own } = openIn('together')
  const set = buildSet({ parts: 9 })
  const low = { ...set, label: { ...set.label, level: 'K' } }
  const outcomes = await Promise.all([own.take('tenant-a', set, 1, ''), own.take('tenant-a', low, 2, '')])
  expect(outcomes).toEqual(['taken', 'differs'])
  const text = 'x'.repeat(20)
  const sized = await Promise.all([3, 4, 5, 6, 7].map((number) => own.take('tenant-a', set, number, text)))
  expect(sized.filter((outcome) => outcome === 'taken')).toHaveLength(3)
})
