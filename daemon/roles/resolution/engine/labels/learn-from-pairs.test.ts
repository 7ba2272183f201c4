// A hundred labels repair a result that is wrong without them, and leave one alone that they cannot improve.
import { expect, test } from 'vitest'
import { generateHouseholds } from '../../../../../test/support/resolution/generate-households.ts'
import { generatePeople } from '../../../../../test/support/resolution/generate-people.ts'
import { type Lens, lens as schema } from '../../lens/model.ts'
import { measurePairs } from '../evaluate.ts'
import { buildTextColumn } from '../records/collect-columns.ts'
import { buildRecords, type LensRecords } from '../records/records.ts'
import { resolveRecords } from '../resolve.ts'
import { trainWeights } from '../train.ts'
import { createPairChooser } from './choose-pairs.ts'
import type { LabelledRecords } from './known-labels.ts'

const ignore = () => undefined

/** Records of lines without quotation marks. */
function buildCsvRecords(lens: Lens, csv: string): LensRecords {
  const [head = '', ...lines] = csv.trimEnd().split('\n')
  const names = head.split(',')
  const cells = lines.map((line) => line.split(','))
  const columns = names.map((name, at) =>
    buildTextColumn(
      name,
      cells.map((values) => values[at] ?? ''),
    ),
  )
  return buildRecords(lens, [{ name: 'records.csv', rows: lines.length, names, columns }])
}

function parseLens(types: Readonly<Record<string, string>>): Lens {
  const fields = Object.entries(types).map(([name, type]) => ({ name, type }))
  return schema.parse({ lens: 'own', version: '1.0.0', entity_type: 'person', fields })
}

/** Answers by the truth, five questions at a time, as a person does who is always right. */
function answer(lens: Lens, records: LensRecords, truth: Int32Array, count: number): LabelledRecords[] {
  const chooser = createPairChooser(lens, records, 1, ignore)
  const labels: LabelledRecords[] = []
  while (labels.length < count) {
    const pairs = chooser.choose(labels, labels, Math.min(5, count - labels.length))
    if (pairs.length === 0) break
    for (const { a, b } of pairs) labels.push({ a, b, isMatch: truth[a] === truth[b] })
  }
  return labels
}

function measureTrained(lens: Lens, records: LensRecords, truth: Int32Array, labels: readonly LabelledRecords[]) {
  const { labelled, fields, prior } = trainWeights(lens, records, 1, { kind: 'pairs', pairs: labels }, ignore)
  const { effect, ...cut } = labelled ?? {}
  const trained = {
    ...lens,
    ...cut,
    prior,
    fields: lens.fields.map((field) => {
      const { m, u } = fields.find(({ field: name }) => name === field.name) ?? {}
      return { ...field, ...(m && u && { m: [...m], u: [...u] }) }
    }),
  } as Lens
  return { effect, trained, ...measurePairs(resolveRecords(trained, records, 1, ignore).clusters, truth) }
}

const householdLens = parseLens({ given: 'name', surname: 'name', street: 'place', phone: 'code' })
const households = generateHouseholds(200, 0.1, 1)
const relatives = buildCsvRecords(householdLens, households.csv)
const persons = Int32Array.from(households.truth, ([, person]) => person)

test('relatives who count as one person are told apart after a hundred answers', () => {
  const without = resolveRecords(householdLens, relatives, 1, ignore)
  expect(measurePairs(without.clusters, persons).f1).toBeLessThan(0.2)
  const labels = answer(householdLens, relatives, persons, 100)
  expect(labels.length).toBe(100)
  const { f1, effect, trained } = measureTrained(householdLens, relatives, persons, labels)
  expect(effect).toMatchObject({ moved: true })
  expect(f1).toBeGreaterThan(0.85)
  expect(trained).toEqual(measureTrained(householdLens, relatives, persons, labels).trained)
})

test('a lens that labels trained learns anew as if they had not, without their cut', () => {
  const labels = answer(householdLens, relatives, persons, 100)
  const { trained } = measureTrained(householdLens, relatives, persons, labels)
  expect(trained.threshold).toBeDefined()
  const again: Lens = { ...trained, from_labels: ['threshold', 'clustering'] }
  expect(trainWeights(again, relatives, 1, undefined, ignore)).toEqual(
    trainWeights(householdLens, relatives, 1, undefined, ignore),
  )
  const { trained: twice } = measureTrained(again, relatives, persons, labels)
  expect({ ...twice, from_labels: undefined }).toEqual({ ...trained, from_labels: undefined })
})

test('no two questions are about equal values, and none is shown twice', () => {
  const labels = answer(householdLens, relatives, persons, 60)
  const valuesOf = (row: number) => relatives.fields.map(({ column }) => column.codes[row]).join(' ')
  const shown = labels.map(({ a, b }) => [valuesOf(a), valuesOf(b)].sort().join('|'))
  expect(new Set(shown).size).toBe(60)
})

test('labels do not change a result that is right', () => {
  const people = generatePeople(300, 5)
  const types = { given_name: 'name', surname: 'name', date_of_birth: 'date', email: 'email' }
  const lens = parseLens(types)
  const records = buildCsvRecords(lens, people.csv)
  const truth = Int32Array.from(people.truth, ([, person]) => person)
  const before = measurePairs(resolveRecords(lens, records, 1, ignore).clusters, truth).f1
  const after = measureTrained(lens, records, truth, answer(lens, records, truth, 50))
  expect(before).toBeGreaterThan(0.9)
  expect(after.f1).toBeGreaterThan(before - 0.005)
})

test.each([
  [true, 'non_matches'],
  [false, 'matches'],
])('labels of one class alone (matches: %s) move nothing', (isMatch, lacking) => {
  const labels = answer(householdLens, relatives, persons, 100).filter((label) => label.isMatch === isMatch)
  expect(labels.length).toBeGreaterThanOrEqual(10)
  expect(measureTrained(householdLens, relatives, persons, labels).effect).toMatchObject({ moved: false, lacking })
})

test('labels that say nothing about the result move nothing', () => {
  const labels = [{ a: 0, b: 1, isMatch: false }]
  expect(measureTrained(householdLens, relatives, persons, labels).effect).toMatchObject({ moved: false })
})
