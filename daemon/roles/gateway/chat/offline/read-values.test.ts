// The values in a sentence, and the time that hostile sentences take.
import { expect, test } from 'vitest'
import { readValues } from './read-values.ts'
import { splitTerms } from './split-terms.ts'

test.each<
  [string, Partial<Record<'ids' | 'quoted' | 'numbers', string[]> & { named: [string, string][]; item_count: string }>]
>([
  ['show signal sig_12', { ids: ['sig_12'] }],
  ['show weather-daily.', { ids: ['weather-daily'] }],
  ['close it "all is well", please', { quoted: ['all is well'] }],
  ['title: "A ship"', { named: [['title', 'A ship']], quoted: [] }],
  ["it’s Ann's signal", { quoted: [] }],
  [
    'signals with status=new and severity = "very high"',
    {
      named: [
        ['status', 'new'],
        ['severity', 'very high'],
      ],
    },
  ],
  ['use dag_id: weather, now', { named: [['dag_id', 'weather']] }],
  ['two things: first', { named: [] }],
  ['the last 5 signals', { item_count: '5', numbers: ['5'] }],
  ['signals of the last 7 days', { numbers: ['7'] }],
  ['mail ann@example.org', { ids: ['ann@example.org'] }],
])('%s', (message, expected) => {
  const { named, item_count, ...others } = readValues(message)
  const read = { ...others, named: [...named], ...(item_count === undefined ? {} : { item_count }) }
  expect(read).toMatchObject(expected)
  if (!('item_count' in expected)) expect(item_count).toBeUndefined()
})

test('values are left out of the rest', () => {
  expect(readValues('show signal sig_12 with status=new "and more"').rest).not.toMatch(/sig_12|new|and more/)
})

test.each([
  ['listing the Signals', ['list', 'signal']],
  ['paused pipelines', ['paus', 'pipelin']],
  ['please show me all of the statuses', ['status']],
  ['remove duplicates', ['delet', 'duplicat']],
  ['constructor __proto__ toString', ['constructor', 'proto', 'str']],
])('the terms of "%s" are %j', (text, terms) => {
  expect(splitTerms(text)).toEqual(terms)
})
