// The commands of `resolve` against a running site: create a lens, start, show and cancel a run, and list its results.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { buildPeople } from '../roles/resolution/resolution-site.ts'
import { createScratchFolder, runCommand, runJsonCommand, serveSite } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('resolve-service')
const site = path.join(dir, 'alpha')
const env = { PLATFORM_SITE: site }
let running: Awaited<ReturnType<typeof serveSite>>

beforeAll(async () => {
  await runJsonCommand(['init', '--site', site, '--tenant', 'acme', '--profile', 'demo'])
  const profile = path.join(site, 'profile.yaml')
  const data_folder = path.join(dir, 'data')
  const text = readFileSync(profile, 'utf8').replace(/roles: \[.*\]/, 'roles: [site, resolution, consensus]')
  writeFileSync(profile, text.replace(/^resolution:\n/m, `resolution:\n  data_folder: ${data_folder}\n`))
  mkdirSync(path.join(data_folder, 'acme'), { recursive: true })
  const rows = buildPeople(0, 20).map((each) => Object.values(each).join(','))
  writeFileSync(path.join(data_folder, 'acme/east.csv'), ['id,given_name,surname,date_of_birth', ...rows].join('\n'))
  writeFileSync(path.join(dir, 'west.json'), JSON.stringify(buildPeople(10, 30)))
  running = await serveSite(site)
})
afterAll(async () => {
  await running.stop()
  remove()
})

const resolve = (...words: string[]) => runJsonCommand(['resolve', ...words], { env })

test('from a lens to clusters', async () => {
  expect(await resolve('lens', 'create', 'persons')).toMatchObject({ lens: 'persons', entity_type: 'person' })
  const west = `west=${path.join(dir, 'west.json')}`
  const { run_id } = await resolve('start', '--lens', 'persons', '--data', 'east=east.csv', '--records', west)
  await vi.waitFor(async () => expect((await resolve('show', run_id)).state).toBe('completed'), { timeout: 60_000 })
  expect((await resolve('runs')).items).toMatchObject([{ uid: run_id, counts: { records: 40, clusters: 10 } }])
  expect((await resolve('clusters', '--run', run_id)).items).toHaveLength(10)
  const { items } = await resolve('matches', '--run', run_id, '--limit', '1000')
  expect(items.filter(({ linked }: { linked: boolean }) => linked)).toHaveLength(10)
  const listing = await runCommand(['resolve', 'matches', '--run', run_id], { env })
  expect(listing.stdout).toMatch(/east\/p1\d\s+west\/p1\d\s+[\d.]+ bits/)
  expect((await runCommand(['resolve', 'cancel', run_id], { env })).exit).toBe(3)
  const refused = await runCommand(['resolve', 'accept', run_id], { env })
  const reason = /is not held: it is completed, [\s\S]*start the run with --accept-poor/
  expect([refused.exit, refused.stderr]).toEqual([3, expect.stringMatching(reason)])
})

test('goes from a record to its entity, and from there to all its records', async () => {
  const entity = await resolve('entity', 'find', 'east', 'p15', '--lens', 'persons')
  expect(entity).toMatchObject({ size: 2, members: [{ record_id: 'p15' }, { record_id: 'p15' }] })
  const shown = await resolve('entity', 'show', entity.uid)
  expect(shown.entity).toMatchObject({ uid: entity.uid })
  expect(shown.records.map(({ ref }: { ref: { node_id: string } }) => ref.node_id).sort()).toEqual(['east', 'west'])
  const [known] = buildPeople(15, 16)
  for (const { values } of shown.records) expect(values.surname).toBe(known?.surname.toLowerCase())
  const text = await runCommand(['resolve', 'entity', 'show', entity.uid, '--limit', '1'], { env })
  expect(text.stdout).toMatch(/records +2[\s\S]*RECORD +VALUES\n(east|west)\/p15 +.*surname=.*/)
  expect(text.stderr).toMatch(/1 of 2; next page: --cursor \S+/)
  const absent = await runCommand(['resolve', 'entity', 'find', 'east', 'nobody', '--lens', 'persons'], { env })
  expect([absent.exit, absent.stderr]).toEqual([1, expect.stringContaining('is not in the registry')])
})

