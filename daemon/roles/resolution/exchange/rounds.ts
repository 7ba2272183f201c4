// What is computed of sets that travel, which say nothing of records: a thread does it.
import { type Refused, refuse } from '../../../kernel/errors.ts'
import { link } from '../privacy/clk/link.ts'
import { objectionTo, sharesOne } from '../privacy/psi/points.ts'
import { pair_bytes } from './cutting.ts'
import type { Deeds } from './deeds.ts'

export function soundPoints({ points, own, count, from }: Deeds['check'][0]): 'sound' | Refused {
  const objection = objectionTo(points, count)
  if (objection) return refuse('invalid', `the points of ${from}: ${objection}`)
  return sharesOne(points, own) ? refuse('invalid', `${from} gave back points of this site`) : 'sound'
}

/** Pairs as they travel: a place of each side, and how alike they are. */
export function linked(
  { ours, theirs, linking }: Deeds['link'][0],
  tell: (done: number, total: number) => void,
): Deeds['link'][1] | Refused {
  const found = link(words(ours), words(theirs), linking, tell)
  if (!found) return refuse('too_large', 'more pairs are above the threshold than fifty for each record')
  const bytes = Buffer.alloc(found.pairs.length * pair_bytes)
  for (const [at, [one, other, score]] of found.pairs.entries()) {
    bytes.writeUInt32LE(one, at * pair_bytes)
    bytes.writeUInt32LE(other, at * pair_bytes + 4)
    bytes.writeDoubleLE(score, at * pair_bytes + 8)
  }
  return { pairs: new Uint8Array(bytes), blocks_left_out: found.blocks_left_out }
}

function words(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
}
