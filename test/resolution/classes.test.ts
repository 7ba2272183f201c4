// Data of classes on which an engine goes wrong in silence: families of variants, rare duplicates, columns of other names.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createScratchFolder, runJsonCommand } from '../support/command/run-command.ts'
import { generateOffers } from '../support/resolution/generate-offers.ts'
import { generatePeople } from '../support/resolution/generate-people.ts'
import { generateRegister } from '../support/resolution/generate-register.ts'

const { dir, remove } = createScratchFolder('resolution-classes')
afterAll(remove)
const at = (name: string) => path.join(dir, name)

function write(name: string, text: string): string {
  writeFileSync(at(name), text)
  return at(name)
}

type Truth = readonly (readonly [id: string, entity: number])[]

async function evaluate(name: string, lens: string, data: readonly string[], truth: Truth) {
  const truthFile = write(`${name}-truth.csv`, ['id,cluster', ...truth.map((row) => row.join(',')), ''].join('\n'))
  await runJsonCommand(['resolve', 'run', '--lens', lens, '--data', ...data, '--out', at(name)])
  return (await runJsonCommand(['resolve', 'evaluate', at(name), '--truth', truthFile])).pairs
}

// No duplicate was found among rare or common ones before variants were recognised (decision 0087).
test.each([
  ['few offers have a duplicate', 0.06, 0.6, 0.55],
  ['most offers have a duplicate', 0.8, 0.85, 0.7],
])('families of variants in one table, of which %s', async (name, twice, precision, recall) => {
  const { csv, truth } = generateOffers(3_000, twice, 5)
  const pairs = await evaluate(`offers ${name}`, 'products', [write('offers.csv', csv)], truth)
  expect(pairs.precision).toBeGreaterThan(precision)
  expect(pairs.recall).toBeGreaterThan(recall)
})

test('people of whom one in ten is written down twice are found', async () => {
  const { csv, truth } = generatePeople(2_000, 7)
  const [heading = '', ...lines] = csv.trimEnd().split('\n')
  const seen = new Map<number, number>()
  const kept = truth.flatMap(([id, person], row) => {
    const count = seen.get(person) ?? 0
    seen.set(person, count + 1)
    return count === 0 || (count === 1 && person % 10 === 0) ? [[lines[row] ?? '', id, person] as const] : []
  })
  const data = write('rare.csv', [heading, ...kept.map(([line]) => line), ''].join('\n'))
  const pairs = await evaluate(
    'rare',
    'persons',
    [data],
    kept.map(([, id, person]) => [id, person] as const),
  )
  expect(pairs.f1).toBeGreaterThan(0.93)
  // A lens that was trained on the same data finds the same, with nothing to learn.
  const trained = at('trained.yaml')
  await runJsonCommand(['resolve', 'lens', 'train', '--lens', 'persons', '--data', data, '--out', trained])
  await runJsonCommand(['resolve', 'run', '--lens', trained, '--data', data, '--out', at('trained')])
  const [before, after] = ['rare', 'trained'].map((name) => readFileSync(at(`${name}/clusters.csv`), 'utf8'))
  expect(after).toBe(before)
})

test('two sources whose columns have other names are aligned, and linked', async () => {
  const { csv, truth } = generatePeople(400, 8, 1)
  const [, ...lines] = csv.trimEnd().split('\n')
  const seen = new Set<number>()
  const sides = truth.map(([, person]) => seen.has(person) || !seen.add(person))
  const linesOf = (isSecond: boolean) => lines.filter((_, row) => sides[row] === isSecond)
  const east = write('east.csv', ['id,first_name,last_name,dob,town,zip,mail', ...linesOf(false), ''].join('\n'))
  const west = write(
    'west.csv',
    ['id,forename,family_name,birth,locality,postal_code,e_mail', ...linesOf(true), ''].join('\n'),
  )
  await runJsonCommand(['resolve', 'lens', 'init', '--data', east, west, '--out', at('aligned.yaml')])
  const pairs = await evaluate('aligned', at('aligned.yaml'), [east, west], truth)
  expect(pairs.f1).toBeGreaterThan(0.95)
})

test('a lens is proposed for places under other names, a column named like a derived field, and more columns than fields', async () => {
  const rows = Array.from({ length: 40 }, (_, row) => row)
  const more = Array.from({ length: 15 }, (_, column) => `extra${column}`)
  const line = (row: number, side: string) => {
    const title = `harbour lamp number ${row} of the ${side} shop hl${100 + row}x`
    return [
      row,
      title,
      `c${row}`,
      50 + row / 10,
      7 + row / 10,
      ...more.map((_, column) => (row * 7 + column * 13) % 31),
    ]
  }
  const [east, west] = [
    ['places-east.csv', 'lat', 'lon'],
    ['places-west.csv', 'latitude', 'longitude'],
  ].map(([name = '', north, across]) => {
    const heading = ['id', 'title', 'codes', north, across, ...more]
    const lines = rows.map((row) => line(row, name).join(','))
    return write(name, `${[heading.join(','), ...lines].join('\n')}\n`)
  })
  const files = [east ?? '', west ?? '']
  await runJsonCommand(['resolve', 'lens', 'init', '--data', ...files, '--out', at('places.yaml')])
  const { fields } = await runJsonCommand(['resolve', 'lens', 'validate', at('places.yaml')])
  expect(fields.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining(['title', 'codes', 'codes_2']),
  )
  const summary = await runJsonCommand([
    'resolve',
    'run',
    '--lens',
    at('places.yaml'),
    '--data',
    ...files,
    '--out',
    at('places'),
  ])
  expect(summary.records).toBe(80)
})

// Of the 1,000 pairs of the public register RLdata10000, none was found before such models were learnt again (decision 0099).
test('duplicates of a register with names and birthdays alone are found, though few and with slips', async () => {
  const { csv, truth } = generateRegister(9_000, 1)
  const data = write('register.csv', csv)
  const lens = at('register.yaml')
  await runJsonCommand(['resolve', 'lens', 'init', '--data', data, '--out', lens])
  const pairs = await evaluate('register', lens, [data], truth)
  expect(pairs.precision).toBeGreaterThan(0.6)
  expect(pairs.recall).toBeGreaterThan(0.9)
})
