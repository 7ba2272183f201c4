// A role has signatures of its own by its declaration, and none that would count as one of the platform.
import { expect, test } from 'vitest'
import { joinDocumentTypes } from './document-type.ts'

test('types are joined with their roles', () => {
  const signers = [{ name: 'a', signs: ['evidence'] }, { name: 'b' }, { name: 'c', signs: ['landed-dataset'] }]
  expect([...joinDocumentTypes(signers)]).toEqual([
    ['evidence', 'a'],
    ['landed-dataset', 'c'],
  ])
})

test.each([
  ['statement', 'which the platform itself signs'],
  ['keyset', 'which the platform itself signs'],
  ['gap-receipt', 'which the platform itself signs'],
  ['evidence', 'the roles a and b sign documents of type "evidence"'],
  ['Landed Dataset', 'malformed type "Landed Dataset"'],
])('a role cannot sign %s, of another', (type, message) => {
  const signers = [
    { name: 'a', signs: ['evidence'] },
    { name: 'b', signs: [type] },
  ]
  expect(() => joinDocumentTypes(signers)).toThrow(message)
})
