// Digests a large document in steps: its canonical form takes tens of milliseconds for each megabyte.
import { canonicalJson } from './canonical-json.ts'
import { runningDigest } from './running-digest.ts'

/** Levels at which members and items are steps of their own: an item of a list in an object of a document is one. */
const step_depth = 3

/** The same as `canonicalDigest`, as a computation for `runInSlices`. */
export function* digestCanonically(value: unknown): Generator<undefined, string> {
  const digest = runningDigest()
  for (const piece of canonicalPieces(value, step_depth)) {
    digest.add(piece)
    yield
  }
  return digest.hex()
}

/** The pieces of the canonical form, in order. */
function* canonicalPieces(value: unknown, depth: number): Generator<string, void> {
  if (depth === 0 || typeof value !== 'object' || value === null) {
    yield canonicalJson(value)
  } else if (Array.isArray(value)) {
    yield '['
    for (const [at, item] of value.entries()) {
      if (at > 0) yield ','
      yield* canonicalPieces(item ?? null, depth - 1)
    }
    yield ']'
  } else {
    yield* canonicalMembers(value as Readonly<Record<string, unknown>>, depth)
  }
}

function* canonicalMembers(value: Readonly<Record<string, unknown>>, depth: number): Generator<string, void> {
  let separator = '{'
  for (const key of Object.keys(value).sort()) {
    if (value[key] === undefined) continue
    yield `${separator}${canonicalJson(key)}:`
    yield* canonicalPieces(value[key], depth - 1)
    separator = ','
  }
  yield separator === '{' ? '{}' : '}'
}
