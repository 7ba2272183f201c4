// Tags: points that both sides have blinded, truncated to a length at which different values do not collide by chance.

/** Fewer than one in 2^40 runs reports a false pair. */
const collision_bits = 40

/**
 * Computes the bytes of a tag. Each of n times m pairs of different values collides with probability 2^-(8 bytes), and
 * all together stay below 2^-40. Two sets of 100,000 need ten bytes.
 */
export function computeTagBytes(left: number, right: number): number {
  const pairs = Math.log2(Math.max(1, left)) + Math.log2(Math.max(1, right))
  return Math.ceil((collision_bits + pairs) / 8)
}

export type TagMatches = { readonly left: Int32Array; readonly right: Int32Array }

/** Finds the positions of equal tags in both lists, ascending in `left`. Of equal tags in one list the first counts. */
export function intersectTags(left: Uint8Array, right: Uint8Array, width: number): TagMatches {
  const rightPositions = new Map<string, number>()
  for (const [position, tag] of iterateTags(right, width))
    if (!rightPositions.has(tag)) rightPositions.set(tag, position)
  const shared: [number[], number[]] = [[], []]
  for (const [position, tag] of iterateTags(left, width)) {
    const other = rightPositions.get(tag)
    if (other === undefined) continue
    rightPositions.delete(tag)
    shared[0].push(position)
    shared[1].push(other)
  }
  return { left: Int32Array.from(shared[0]), right: Int32Array.from(shared[1]) }
}

function* iterateTags(tags: Uint8Array, width: number): Generator<[number, string]> {
  const bytes = Buffer.from(tags.buffer, tags.byteOffset, tags.byteLength)
  for (let at = 0; at < bytes.length; at += width) yield [at / width, bytes.toString('latin1', at, at + width)]
}
