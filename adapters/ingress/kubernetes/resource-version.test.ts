// The order of versions of objects, as decimal numbers of any length.
import { expect, test } from 'vitest'
import { isNewerVersion } from './resource-version.ts'

test.each([
  ['10', '9', true],
  ['9', '10', false],
  ['9', '9', false],
  ['18446744073709551615', '18446744073709551614', true],
  // Nothing is known of these: the later arrival counts.
  ['abc', '9', true],
  ['9', 'abc', true],
])('%s is newer than %s: %s', (version, known, isNewer) => expect(isNewerVersion(version, known)).toBe(isNewer))