test('explains an uncertain match, decides and attests it, and shows its cluster with its members', async () => {
  const { items } = await resolve('matches', '--limit', '1000')
  const { uid, left, right } = items.find(({ linked }: { linked: boolean }) => linked)
  const names = [left, right].map(({ node_id, record_id }) => `${node_id}/${record_id}`)
  const explained = await runCommand(['resolve', 'explain', uid], { env })
  expect(explained.stdout).toContain('surname')
  expect((await resolve('explain', uid)).steps).toHaveLength(3)
  expect((await runCommand(['resolve', 'clusters'], { env })).stdout).toContain(names.join(', '))
  const rejected = await runCommand(['resolve', 'review', uid, '--decision', 'reject', '--reason', 'twins'], { env })
  expect(rejected.stdout).toMatch(/state +rejected\ndecided by +human/)
  await vi.waitFor(
    async () => {
      const now = await resolve('matches', '--state', 'rejected')
      expect(now.items).toMatchObject([{ uid, linked: false }])
    },
    { timeout: 60_000 },
  )
  const attested = await resolve('attest', uid, '--decision', 'confirm', '--evidence', 'the same passport')
  expect(attested).toMatchObject({ state: 'confirmed', decided_by: 'human', attestations: [{ decision: 'confirm' }] })
  expect(attested.attestations[0].attester_id).toBe(attested.attestations[0].by)
  const stale = await runCommand(['resolve', 'review', uid, '--decision', 'defer', '--if-version', '1'], { env })
  expect(stale.exit).toBe(3)
  const asOther = ['resolve', 'attest', uid, '--decision', 'confirm', '--attester', 'somebody']
  expect((await runCommand(asOther, { env })).exit).toBe(3)
  expect((await runCommand(['resolve', 'explain', 'match_none'], { env })).exit).toBe(1)
})

test('open matches are listed by what a decision on them is worth', async () => {
  const { items } = await resolve('uncertain', '--limit', '5')
  const worth = items.map((each: { worth: number }) => each.worth)
  expect(worth).toEqual(worth.toSorted((one: number, other: number) => other - one))
  const listing = await runCommand(['resolve', 'uncertain'], { env })
  expect(listing.stdout).toMatch(items.length > 0 ? /^UID .* WORTH/ : /no uncertain matches/)
})

test('reports an impossible combination before it sends a request', async () => {
  const west = `west=${path.join(dir, 'west.json')}`
  for (const words of [
    ['--data', 'east'],
    ['--data', 'west=west.csv', '--records', west],
  ]) {
    expect((await runCommand(['resolve', 'start', '--lens', 'persons', ...words], { env })).exit).toBe(2)
  }
  const absent = await runCommand(['resolve', 'start', '--lens', 'persons', '--data', 'east=nobody.csv'], { env })
  expect([absent.exit, absent.stderr]).toEqual([2, expect.stringContaining('the data file does not exist')])
})

test('puts a match to a session, and describes a run in prose', async () => {
  const { items } = await resolve('matches', '--limit', '1000')
  const { uid, run_id } = await resolve('runs').then(({ items: [run] }) => ({ uid: items.at(-1).uid, run_id: run.uid }))
  expect((await runCommand(['resolve', 'consult', uid, '--quorum', '2'], { env })).exit).toBe(2)
  expect(await resolve('consult', uid, '--quorum', '2/3')).toMatchObject({ uid })
  expect(await resolve('consult', uid, '--quorum', '2/3')).toMatchObject({ uid })
  expect((await runCommand(['resolve', 'summary', run_id], { env })).stdout).toContain('persons')
})

test('exports each kind of result whole, in any format, and never over a file', async () => {
  const exportTo = (kind: string, name: string, ...more: string[]) =>
    resolve('export', kind, '--lens', 'persons', '--out', path.join(dir, name), ...more)
  const readRows = (name: string) => readFileSync(path.join(dir, name), 'utf8').trimEnd().split('\n').slice(1)
  const { total } = await resolve('matches', '--limit', '1000')
  expect((await exportTo('matches', 'matches.csv')).rows).toBe(total)
  expect(readRows('matches.csv')).toHaveLength(total)
  await exportTo('clusters', 'clusters.csv')
  expect(readRows('clusters.csv').filter((row) => /^(east|west),p1?\d,ent_/.test(row)).length).toBeGreaterThan(20)
  const { rows } = await exportTo('entities', 'entities.jsonl', '--format', 'jsonl')
  const lines = readFileSync(path.join(dir, 'entities.jsonl'), 'utf8').trimEnd().split('\n')
  const entities = lines.map((line) => JSON.parse(line))
  expect(entities).toHaveLength(rows)
  expect(entities.reduce((sum, { size }) => sum + Number(size), 0)).toBe(readRows('clusters.csv').length)
  await exportTo('decisions', 'decisions.csv')
  expect(readRows('decisions.csv')).toEqual([expect.stringMatching(/,confirm,human,\S+,\S+,the same passport,match_/)])
  const parquet = await exportTo('entities', 'entities.parquet', '--format', 'parquet')
  expect(parquet.rows).toBe(rows)
  expect(readFileSync(path.join(dir, 'entities.parquet')).subarray(0, 4).toString()).toBe('PAR1')
  const before = readFileSync(path.join(dir, 'matches.csv'))
  const words = ['resolve', 'export', 'matches', '--lens', 'persons', '--out', path.join(dir, 'matches.csv')]
  expect(await runCommand(words, { env })).toMatchObject({ exit: 3, stderr: expect.stringContaining('already exists') })
  expect(readFileSync(path.join(dir, 'matches.csv')).equals(before)).toBe(true)
  writeFileSync(path.join(dir, 'busy.csv.partial'), 'of another export')
  words[words.length - 1] = path.join(dir, 'busy.csv')
  expect(await runCommand(words, { env })).toMatchObject({ exit: 3, stderr: expect.stringContaining('another export') })
})

