// Decisions of people and ids of entities, from run to run of files: decisions hold, and known entities keep their ids.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { generatePeople } from '../support/resolution/generate-people.ts'

const { dir, remove } = createScratchFolder('decisions')
const at = (name: string) => path.join(dir, name)
const people = generatePeople(150, 11)

let turn = 0
const buildWords = (...more: string[]) => {
  const out = at(`out-${++turn}`)
  return { out, line: ['resolve', 'run', '--lens', 'persons', '--data', at('people.csv'), ...more, '--out', out] }
}
async function run(...more: string[]) {
  const { out, line } = buildWords(...more)
  const summary = await runJsonCommand(line)
  const rows = readFileSync(path.join(out, 'clusters.csv'), 'utf8').trimEnd().split('\n').slice(1)
  const cells = rows.map((row) => row.split(','))
  const clusterOf = new Map(cells.map(([, id = '', cluster = '']) => [id, cluster]))
  const entityOf = new Map(cells.map(([, id = '', , entity = '']) => [id, entity]))
  return { out, summary, clusterOf, entityOf }
}
/** Changes of ids, without the heading. */
const readChanges = (out: string) =>
  readFileSync(path.join(out, 'changes.csv'), 'utf8').replaceAll('""', '').trimEnd().split('\n').slice(1)
const writeDecisions = (name: string, ...lines: string[]) => {
  writeFileSync(at(name), ['id_l,id_r,decision', ...lines, ''].join('\n'))
  return at(name)
}

let plain: Awaited<ReturnType<typeof run>>
/** Two that were found to be one, and two that are of nobody else. */
let pair: [string, string]
let alone: [string, string]
beforeAll(async () => {
  writeFileSync(at('people.csv'), people.csv)
  plain = await run()
  const members = Map.groupBy(plain.clusterOf, ([, cluster]) => cluster)
  const ids = [...members.values()].map((each) => each.map(([id]) => id))
  pair = ids.find(({ length }) => length === 2) as [string, string]
  alone = ids
    .filter(({ length }) => length === 1)
    .slice(0, 2)
    .flat() as [string, string]
})
afterAll(remove)

describe('decisions', () => {
  test('hold over computed matches, in any order, and leave everything else unchanged', async () => {
    const lines = [`${pair.join(',')},reject`, `${alone.join(',')},confirm`]
    const found = await run('--decisions', writeDecisions('one.csv', ...lines))
    expect(found.summary.decisions).toEqual({ counted: 2, overruled: [] })
    expect(found.clusterOf.get(pair[0])).not.toBe(found.clusterOf.get(pair[1]))
    expect(found.clusterOf.get(alone[0])).toBe(found.clusterOf.get(alone[1]))
    expect(found.summary.entities).toBe(plain.summary.entities)
    const turned = await run('--decisions', writeDecisions('turned.csv', ...lines.toReversed()))
    for (const file of ['clusters.csv', 'pairs.csv', 'run.json'])
      expect(readFileSync(path.join(turned.out, file), 'utf8')).toBe(readFileSync(path.join(found.out, file), 'utf8'))
  })

  test('reports contradictory ones; the last of one pair counts', async () => {
    const [a, b] = alone
    const [c] = pair
    const lines = [`${a},${b},confirm`, `${b},${c},confirm`, `${a},${c},reject`, `${pair.join(',')},reject`]
    const { out, line } = buildWords('--decisions', writeDecisions('clash.csv', ...lines, `${pair.join(',')},defer`))
    const { exit, stderr } = await runCommand(line)
    expect([exit, stderr]).toEqual([0, expect.stringContaining('rejected pairs keep them apart')])
    const { decisions: recorded } = JSON.parse(readFileSync(path.join(out, 'run.json'), 'utf8'))
    expect(recorded).toMatchObject({ counted: 3, overruled: [{ source_l: 'people.csv', source_r: 'people.csv' }] })
  })

  test.each([
    ['an unknown record', () => `${pair[0]},nobody,reject`, /decision 2: people\.csv has no record "nobody"/],
    ['another word', () => `${pair.join(',')},perhaps`, /decision 2: decision is "perhaps"; it must be confirm/],
    ['a record and itself', () => `${pair[0]},${pair[0]},confirm`, /decision 2: the pair names the same record twice/],
  ])('about %s are refused, with the line', async (_what, bad, message) => {
    const { line } = buildWords('--decisions', writeDecisions(`bad-${turn}.csv`, `${alone.join(',')},confirm`, bad()))
    expect(await runCommand(line)).toMatchObject({ exit: 1, stderr: expect.stringMatching(message) })
  })
})

