// Computations in a thread on sets that sites exchanged; none of them reads records.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { linkVectors } from '../../privacy/clk/link.ts'
import { findPointSetFault, sharesPoint } from '../../privacy/psi/points.ts'
import { pair_bytes } from '../piece/cut-pieces.ts'
import type { ExchangeJobs } from './exchange-jobs.ts'

export function checkPoints({ points, own, count, from }: ExchangeJobs['check'][0]): 'sound' | Refusal {
  const fault = findPointSetFault(points, count)
  if (fault) return refuse('invalid', `the points of ${from} are not valid: ${fault}`)
  return sharesPoint(points, own) ? refuse('invalid', `${from} sent points of this site back as its own`) : 'sound'
}

/** Links two sets of vectors. Each pair is encoded for sending: the position on each side, and the similarity. */
export function linkVectorSets(
  { left, right, linking }: ExchangeJobs['link'][0],
  report: (done: number, total: number) => void,
): ExchangeJobs['link'][1] | Refusal {
  const linked = linkVectors(toUint32Array(left), toUint32Array(right), linking, report)
  if (!linked)
    return refuse('too_large', 'more than fifty pairs for each record reach the threshold: propose a higher threshold')
  const bytes = Buffer.alloc(linked.pairs.length * pair_bytes)
  for (const [at, [leftPosition, rightPosition, score]] of linked.pairs.entries()) {
    bytes.writeUInt32LE(leftPosition, at * pair_bytes)
    bytes.writeUInt32LE(rightPosition, at * pair_bytes + 4)
    bytes.writeDoubleLE(score, at * pair_bytes + 8)
  }
  return { pairs: new Uint8Array(bytes), blocks_left_out: linked.blocks_left_out }
}

function toUint32Array(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
}
