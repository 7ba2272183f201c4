// Nicknames of one name are found by any two of them, in any script, and are not a chain between names.
import { expect, test } from 'vitest'
import { readNicknames } from './nicknames.ts'

const groups = [
  'Robert: Bob, Rob, Bobby',
  'Alexander: Alex, Sandy',
  'Alexandra: Alex, Sandra',
  'José: Pepe',
  'Александр: Саша',
  'Rob:',
]

test.each([
  ['bob', 'robert', true],
  ['bob', 'bobby', true],
  ['alex', 'alexandra', true],
  ['alex', 'alexander', true],
  ['alexander', 'alexandra', false],
  ['sandy', 'sandra', false],
  ['pepe', 'jose', true],
  ['sasha', 'aleksandr', true],
  ['bob smith', 'robert smith', true],
  ['bob smith', 'robert jones', false],
  ['bob j', 'robert', true],
  ['bob', 'bob', false],
  ['mary', 'robert', false],
])('%s and %s: %s', (left, right, areNicknames) => {
  const index = readNicknames(groups)
  expect(index.areNicknames(left, right)).toBe(areNicknames)
  expect(index.areNicknames(right, left)).toBe(areNicknames)
})

test('nicknames share the key of their name', () => {
  const { nameOf } = readNicknames(groups)
  expect(['bob', 'bobby', 'robert', 'bob james', 'mary', 'sasha'].map(nameOf)).toEqual([
    'robert',
    'robert',
    'robert',
    'robert james',
    'mary',
    'aleksandr',
  ])
})

test('groups that come in a message again have the index that they had', () => {
  const copyOf = (first: string) => readNicknames([`${first}: Bob`])
  const index = copyOf('Robert')
  expect(copyOf('Robert')).toBe(index)
  for (const first of ['Rupert', 'Robin', 'Robinson', 'Roberta']) copyOf(first)
  expect(copyOf('Robert')).not.toBe(index)
  expect(copyOf('Robert').areNicknames('bob', 'robert')).toBe(true)
})