test('what people decided on the service are labels for the files of its nodes', async () => {
  const [east, west] = [path.join(dir, 'data/acme/east.csv'), path.join(dir, 'west.csv')]
  const rows = buildPeople(10, 30).map((each) => Object.values(each).join(','))
  writeFileSync(west, ['id,given_name,surname,date_of_birth', ...rows].join('\n'))
  const labels = path.join(dir, 'labels.csv')
  await resolve('export', 'decisions', '--lens', 'persons', '--out', labels)
  const trained = await resolve('lens', 'train', '--lens', 'persons', '--data', east, west, '--labels', labels)
  expect(trained.labels).toMatchObject({ matches: 1, non_matches: 0 })
})

test('forgets a record, deletes an entity, and requires a confirmation for both', async () => {
  const forgetRecord = ['resolve', 'record', 'forget', 'east', 'p3', '--lens', 'persons', '--reason', 'request 17']
  const { uid } = await resolve('entity', 'find', 'east', 'p4', '--lens', 'persons')
  const deleteEntity = ['resolve', 'entity', 'delete', uid, '--reason', 'test data']
  for (const words of [forgetRecord, deleteEntity])
    expect(await runCommand(words, { env })).toMatchObject({ exit: 3, stderr: expect.stringContaining('add --yes') })
  const forgotten = await runCommand([...forgetRecord, '--yes'], { env })
  expect(forgotten.stdout).toMatch(/forgotten by +\S+\nreason +request 17\nsettled +true\nrecord +east\/p3/)
  const absent = await runCommand(['resolve', 'entity', 'find', 'east', 'p3', '--lens', 'persons'], { env })
  expect([absent.exit, absent.stderr]).toEqual([1, expect.stringContaining('was forgotten at')])
  const deleted = await runCommand([...deleteEntity, '--forget', '--yes'], { env })
  expect(deleted.stdout).toMatch(/state +deleted[\s\S]*deleted +\S+ by \S+: test data\nrecords forgotten +\S+ by/)
  expect(await resolve('entity', 'show', uid)).toMatchObject({ entity: { state: 'deleted' }, records: [] })
})

test('a run of poor quality is held with exit code 6, and accepted by a command', async () => {
  const fields = ['town', 'area'].map((name) => `  - { name: ${name}, type: name }`)
  const head = ['lens: places', 'version: 1.0.0', 'entity_type: place', 'threshold: -10', 'fields:']
  const lens = path.join(dir, 'places.yaml')
  writeFileSync(lens, [...head, ...fields, ''].join('\n'))
  const towns = ['Norwich', 'Ipswich', 'Colchester', 'Cambridge', 'York']
  const rows = Array.from({ length: 150 }, (_, row) => ({ id: `r${row}`, town: towns[row % 5], area: `N${row % 5}` }))
  writeFileSync(path.join(dir, 'places.json'), JSON.stringify(rows))
  await resolve('lens', 'create', lens)
  const records = `gazetteer=${path.join(dir, 'places.json')}`
  const words = ['resolve', 'start', '--lens', 'places', '--records', records, '--wait', '--json']
  const { exit, stdout, stderr } = await runCommand(words, { env })
  expect([exit, stderr]).toEqual([6, expect.stringMatching(/the result is poor.*\n.*platform resolve accept run_/)])
  const { run_id, ...held } = JSON.parse(stdout)
  expect(held).toMatchObject({ state: 'matched', held: 'poor' })
  expect((await runCommand(['resolve', 'show', run_id], { env })).stdout).toMatch(/held +the result is poor/)
  expect((await resolve('clusters', '--run', run_id)).items).toEqual([])
  expect(await resolve('accept', run_id, '--wait')).toMatchObject({ state: 'completed', accept_poor: true })
  expect((await resolve('clusters', '--run', run_id)).items.length).toBeGreaterThan(0)
  // An acceptance that was given before is not given again.
  expect(await resolve('accept', run_id, '--wait')).toMatchObject({ state: 'completed', accept_poor: true })
  expect(await resolve('start', ...words.slice(2, -1), '--accept-poor')).toMatchObject({ state: 'completed' })
})
