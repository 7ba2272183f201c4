// The words of `resolve` against a running site: a lens given, a run started, seen, cancelled, and what it found.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { peopleOf } from '../roles/resolution/resolution-world.ts'
import { answered, platform, scratch, served } from '../support/command-line.ts'

const { dir, remove } = scratch('resolve-service')
const site = path.join(dir, 'alpha')
const env = { PLATFORM_SITE: site }
let running: Awaited<ReturnType<typeof served>>

beforeAll(async () => {
  await answered(['init', '--site', site, '--tenant', 'acme', '--profile', 'demo'])
  const profile = path.join(site, 'profile.yaml')
  const data_folder = path.join(dir, 'data')
  const text = readFileSync(profile, 'utf8').replace('[site, consensus]', '[site, resolution]')
  writeFileSync(profile, `${text}\nresolution: { port: 0, data_folder: ${data_folder} }\n`)
  mkdirSync(path.join(data_folder, 'acme'), { recursive: true })
  const rows = peopleOf(0, 20).map((each) => Object.values(each).join(','))
  writeFileSync(path.join(data_folder, 'acme/east.csv'), ['id,given_name,surname,date_of_birth', ...rows].join('\n'))
  writeFileSync(path.join(dir, 'west.json'), JSON.stringify(peopleOf(10, 30)))
  running = await served(site)
})
afterAll(async () => {
  await running.stop()
  remove()
})

const resolve = (...words: string[]) => answered(['resolve', ...words], { env })

test('from a lens to clusters', async () => {
  expect(await resolve('lens', 'create', 'persons')).toMatchObject({ lens: 'persons', entity_type: 'person' })
  const west = `west=${path.join(dir, 'west.json')}`
  const { run_id } = await resolve('start', '--lens', 'persons', '--data', 'east=east.csv', '--records', west)
  await vi.waitFor(async () => expect((await resolve('show', run_id)).state).toBe('completed'), { timeout: 20_000 })
  expect((await resolve('runs')).items).toMatchObject([{ uid: run_id, counts: { records: 40, clusters: 10 } }])
  expect((await resolve('clusters', '--run', run_id)).items).toHaveLength(10)
  const { items } = await resolve('matches', '--run', run_id, '--limit', '1000')
  expect(items.filter(({ linked }: { linked: boolean }) => linked)).toHaveLength(10)
  const told = await platform(['resolve', 'matches', '--run', run_id], { env })
  expect(told.stdout).toMatch(/east\/p1\d\s+west\/p1\d\s+[\d.]+ bits/)
  expect((await platform(['resolve', 'cancel', run_id], { env })).exit).toBe(3)
})

test('a match is explained, decided, attested and put to a session, and a run told as prose', async () => {
  const { run_id } = (await resolve('runs')).items.map(({ uid }: { uid: string }) => ({ run_id: uid }))[0]
  const { items } = await resolve('matches', '--run', run_id, '--limit', '1000')
  const { uid } = items.find(({ linked }: { linked: boolean }) => linked)
  const svg = path.join(dir, 'match.svg')
  const explained = await resolve('explain', uid, '--svg', svg)
  expect(explained.steps.map(({ field }: { field: string }) => field)).toContain('surname')
  expect(readFileSync(svg, 'utf8')).toMatch(/^<svg[\s\S]*<\/svg>/)
  expect((await platform(['resolve', 'explain', uid, '--svg', svg], { env })).exit).toBe(3)
  const waterfall = await platform(['resolve', 'explain', uid], { env })
  expect(waterfall.stdout).toMatch(/prior[\s\S]*surname[\s\S]*score/)

  const rejected = await resolve('review', uid, 'reject', '--reason', 'twins', '--adjust=-0.25')
  expect(rejected).toMatchObject({ state: 'rejected', decided_by: 'human' })
  expect(rejected.reviews).toMatchObject([{ decision: 'reject', reason: 'twins', confidence_adjustment: -0.25 }])
  const clusters = async () => (await resolve('clusters', '--run', run_id)).items
  const sizesOf = (found: { size: number }[]) => found.filter(({ size }) => size > 1).length
  await vi.waitFor(async () => expect(sizesOf(await clusters())).toBe(9), { timeout: 20_000 })
  const stranger = await platform(['resolve', 'attest', uid, 'confirm', '--attester', 'registrar'], { env })
  expect([stranger.exit, stranger.stderr]).toEqual([3, expect.stringContaining('does not attest as this attester')])
  expect((await resolve('review', uid, 'defer')).state).toBe('deferred')

  expect((await platform(['resolve', 'consult', uid, '--quorum', '2'], { env })).exit).toBe(2)
  expect((await platform(['resolve', 'review', uid, 'perhaps'], { env })).exit).toBe(2)
  expect(await resolve('consult', uid, '--quorum', '2/3')).toMatchObject({ uid, state: 'deferred' })
  const { items: open } = await resolve('uncertain', '--run', run_id)
  const worths = open.map(({ worth }: { worth: number }) => worth)
  expect(worths).toEqual(worths.toSorted((one: number, other: number) => other - one))
  expect((await resolve('summary', run_id)).text).toContain('persons')
  expect((await platform(['resolve', 'summary', run_id], { env })).stdout).toContain('persons')
})

test('what cannot be meant is told before anything is asked', async () => {
  const west = `west=${path.join(dir, 'west.json')}`
  for (const words of [
    ['--data', 'east'],
    ['--data', 'west=west.csv', '--records', west],
  ]) {
    expect((await platform(['resolve', 'start', '--lens', 'persons', ...words], { env })).exit).toBe(2)
  }
  const absent = await platform(['resolve', 'start', '--lens', 'persons', '--data', 'east=nobody.csv'], { env })
  expect([absent.exit, absent.stderr]).toEqual([2, expect.stringContaining('there is no such data file')])
})
