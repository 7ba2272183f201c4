// Records of one value that arrive later join an entity only where that value speaks for it.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createScratchFolder, runJsonCommand } from '../support/command/run-command.ts'
import { generatePeople } from '../support/resolution/generate-people.ts'

const { dir, remove } = createScratchFolder('bare-arrivals')
const at = (name: string) => path.join(dir, name)
const people = generatePeople(300, 7)
const personOf = new Map(people.truth)
const [head = '', ...rows] = people.csv.trimEnd().split('\n')
const columns = head.split(',')
/** Every fifth record comes later. */
const late = rows.filter((_, place) => place % 5 === 4)
const lateIds = new Set(late.map((row) => row.split(',')[0] ?? ''))

/** Leaves the id and one of these columns in each row that has it. */
function leaveColumn(name: string): string[] {
  const column = columns.indexOf(name)
  return late.flatMap((row) => {
    const cells = row.split(',')
    return cells[column] === ''
      ? []
      : [cells.map((cell, place) => (place === 0 || place === column ? cell : '')).join(',')]
  })
}

/** Matches the rows with the registry. Returns how many of them came to records of their person alone, and to others. */
async function matchRows(rows: readonly string[]): Promise<{ right: number; wrong: number }> {
  copyFileSync(at('first.jsonl'), at('registry.jsonl'))
  writeFileSync(at('late.csv'), [head, ...rows, ''].join('\n'))
  const files = ['--registry', at('registry.jsonl'), '--data', at('late.csv')]
  await runJsonCommand(['resolve', 'match', '--lens', 'persons', ...files])
  let [right, wrong] = [0, 0]
  for (const ids of readEntities(at('registry.jsonl'))) {
    const known = ids.filter((id) => !lateIds.has(id))
    for (const id of ids.filter((id) => lateIds.has(id) && known.length > 0)) {
      if (known.every((other) => personOf.get(other) === personOf.get(id))) right++
      else wrong++
    }
  }
  return { right, wrong }
}

/** Lists the ids of each entity. */
function readEntities(registry: string): string[][] {
  const lines = readFileSync(registry, 'utf8').trimEnd().split('\n').slice(1)
  const entities = lines.map((line) => JSON.parse(line)).filter(({ entity }) => entity !== undefined)
  return entities.map(({ members }) => members.map(([, id]: [string, string]) => id))
}

beforeAll(async () => {
  writeFileSync(at('people.csv'), [head, ...rows.filter((row) => !late.includes(row)), ''].join('\n'))
  const words = ['--lens', 'persons', '--data', at('people.csv'), '--registry', at('first.jsonl'), '--keep-records']
  await runJsonCommand(['resolve', 'run', ...words, '--out', at('first')])
})
afterAll(remove)

test('a city alone joins nobody, and a first name alone seldom another person', async () => {
  expect(await matchRows(leaveColumn('city'))).toEqual({ right: 0, wrong: 0 })
  const { right, wrong } = await matchRows(leaveColumn('given_name'))
  expect(right).toBeGreaterThan(2 * wrong)
})

test('a value that hardly another person has joins by itself', async () => {
  const { right, wrong } = await matchRows(leaveColumn('email'))
  expect(wrong).toBe(0)
  expect(right).toBeGreaterThan(100)
})
