// The objects of a store that have landed: each by a digest of its key, size and version.
import { createHash } from 'node:crypto'
import { max_known_objects } from '../../../kernel/data/landed-dataset.ts'
import type { StoredObject } from '../../../shared/object-source/object-source.ts'

const digest_bytes = 16

export function digestOfObject({ key, bytes, version }: StoredObject): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([key, bytes, version]))
    .digest()
  return digest.subarray(0, digest_bytes).toString('base64url')
}

/**
 * Those that have landed with the ones that a run took. Beyond the bound the oldest are forgotten that are in the store no more. `present`:
 * those that are, of which there are fewer than the bound.
 */
export function addKnownObjects(
  known: readonly string[],
  taken: readonly string[],
  present: ReadonlySet<string>,
): string[] {
  const all = [...new Set([...known, ...taken])]
  let surplus = all.length - max_known_objects
  return all.filter((each) => surplus <= 0 || present.has(each) || surplus-- <= 0)
}
