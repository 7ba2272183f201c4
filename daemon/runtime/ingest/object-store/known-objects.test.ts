// Objects are known by key, size and version; those that are gone are forgotten first.
import { expect, test } from 'vitest'
import { addKnownObjects, digestOfObject } from './known-objects.ts'

test('another key, size or version is another object', () => {
  const objects = [
    { key: 'a', bytes: 1, version: '1' },
    { key: 'A', bytes: 1, version: '1' },
    { key: 'a', bytes: 11, version: '1' },
    { key: 'a', bytes: 1, version: '11' },
    { key: 'a"', bytes: 1, version: '1' },
  ]
  expect(new Set(objects.map(digestOfObject)).size).toBe(objects.length)
  expect(digestOfObject({ ...objects[0], id: 'x' } as never)).toHaveLength(22)
})

test('objects stay known after they are gone, up to the bound', () => {
  expect(addKnownObjects(['gone'], ['new'], new Set(['new']))).toEqual(['gone', 'new'])
  const known = Array.from({ length: 100_000 }, (_, at) => `o${at}`)
  const next = addKnownObjects(known, ['new'], new Set(['o0', 'o2', 'new']))
  expect(next).toHaveLength(100_000)
  expect([next[0], next[1], next.at(-1)]).toEqual(['o0', 'o2', 'new'])
})
