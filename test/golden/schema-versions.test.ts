// A collection whose schema differs from that of the previous release has another version, and a migration.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { everyRole } from '../../daemon/every-role.ts'
import { expectGolden } from '../support/golden/expect-golden.ts'
import { findUnversionedChanges, formatSchemaVersions } from '../support/golden/format-schema-versions.ts'
import { repositoryRoot } from '../support/repository/source-tree.ts'

const current = formatSchemaVersions(everyRole)

test('versions of documents', () => expectGolden('test/golden/schema-versions.txt', current))

test('no schema changed since the previous release without another version', () => {
  const released = readFileSync(path.join(repositoryRoot, 'scripts/previous-release/schema-versions.txt'), 'utf8')
  expect(findUnversionedChanges(released, current)).toEqual([])
})

test('a changed schema of the same version is found, a new version and a new collection are not', () => {
  const changes = findUnversionedChanges('a b 1 x\na c 1 x\n', 'a b 1 y\na c 2 y\na d 1 y\n')
  expect(changes).toEqual(['a b'])
})
