// Columns in another spelling: which one is that of a field, and when it is nobody's guess.
import { expect, test } from 'vitest'
import { lens as schema } from '../../lens/model.ts'
import { createColumnMatcher, normaliseColumnName } from './match-columns.ts'

const lens = schema.parse({
  lens: 'own',
  version: '1.0.0',
  entity_type: 'person',
  fields: [
    { name: 'given', type: 'name', columns: ['given_name', 'first_name'], optional: true },
    { name: 'city', type: 'place' },
    { name: 'full', type: 'text', join: ['street', 'house_number'], optional: true },
  ],
})
const match = (columns: string[], named: string[] = []) => {
  const { matches, ambiguous } = createColumnMatcher(lens, named).match(columns)
  return { found: Object.fromEntries(matches.map(({ name, column }) => [name, column])), ambiguous }
}

test.each([
  ['First name', 'first_name'],
  ['FIRST_NAME', 'firstName'],
  [' first-name ', 'First.Name:'],
  ['Prénom', 'prenom'],
  ['STRASSE', 'Straße'],
  ['Ａｇｅ', 'age'],
])('%s and %s are one name', (left, right) => {
  expect(normaliseColumnName(left)).toBe(normaliseColumnName(right))
})

test.each([
  ['address_1', 'address_2'],
  ['की', 'का'],
  ['が', 'か'],
  ['名前', '住所'],
])('%s and %s are two names', (left, right) => {
  expect(normaliseColumnName(left)).not.toBe(normaliseColumnName(right))
})

test('finds columns of every kind of field, and of the ids', () => {
  const { found, ambiguous } = match(['ID', 'First Name', 'Çity', 'Street', 'House number', 'Other'])
  expect(found).toEqual({
    id: 'ID',
    first_name: 'First Name',
    city: 'Çity',
    street: 'Street',
    house_number: 'House number',
  })
  expect(ambiguous).toEqual([])
})

test('an exact name wins for its field, over an earlier one of the lens in another spelling', () => {
  expect(match(['id', 'Id', 'Given Name', 'first_name', 'City', 'city'])).toEqual({ found: {}, ambiguous: [] })
})

test('of several names of the lens the first counts, as for exact ones', () => {
  expect(match(['First Name', 'Given Name']).found).toEqual({ given_name: 'Given Name' })
})

test('two spellings of one name are ambiguous, and a column of nobody is not matched', () => {
  expect(match(['Id', 'ID', 'City', 'CITY', '_', '#'])).toEqual({
    found: {},
    ambiguous: [
      { field: undefined, columns: ['Id', 'ID'] },
      { field: 'city', columns: ['City', 'CITY'] },
    ],
  })
})

test('a column that a person assigned wins over exact names, in any spelling', () => {
  const columns = ['given_name', 'First Name', 'city']
  expect(match(columns).found).toEqual({})
  expect(match(columns, ['first_name']).found).toEqual({ first_name: 'First Name' })
})

test('reads what may be wanted, and nothing else', () => {
  const { isWanted, isId } = createColumnMatcher(lens)
  expect(['ID', 'first name', 'HouseNumber', 'surname', '', '_'].map(isWanted)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ])
  expect(['ID', 'i d', 'ids'].map(isId)).toEqual([true, true, false])
})
