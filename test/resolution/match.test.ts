// New records of files are matched with the registry of a run: they come to where a run of all would put them, in any order.
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { canonicalJson, sha256 } from '../../daemon/kernel/encoding/canonical-json.ts'
import { readLens } from '../../daemon/offline/resolve/lens/lens-file.ts'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { generatePeople } from '../support/resolution/generate-people.ts'

const { dir, remove } = createScratchFolder('match')
const at = (name: string) => path.join(dir, name)
const people = generatePeople(300, 7)
const [head = '', ...rows] = people.csv.trimEnd().split('\n')
const idOf = (row: string) => row.split(',')[0] ?? ''
/** Every tenth record comes later. */
const late = rows.filter((_, place) => place % 10 === 9)
const early = rows.filter((row) => !late.includes(row))

function writeRows(name: string, rows: readonly string[]): string {
  writeFileSync(at(name), [head, ...rows, ''].join('\n'))
  return at(name)
}
const run = (...more: string[]) => runJsonCommand(['resolve', 'run', '--lens', 'persons', ...more])
const buildMatchWords = (registry: string, data: string, ...more: string[]) => {
  return [
    'resolve',
    'match',
    '--lens',
    'persons',
    '--source',
    'people.csv',
    '--registry',
    registry,
    '--data',
    data,
    ...more,
  ]
}
type MatchedItem = { id: string; outcome: string; entity: string; size: number }
async function matchRecords(registry: string, data: string, ...more: string[]): Promise<MatchedItem[]> {
  return (await runJsonCommand(buildMatchWords(registry, data, ...more))).items
}

/** Ids of each entity, as the registry has them. */
function readEntities(registry: string): Map<string, string[]> {
  const lines = readFileSync(registry, 'utf8').trimEnd().split('\n').slice(1)
  const entities = lines.map((line) => JSON.parse(line)).filter(({ entity }) => entity !== undefined)
  return new Map(entities.map(({ entity, members }) => [entity, members.map(([, id]: [string, string]) => id)]))
}
function readSurnames(registry: string): string[] {
  const lines = readFileSync(registry, 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line).values?.surname).filter((surname) => surname !== undefined)
}
const listGroups = (registry: string) => [...readEntities(registry).values()].map((ids) => ids.join(' ')).sort()

beforeAll(async () => {
  writeRows('people.csv', early)
  await run('--data', at('people.csv'), '--registry', at('first.jsonl'), '--keep-records', '--out', at('first'))
})
afterAll(remove)

test('nearly all come to where a run of all records puts them, and entities that were there keep their ids', async () => {
  const registry = at('all.jsonl')
  copyFileSync(at('first.jsonl'), registry)
  const before = readEntities(registry)
  const items = await matchRecords(registry, writeRows('late.csv', late), '--out', at('matched'))
  expect(items.map(({ id }) => id).sort()).toEqual(late.map(idOf).sort())
  expect(readdirSync(at('matched')).sort()).toEqual(['changes.csv', 'match.json', 'matched.csv', 'pairs.csv'])
  expect(items.every(({ outcome, entity }) => (outcome === 'new') === !before.has(entity))).toBe(true)
  const now = readEntities(registry)
  for (const [entity, ids] of before) expect(now.get(entity)).toEqual(expect.arrayContaining(ids))

  writeRows('people.csv', rows)
  const { entities } = await run('--data', at('people.csv'), '--registry', at('whole.jsonl'), '--out', at('whole'))
  const [here, there] = [new Set(listGroups(registry)), listGroups(at('whole.jsonl'))]
  expect(there).toHaveLength(entities)
  const same = there.filter((group) => here.has(group)).length
  expect(same / there.length).toBeGreaterThan(0.97)
})

