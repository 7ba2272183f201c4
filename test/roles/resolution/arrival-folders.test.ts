// Files that are dropped into a folder of the profile are matched with the registry, and answered beside the file.
import nodeFs, * as fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { list as files } from '../../../daemon/roles/resolution/arrival-file/list.ts'
import { list as folders } from '../../../daemon/roles/resolution/arrival-folder/list.ts'
import { lookup } from '../../../daemon/roles/resolution/entity/lookup.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const drop = fs.mkdtempSync(path.join(tmpdir(), 'arrivals-'))
const world = setUpResolutionSite({
  arrival_folders: [{ name: 'desk', path: drop, node_id: 'desk', lens: 'people' }],
})
afterAll(() => fs.rmSync(drop, { recursive: true, force: true }))

let ann: CheckedClient
let operator: CheckedClient
beforeAll(async () => {
  ann = await world().as()
  operator = await world().as({ subject: 'olga', roles: ['operator'] })
  await ann.ok(create, { body: buildPersonLens() })
})

const columns = ['id', 'given_name', 'surname', 'date_of_birth'] as const

function formatCsv(records: readonly Record<string, string>[]): string {
  return [columns.join(','), ...records.map((record) => columns.map((name) => record[name] ?? '').join(','))].join('\n')
}

/** The person of this number, with an id of its own. */
function buildPersonAs(id: string, number: number) {
  return { ...(buildPeople(number, number + 1)[0] as Record<string, string>), id }
}

/** Written under another name and renamed, as everybody must who drops a file. */
function dropFile(name: string, content: string | Buffer): void {
  const draft = path.join(drop, `.${name}.part`)
  fs.writeFileSync(draft, content)
  fs.renameSync(draft, path.join(drop, name))
}

/** The folder of the file in done or failed, once it is there. */
function waitForEnd(name: string, end: 'done' | 'failed') {
  const ended = path.join(drop, end)
  return waitUntil(() => {
    const claim = fs.existsSync(ended) && fs.readdirSync(ended).find((entry) => entry.startsWith(`${name}.`))
    return claim ? path.join(ended, claim) : false
  })
}

