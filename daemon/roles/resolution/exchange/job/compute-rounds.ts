// Computations in a thread over sets that travelled; none of them sees records.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { linkVectors } from '../../privacy/clk/link.ts'
import { findPointSetFault, sharesPoint } from '../../privacy/psi/points.ts'
import { pair_bytes } from '../piece/cut-pieces.ts'
import type { ExchangeJobs } from './exchange-jobs.ts'

export function checkPoints({ points, own, count, from }: ExchangeJobs['check'][0]): 'sound' | Refusal {
  const objection = findPointSetFault(points, count)
  if (objection) return refuse('invalid', `the points of ${from} are not valid: ${objection}`)
  return sharesPoint(points, own) ? refuse('invalid', `${from} sent points of this site back as its own`) : 'sound'
}

/** Encodes each pair as it travels: the position on each side, and the similarity. */
export function linkVectorSets(
  { ours, theirs, linking }: ExchangeJobs['link'][0],
  report: (done: number, total: number) => void,
): ExchangeJobs['link'][1] | Refusal {
  const found = linkVectors(toUint32Array(ours), toUint32Array(theirs), linking, report)
  if (!found)
    return refuse(
      'too_large',
      'more pairs than fifty for each record are above the threshold: propose a higher threshold',
    )
  const bytes = Buffer.alloc(found.pairs.length * pair_bytes)
  for (const [at, [one, other, score]] of found.pairs.entries()) {
    bytes.writeUInt32LE(one, at * pair_bytes)
    bytes.writeUInt32LE(other, at * pair_bytes + 4)
    bytes.writeDoubleLE(score, at * pair_bytes + 8)
  }
  return { pairs: new Uint8Array(bytes), blocks_left_out: found.blocks_left_out }
}

function toUint32Array(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
}
