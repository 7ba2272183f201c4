// The files that a cursor remembers are bounded: those that are gone are forgotten first.
import { expect, test } from 'vitest'
import { addKnownFiles } from './new-files.ts'

const fileOf = (name: string, bytes = 1) => ({ name, bytes, sha256: '0'.repeat(64) })

test('files that have landed are remembered, also those that are gone', () => {
  const known = addKnownFiles([fileOf('gone')], [fileOf('new')], ['folder/new'])
  expect(known.map(({ name }) => name)).toEqual(['gone', 'new'])
})

test('beyond 10,000 the oldest are forgotten that are in the folder no more', () => {
  const all = Array.from({ length: 10_000 }, (_, at) => fileOf(`f${at}`))
  const known = addKnownFiles(all, [fileOf('new')], ['folder/f0', 'folder/new'])
  expect(known.length).toBe(10_000)
  expect(known.slice(0, 2).map(({ name }) => name)).toEqual(['f0', 'f2'])
  expect(known.at(-1)?.name).toBe('new')
})

test('beyond 10,000 older versions of a file are forgotten first, also of one that is still there', () => {
  const versions = Array.from({ length: 9_999 }, (_, at) => fileOf('often', at))
  const known = addKnownFiles([fileOf('gone'), ...versions], [fileOf('often', 9_999)], ['folder/often'])
  expect(known.length).toBe(10_000)
  expect(known.slice(0, 2)).toEqual([fileOf('gone'), fileOf('often', 1)])
  expect(known.at(-1)).toEqual(fileOf('often', 9_999))
})
