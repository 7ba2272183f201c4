// Points that both sides have blinded, cut short: long enough that no two different values meet by accident.

/** Accidents in a whole run: fewer than one in 2^40 runs reports a pair that is none. */
const collision_bits = 40

/**
 * Bytes of a tag. Of n times m pairs of different values each meets with 2^-(8 bytes), so that all together stay below
 * 2^-40. Ten bytes for two sets of 100,000.
 */
export function computeTagBytes(left: number, right: number): number {
  const pairs = Math.log2(Math.max(1, left)) + Math.log2(Math.max(1, right))
  return Math.ceil((collision_bits + pairs) / 8)
}

export type TagMatches = { readonly left: Int32Array; readonly right: Int32Array }

/** Places in both lists with the same tag, ascending by left. Of equal tags in one list the first counts. */
export function intersectTags(left: Uint8Array, right: Uint8Array, width: number): TagMatches {
  const placeOf = new Map<string, number>()
  for (const [place, tag] of iterateTags(right, width)) if (!placeOf.has(tag)) placeOf.set(tag, place)
  const met: [number[], number[]] = [[], []]
  for (const [place, tag] of iterateTags(left, width)) {
    const other = placeOf.get(tag)
    if (other === undefined) continue
    placeOf.delete(tag)
    met[0].push(place)
    met[1].push(other)
  }
  return { left: Int32Array.from(met[0]), right: Int32Array.from(met[1]) }
}

function* iterateTags(tags: Uint8Array, width: number): Generator<[number, string]> {
  const bytes = Buffer.from(tags.buffer, tags.byteOffset, tags.byteLength)
  for (let at = 0; at < bytes.length; at += width) yield [at / width, bytes.toString('latin1', at, at + width)]
}
