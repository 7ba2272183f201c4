// What is made of records before it travels: keys to be blinded, bit vectors. A thread does it.
import { encode } from '../privacy/clk/encode.ts'
import { lengthOf } from '../privacy/clk/parameters.ts'
import { ascending } from '../privacy/psi/points.ts'
import { recordKeys } from '../privacy/record-keys.ts'
import { rowsIn } from './cutting.ts'
import type { Deeds, Seen, Sorted } from './deeds.ts'
import { seenRows } from './rows.ts'

export function keysOf({ lens, fields, pieces }: Seen): readonly string[] {
  return recordKeys(seenRows(lens, fields, rowsIn(pieces)), fields).keys
}

export function vectorsOf({ lens, fields, pieces, key, parameters }: Deeds['vectors'][0]): Sorted {
  const vectors = encode(seenRows(lens, fields, rowsIn(pieces)), fields, key, parameters)
  return ascending(new Uint8Array(vectors.buffer), lengthOf(parameters) / 8)
}