describe('a registry', () => {
  test('keeps ids through a merge, a split, and a run that finds the same', async () => {
    const registry = at('entities.jsonl')
    const first = await run('--registry', registry)
    const before = readFileSync(registry, 'utf8')
    expect(new Set(first.entityOf.values()).size).toBe(first.summary.entities)
    expect(statSync(registry).mode & 0o777).toBe(0o600)
    const again = await run('--registry', registry)
    expect(readFileSync(registry, 'utf8')).toBe(before)
    expect(again.entityOf).toEqual(first.entityOf)

    const changes = writeDecisions('changes.csv', `${alone.join(',')},confirm`, `${pair.join(',')},reject`)
    const copy = at('copy.jsonl')
    writeFileSync(copy, before)
    const changed = await run('--registry', registry, '--decisions', changes)
    await run('--registry', copy, '--decisions', changes)
    expect(readFileSync(copy, 'utf8')).toBe(readFileSync(registry, 'utf8'))

    const [one, other] = alone.map((id) => first.entityOf.get(id) ?? '')
    const unchanged = changed.entityOf.get(alone[0])
    const gone = unchanged === one ? other : one
    const entities = new Map(
      readFileSync(registry, 'utf8')
        .trimEnd()
        .split('\n')
        .slice(1)
        .map((line) => [JSON.parse(line).entity, JSON.parse(line)]),
    )
    expect(entities.get(unchanged)).toMatchObject({ merged_from: [gone] })
    expect(entities.get(gone)).toMatchObject({ merged_into: [unchanged], members: [] })
    const split = pair.map((id) => changed.entityOf.get(id))
    const was = first.entityOf.get(pair[0])
    expect(split).toContain(was)
    expect(entities.get(split.find((id) => id !== was))).toMatchObject({ split_from: was })
    const origin = was ?? ''
    const part = split.find((id) => id !== was) ?? ''
    expect(readChanges(first.out)).toHaveLength(first.summary.entities)
    expect(readChanges(again.out)).toEqual([])
    expect(readChanges(changed.out).sort()).toEqual(
      [
        `${part},created,${origin},`,
        `${origin},split,,${part}`,
        `${unchanged},joined,${gone},`,
        `${gone},merged,,${unchanged}`,
      ].sort(),
    )
    const touched = new Set([...pair, ...alone])
    for (const [id, entity] of first.entityOf) if (!touched.has(id)) expect(changed.entityOf.get(id)).toBe(entity)
  })

  test('that is none, or of another lens, is refused and left as it is', async () => {
    for (const [text, message, exit] of [
      ['{"form":"entity-registry/1"}\n', 'line 1 is not a line of an entity registry', 1],
      ['{"form":"entity-registry/1","lens":"products","run":1}\n', 'of the lens products', 3],
    ] as const) {
      writeFileSync(at('bad.jsonl'), text)
      const refused = await runCommand(buildWords('--registry', at('bad.jsonl')).line)
      expect(refused).toMatchObject({ exit, stderr: expect.stringContaining(message) })
      expect(readFileSync(at('bad.jsonl'), 'utf8')).toBe(text)
    }
  })
})

test('ids with blanks are found as they are, and blanks that a person left are not part of an id', async () => {
  const row = (id: string) => `${id},Ann,Smith,1970-01-02,Norwich`
  const csv = ['id,given_name,surname,date_of_birth,city', row('7   '), row('8   '), row('9   '), '']
  writeFileSync(at('padded.csv'), csv.join('\n'))
  const decided = writeDecisions('padded-decisions.csv', '7   ,8   ,reject', '7   ,9   ,confirm')
  const words = ['resolve', 'run', '--lens', 'persons', '--data', at('padded.csv'), '--accept-poor']
  const { decisions } = await runJsonCommand([...words, '--decisions', decided, '--out', at('padded')])
  expect(decisions.counted).toBe(2)
})

test('two files of one name are refused by every command that names records by their source', async () => {
  mkdirSync(at('twice'))
  writeFileSync(at('twice/people.csv'), people.csv)
  const data = ['--lens', 'persons', '--data', at('people.csv'), at('twice/people.csv')]
  for (const words of [
    ['run', ...data, '--out', at('never')],
    ['lens', 'train', ...data],
    ['label', ...data, '--out', at('never.csv')],
  ]) {
    const ended = await runCommand(['resolve', ...words])
    expect(ended).toMatchObject({ exit: 1, stderr: expect.stringContaining('two files have the name people.csv') })
  }
})
