// Splits blinding into as many pieces as run in parallel: starting a thread has a cost, and many lists are short.
import type { Blinding } from '../../../daemon/kernel/cryptography/blinding.ts'
import type { BlindingWork } from './perform-blinding.ts'

export type BlindingPerformer = (work: BlindingWork, signal: AbortSignal) => Promise<Uint8Array | undefined>

/** Values for a tenth of a second on one core: fewer are not worth a piece of their own. */
const min_piece_items = 1_024

/** `side_by_side`: pieces that `perform` runs in parallel. */
export function curve25519Blinding(perform: BlindingPerformer, side_by_side: number): Blinding {
  const cut = <T>(count: number, piece: (from: number, to: number) => T): T[] => {
    const each = Math.max(min_piece_items, Math.ceil(count / side_by_side))
    return Array.from({ length: Math.ceil(count / each) }, (_, at) =>
      piece(at * each, Math.min(count, (at + 1) * each)),
    )
  }
  return {
    async blindValues(domain, values, secret, signal) {
      const pieces = cut(values.length, (from, to) =>
        perform({ do: 'values', domain, values: values.slice(from, to), secret }, signal),
      )
      const points = joinPieces(await Promise.all(pieces))
      if (!points) throw new Error('a value was hashed to a point of low order')
      return points
    },
    async tagPoints(domain, points, secret, tag_bytes, signal) {
      if (points.length % 32 !== 0) return undefined
      const pieces = cut(points.length / 32, (from, to) =>
        perform({ do: 'tags', domain, points: points.slice(from * 32, to * 32), secret, tag_bytes }, signal),
      )
      return joinPieces(await Promise.all(pieces))
    },
  }
}

function joinPieces(pieces: readonly (Uint8Array | undefined)[]): Uint8Array | undefined {
  const whole = pieces.filter((piece) => piece !== undefined)
  return whole.length < pieces.length ? undefined : new Uint8Array(Buffer.concat(whole))
}