test('a registry file is searched by fields in the normal form of the lens, by the beginning of a value too', async () => {
  const registry = at('first.jsonl')
  const words = (...fields: string[]) => [
    'resolve',
    'registry',
    'search',
    '--registry',
    registry,
    '--lens',
    'persons',
    '--field',
    ...fields,
  ]
  const [surname = ''] = [...readSurnames(registry)]
  const whole = await runJsonCommand(words(`surname=${surname.toUpperCase()}`))
  expect(whole.items.length).toBe(whole.total)
  expect(new Set(whole.items.map(({ values }: { values: Record<string, string> }) => values.surname))).toEqual(
    new Set([surname]),
  )
  const [first] = whole.items as [{ id: string; entity: string }]
  expect(readEntities(registry).get(first.entity)).toContain(first.id)
  expect((await runJsonCommand(words(`surname=${surname.slice(0, 2)}*`))).total).toBeGreaterThanOrEqual(whole.total)
  expect((await runJsonCommand(words(`surname=${surname}`, 'given_name=Nobody'))).items).toEqual([])
  for (const [field, message] of [
    ['colour=red', 'is not a field of the lens'],
    ['surname=--', 'has no value in the normal form'],
    ['surname', 'must be FIELD=VALUE'],
  ] as const)
    expect(await runCommand(words(field))).toMatchObject({ exit: 2, stderr: expect.stringContaining(message) })
})

test('in any order, one file or many, they come to the same; twice is once; another word replaces the first', async () => {
  const [once, twice] = [at('once.jsonl'), at('twice.jsonl')]
  for (const registry of [once, twice]) copyFileSync(at('first.jsonl'), registry)
  await matchRecords(once, writeRows('late.csv', late.toReversed()))
  await matchRecords(twice, writeRows('some.csv', late.slice(10)))
  const strange = late.slice(0, 10).map((row) => [idOf(row), ...(late.at(-1) ?? '').split(',').slice(1)].join(','))
  await matchRecords(twice, writeRows('strange.csv', strange))
  expect(listGroups(twice)).not.toEqual(listGroups(once))
  const replaced = await matchRecords(twice, writeRows('others.csv', late.slice(0, 10)))
  expect(new Set(replaced.map(({ outcome }) => outcome))).toEqual(new Set(['replaced']))
  expect(listGroups(twice).filter((ids) => ids !== '')).toEqual(listGroups(once))
  const before = readFileSync(once)
  const again = await matchRecords(once, writeRows('late.csv', late))
  expect(new Set(again.map(({ outcome }) => outcome))).toEqual(new Set(['unchanged']))
  expect(readFileSync(once).equals(before)).toBe(true)
})

test('never joins entities that people decided to be apart by a record that is like both', async () => {
  const pair = [...readEntities(at('first.jsonl')).values()].find(({ length }) => length === 2) ?? []
  writeFileSync(at('decisions.csv'), `id_l,id_r,decision\n${pair.join(',')},reject\n`)
  writeRows('people.csv', early)
  const registry = at('decided.jsonl')
  const words = ['--data', at('people.csv'), '--registry', registry, '--keep-records', '--out', at('decided')]
  await run(...words, '--decisions', at('decisions.csv'))
  const like = early.find((row) => idOf(row) === pair[0]) ?? ''
  const [item] = await matchRecords(registry, writeRows('like.csv', [['like', ...like.split(',').slice(1)].join(',')]))
  expect(item).toMatchObject({ outcome: 'joined', size: 2 })
  const together = [...readEntities(registry).values()].filter(
    (ids) => ids.includes(pair[0] ?? '') && ids.includes(pair[1] ?? ''),
  )
  expect(together).toEqual([])
})