function readAnswers(folder: string, name: string): Record<string, unknown>[] {
  const text = fs.readFileSync(path.join(folder, `${name}.answers.jsonl`), 'utf8')
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

function readReason(folder: string, name: string): Record<string, unknown> {
  return JSON.parse(fs.readFileSync(path.join(folder, `${name}.reason.json`), 'utf8')) as Record<string, unknown>
}

test('a file waits where it is until a run has weights; then every record is answered in its order', async () => {
  dropFile('first.csv', formatCsv([buildPersonAs('d12', 12), buildPersonAs('d90', 90)]))
  const [held] = await waitUntil(async () => {
    const { items } = await operator.ok(folders, {})
    return items[0]?.state === 'held_up' && items
  })
  expect(held).toMatchObject({ waiting: 1, waiting_files: ['first.csv'], detail: expect.stringContaining('run') })
  const { run_id } = await ann.ok(start, {
    lens_id: 'people',
    node_data: { east: buildPeople(0, 40), west: buildPeople(10, 50), north: buildPeople(5, 30) },
  })
  expect(await waitForRunEnd(ann, run_id)).toMatchObject({ state: 'completed' })
  // The end of the run starts it, without another file.
  const done = await waitForEnd('first.csv', 'done')
  dropFile('second.jsonl', `${JSON.stringify(buildPersonAs('d13', 13))}\n`)
  const answers = readAnswers(done, 'first.csv')
  const [{ entity } = {}] = (await ann.ok(lookup, { record: buildPersonAs('', 12) })).entities
  expect(answers).toMatchObject([
    { row: 1, line: 2, record_id: 'd12', outcome: 'joined', entity, size: 4 },
    { row: 2, line: 3, record_id: 'd90', outcome: 'new', size: 1 },
  ])
  await waitForEnd('second.jsonl', 'done')
  const { items } = await ann.ok(files, { folder: 'desk', state: 'done' })
  expect(items).toContainEqual(
    expect.objectContaining({
      file: 'first.csv',
      outcomes: { joined: 1, new: 1 },
      refused: 0,
      created_by: 'folder:desk',
    }),
  )
})

test('more records than a batch, and an id that comes again: each in its turn, the later replaces the earlier', async () => {
  const strangers = Array.from({ length: 510 }, (_, at) => buildPersonAs(`x${at}`, 1_000 + at))
  dropFile('many.csv', formatCsv([...strangers, buildPersonAs('x5', 3_000)]))
  const answers = readAnswers(await waitForEnd('many.csv', 'done'), 'many.csv')
  expect(answers.map(({ row }) => row)).toEqual(Array.from({ length: 511 }, (_, at) => at + 1))
  expect(answers[510]).toMatchObject({ record_id: 'x5', outcome: 'replaced' })
  dropFile('many.csv', formatCsv(strangers.slice(0, 3)))
  const again = await waitUntil(() => {
    const claims = fs.readdirSync(path.join(drop, 'done')).filter((entry) => entry.startsWith('many.csv.'))
    return claims.length === 2 && claims
  })
  const outcomes = again.map((claim) =>
    readAnswers(path.join(drop, 'done', claim), 'many.csv').map((each) => each.outcome),
  )
  expect(outcomes).toContainEqual(['unchanged', 'unchanged', 'unchanged'])
})

test('files are taken in the order of their names, and the folder is not scanned for each of them', async () => {
  const names = Array.from({ length: 12 }, (_, at) => `turn-${100 + at}.csv`)
  for (const [at, name] of names.entries())
    fs.writeFileSync(path.join(drop, `.${name}`), formatCsv([buildPersonAs('turn', 4_000 + at)]))
  const opened = vi.spyOn(nodeFs, 'opendirSync')
  syncBuiltinESMExports()
  try {
    // In one turn of the event loop: one scan finds all.
    for (const name of names.toReversed()) fs.renameSync(path.join(drop, `.${name}`), path.join(drop, name))
    const ends: Record<string, unknown>[] = []
    for (const name of names) ends.push(...readAnswers(await waitForEnd(name, 'done'), name))
    expect(ends.map(({ outcome }) => outcome)).toEqual(['new', ...Array(names.length - 1).fill('replaced')])
    const moved = fs.readdirSync(path.join(drop, 'done')).filter((claim) => claim.startsWith('turn-'))
    const timeOf = (claim: string) => fs.statSync(path.join(drop, 'done', claim), { bigint: true }).ctimeNs
    const inTime = moved.sort((one, other) => (timeOf(one) < timeOf(other) ? -1 : 1))
    expect(inTime.map((claim) => claim.slice(0, 'turn-100.csv'.length))).toEqual(names)
    // Two directories in each scan; each file had two before.
    expect(opened.mock.calls.length).toBeLessThan(names.length)
  } finally {
    opened.mockRestore()
    syncBuiltinESMExports()
  }
})

test('records that cannot be read are named; all others of the file are registered', async () => {
  const huge = 'h'.repeat(70_000)
  const lines = [
    formatCsv([buildPersonAs('b1', 12)]),
    `b2,${huge},Berg,1970-01-01`,
    ',Anna,Berg,1970-01-01',
    'b4,,,',
    'b5,too,many,values,here',
    formatCsv([buildPersonAs('b6', 13)]).split('\n')[1],
  ]
  dropFile('partly.csv', lines.join('\n'))
  const failed = await waitForEnd('partly.csv', 'failed')
  const reason = readReason(failed, 'partly.csv')
  expect(reason).toMatchObject({ code: 'invalid', outcomes: { joined: 2 }, refused: 4 })
  expect((reason.first_refused as { line: number }[]).map(({ line }) => line).sort()).toEqual([3, 4, 5, 6])
  expect(readAnswers(failed, 'partly.csv').filter(({ outcome }) => outcome === 'joined')).toHaveLength(2)
  expect(fs.readFileSync(path.join(failed, 'partly.csv'), 'utf8')).toBe(lines.join('\n'))
})

test.each([
  ['no-id.csv', 'name,surname\nAnna,Berg\n', 'no column id'],
  ['empty.csv', '', 'the file'],
  ['not-a-book.xlsx', 'id,given_name\n1,Anna\n', 'the file'],
  ['not-parquet.parquet', 'PAR1 and then nothing', 'the file'],
])('%s fails with its reason', async (name, content, expected) => {
  dropFile(name, content)
  const reason = readReason(await waitForEnd(name, 'failed'), name)
  expect(reason.reason).toContain(expected)
  expect(reason.outcomes).toEqual({})
})

test('what is not a plain file with a plain name stays, and is reported', async () => {
  const secret = path.join(fs.mkdtempSync(path.join(tmpdir(), 'secret-')), 'secret.csv')
  fs.writeFileSync(secret, formatCsv([buildPersonAs('s1', 12)]))
  fs.symlinkSync(secret, path.join(drop, 'link.csv'))
  fs.linkSync(secret, path.join(drop, 'second-name.csv'))
  fs.mkdirSync(path.join(drop, 'folder.csv'))
  fs.writeFileSync(path.join(drop, 'bell\u0007.csv'), 'id\n1\n')
  fs.writeFileSync(path.join(drop, 'notes.txt'), 'id\n1\n')
  dropFile('after.csv', formatCsv([buildPersonAs('a1', 14)]))
  await waitForEnd('after.csv', 'done')
  const [folder] = await waitUntil(async () => {
    const { items } = await operator.ok(folders, {})
    return items[0]?.left === 5 && items
  })
  const reasons = Object.fromEntries((folder?.left_files ?? []).map(({ name, reason }) => [name, reason]))
  expect(reasons).toEqual({
    'link.csv': expect.stringContaining('does not exist'),
    'second-name.csv': expect.stringContaining('second name'),
    'folder.csv': expect.stringContaining('a folder'),
    'bell\u0007.csv': expect.stringContaining('control characters'),
    'notes.txt': expect.stringContaining('does not end in'),
  })
  expect(fs.readdirSync(drop)).toContain('link.csv')
  expect(fs.readFileSync(secret, 'utf8')).toContain('s1')
})

test('answers name no entity above the label of the folder', async () => {
  const high = await world().as({ subject: 'hal', clearance: { level: 'SECRET', categories: [] } })
  const { create: arrive } = await import('../../../daemon/roles/resolution/arrival/create.ts')
  const secret = await high.ok(arrive, {
    lens_id: 'people',
    node_id: 'vault',
    classification: 'SECRET',
    records: [buildPersonAs('v1', 5_000)],
  })
  expect(secret.state).toBe('matched')
  dropFile('hidden.csv', formatCsv([buildPersonAs('h1', 5_000)]))
  const [answer] = readAnswers(await waitForEnd('hidden.csv', 'done'), 'hidden.csv')
  expect(answer).toEqual({ row: 1, line: 2, record_id: 'h1', outcome: 'new' })
})
