// References to values of earlier responses, in texts and in whole requests.
import { expect, test } from 'vitest'
import { findBadReference, listReferences, resolveReferences } from './reference.ts'

const at = (text: string) => `$\{${text}}`

test('a text that is one reference becomes the value, and others take its text', () => {
  const values = { id: 7, list: [1] }
  const read = ({ hop, path }: { hop: string; path: string }) =>
    hop === 'raise' && path !== '' ? (values[path as 'id' | 'list'] ?? null) : values
  const request = { a: at('raise:id'), b: [`n${at('raise:id')}-${at('raise:list')}`], c: at('raise'), d: 1, e: null }
  expect(resolveReferences(request, read)).toEqual({ a: 7, b: ['n7-[1]'], c: values, d: 1, e: null })
  expect(listReferences(request)).toEqual([
    { hop: 'raise', path: 'id' },
    { hop: 'raise', path: 'id' },
    { hop: 'raise', path: 'list' },
    { hop: 'raise', path: '' },
  ])
})

test('a value is not read for references again', () => {
  expect(resolveReferences(at('raise:x'), () => at('show:y'))).toBe(at('show:y'))
  expect(resolveReferences(`-${at('raise:x')}`, () => at('show:y'))).toBe(`-${at('show:y')}`)
})

test('two dollars write the characters themselves, and a malformed reference is found', () => {
  const escaped = `$${at('raise:id')}`
  expect(resolveReferences(escaped, () => 1)).toBe(at('raise:id'))
  expect(listReferences(escaped)).toEqual([])
  expect(findBadReference([escaped, { a: at('raise:id') }])).toBeUndefined()
  for (const bad of [at('Raise:id'), at(''), '${raise', at('raise:{')]) expect(findBadReference({ a: [bad] })).toBe(bad)
})