test('a registry without records, of another lens, or that is broken is refused and left as it is', async () => {
  writeRows('people.csv', early)
  await run('--data', at('people.csv'), '--registry', at('bare.jsonl'), '--out', at('bare'))
  const data = writeRows('late.csv', late)
  const text = readFileSync(at('first.jsonl'), 'utf8')
  writeFileSync(at('cut.jsonl'), text.split('\n').slice(0, -20).join('\n'))
  writeFileSync(at('odd.jsonl'), text.replace('"values":{', '"worth":{'))
  for (const [name, exit, message] of [
    ['bare.jsonl', 3, 'contains no records'],
    ['cut.jsonl', 1, 'lacks some of its records'],
    ['odd.jsonl', 1, 'is not a line of an entity registry'],
    ['none.jsonl', 1, 'does not exist'],
  ] as const) {
    const before = name === 'none.jsonl' ? undefined : readFileSync(at(name), 'utf8')
    expect(await runCommand(buildMatchWords(at(name), data))).toMatchObject({
      exit,
      stderr: expect.stringContaining(message),
    })
    if (before !== undefined) expect(readFileSync(at(name), 'utf8')).toBe(before)
  }
  await runJsonCommand(['resolve', 'lens', 'init', '--data', data, '--out', at('own.json')])
  const words = ['resolve', 'match', '--lens', at('own.json'), '--registry', at('first.jsonl'), '--data', data]
  expect(await runCommand(words)).toMatchObject({ exit: 3 })
})

test('the column with the ids may have another name than at the run, also for a registry that was digested with it', async () => {
  const data = at('renamed.csv')
  writeFileSync(data, [head.replace(/^id,/, 'Nr,'), ...late, ''].join('\n'))
  const text = readFileSync(at('first.jsonl'), 'utf8')
  const { fields, source_order: _order, ...others } = { ...readLens('persons'), id_field: 'Nr' }
  const compared = fields.map(({ columns: _columns, survivorship: _survivorship, ...field }) => field)
  const earlier = sha256(canonicalJson({ ...others, fields: compared }))
  writeFileSync(at('renamed.jsonl'), text)
  writeFileSync(at('digested.jsonl'), text.replace(/"lens":"[0-9a-f]{64}"/, `"lens":"${earlier}"`))
  expect(readFileSync(at('digested.jsonl'), 'utf8')).not.toBe(text)
  for (const registry of [at('renamed.jsonl'), at('digested.jsonl')]) {
    const items = await matchRecords(registry, data, '--id-field', 'Nr')
    expect(items.map(({ id }) => id).sort()).toEqual(late.map(idOf).sort())
  }
})

test('a registry of an earlier normal form is refused where that makes a difference, and serves where it makes none', async () => {
  writeRows('people.csv', early)
  const text = readFileSync(at('first.jsonl'), 'utf8')
  expect(text.includes('"text_form":2,')).toBe(true)
  const earlier = text.replace('"text_form":2,', '')
  const data = writeRows('late.csv', late)
  writeFileSync(at('plain.jsonl'), earlier)
  await matchRecords(at('plain.jsonl'), data)
  expect(readFileSync(at('plain.jsonl'), 'utf8').includes('"text_form":2')).toBe(true)

  const arabic = earlier.replace(/"surname":"[^"]*"/, '"surname":"حسنى"')
  const refused = { exit: 3, stderr: expect.stringContaining('was made with another normal form of texts') }
  writeFileSync(at('arabic.jsonl'), arabic)
  expect(await runCommand(buildMatchWords(at('arabic.jsonl'), data))).toMatchObject(refused)
  const search = [
    'resolve',
    'registry',
    'search',
    '--registry',
    at('arabic.jsonl'),
    '--lens',
    'persons',
    '--field',
    'surname=smith',
  ]
  expect(await runCommand(search)).toMatchObject(refused)
  expect(readFileSync(at('arabic.jsonl'), 'utf8')).toBe(arabic)
  // A record that no file has any more is brought into the form from what the registry has, and reported.
  writeRows('people.csv', early.slice(1))
  const words = ['--registry', at('arabic.jsonl'), '--keep-records', '--out', at('again')]
  const { left_out } = await run('--data', at('people.csv'), ...words)
  expect(left_out).toEqual([{ what: 'reformed_records', count: 1, limit: 0 }])
  expect(readFileSync(at('arabic.jsonl'), 'utf8').match(/"surname":"[^"]*[\u0600-\u06ff]"/g)).toEqual([
    '"surname":"حسني"',
  ])
  await matchRecords(at('arabic.jsonl'), data)
  writeRows('people.csv', early)
})
