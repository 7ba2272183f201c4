// Blinding in pieces of a few milliseconds or seconds: whoever performs them may do several at a time.
import type { Blinding } from '../../../daemon/kernel/blinding.ts'
import type { BlindingWork } from './work.ts'

export type PerformBlinding = (work: BlindingWork) => Promise<Uint8Array | undefined>

/** About a tenth of a second on one core. */
const piece_items = 1_024

/** All pieces are handed to `perform` at once; it decides how many are done side by side. */
export function curve25519Blinding(perform: PerformBlinding): Blinding {
  return {
    async blindValues(domain, values, secret) {
      const pieces = starts(values.length).map((at) =>
        perform({ do: 'values', domain, values: values.slice(at, at + piece_items), secret }),
      )
      const points = joined(await Promise.all(pieces))
      if (!points) throw new Error('a value was hashed to a point of low order')
      return points
    },
    async tagPoints(domain, points, secret, tag_bytes) {
      if (points.length % 32 !== 0) return undefined
      const pieces = starts(points.length / 32).map((at) =>
        perform({ do: 'tags', domain, points: points.slice(at * 32, (at + piece_items) * 32), secret, tag_bytes }),
      )
      return joined(await Promise.all(pieces))
    },
  }
}

function starts(count: number): number[] {
  return Array.from({ length: Math.ceil(count / piece_items) }, (_, piece) => piece * piece_items)
}

function joined(pieces: readonly (Uint8Array | undefined)[]): Uint8Array | undefined {
  return pieces.some((piece) => piece === undefined)
    ? undefined
    : new Uint8Array(Buffer.concat(pieces.filter((piece) => piece !== undefined)))
}
