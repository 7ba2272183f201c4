// Steps are in order and applied in order; a store of a later release is found, and its refusal names both releases.
import { describe, expect, test } from 'vitest'
import {
  applyMigrations,
  compareReleases,
  describeNewerCollections,
  findNewerCollections,
  pendingMigrations,
  versionOf,
} from './schema-version.ts'

const rename = { to: 2, summary: 'title is name', change: (value: object) => ({ ...value, name: 'x' }) as never }
const widen = { to: 3, summary: 'an optional field' }
const entries = { name: 'entry', migrations: [rename, widen] }

test('the version is that of the last step, and 1 without one', () => {
  expect([versionOf({ name: 'entry' }), versionOf(entries)]).toEqual([1, 3])
})

test.each([[[{ to: 3, summary: '' }]], [[rename, rename]], [[{ to: 1, summary: '' }]]])(
  'steps that are not one after the other are refused',
  (migrations) => {
    expect(() => versionOf({ name: 'entry', migrations })).toThrow('not in order')
  },
)

test('documents of each version get the steps that they lack', () => {
  expect([1, 2, 3].map((version) => pendingMigrations(entries, version))).toEqual([[rename, widen], [widen], []])
  expect(applyMigrations([rename, widen], { tenant_id: 'alpha' })).toEqual({ tenant_id: 'alpha', name: 'x' })
})

describe('a store is refused', () => {
  const found = (collection: string, version: number, release: string) =>
    findNewerCollections([{ collection, version, release }], [entries], '1.1.0').map(({ known }) => known)

  test.each([
    ['with documents of a later version', 'entry', 4, '1.2.0', [3]],
    ['with documents of a later version, of whatever release', 'entry', 4, '1.0.0', [3]],
    ['with a collection of a later release', 'novel', 1, '1.2.0', [0]],
  ])('%s', (_, collection, version, release, known) => expect(found(collection, version, release)).toEqual(known))

  test.each([
    ['with documents of this version', 'entry', 3, '1.2.0'],
    ['with documents of an earlier version', 'entry', 1, '1.0.0'],
    ['with a collection that an earlier release had', 'gone', 9, '1.0.0'],
  ])('but not %s', (_, collection, version, release) => expect(found(collection, version, release)).toEqual([]))

  test('by a text with both releases and both versions', () => {
    const newer = findNewerCollections([{ collection: 'entry', version: 4, release: '1.2.0' }], [entries], '1.1.0')
    expect(describeNewerCollections(newer, 'consensus', '1.1.0')).toBe(
      'release 1.2.0 wrote the documents of consensus, and release 1.1.0 cannot read them (entry has version 4, and 3 is known): run 1.2.0 or later, or restore a backup that 1.1.0 made',
    )
  })
})

test('releases are ordered by number', () => {
  const releases = ['1.10.0', '1.2.0', '1.2.0-rc.1', '0.9.9', '1.2.1+build']
  expect(releases.toSorted(compareReleases)).toEqual(['0.9.9', '1.2.0-rc.1', '1.2.0', '1.2.1+build', '1.10.0'])
})
