// Encodes records in a thread before they are sent: as keys to be blinded, or as bit vectors.
import { encodeClk } from '../../privacy/clk/encode.ts'
import { computeVectorLength } from '../../privacy/clk/parameters.ts'
import { sortPoints } from '../../privacy/psi/points.ts'
import { buildRecordKeys } from '../../privacy/record-keys.ts'
import { parseRows } from '../piece/cut-pieces.ts'
import type { ExchangeJobs, LensRecordPieces, SortedItems } from './exchange-jobs.ts'
import { buildLensRecords } from './exchange-rows.ts'

export function extractRecordKeys({ lens, fields, pieces }: LensRecordPieces): readonly string[] {
  return buildRecordKeys(buildLensRecords(lens, fields, parseRows(pieces)), fields).keys
}

export function encodeVectors({ lens, fields, pieces, key, parameters }: ExchangeJobs['vectors'][0]): SortedItems {
  const vectors = encodeClk(buildLensRecords(lens, fields, parseRows(pieces)), fields, key, parameters)
  return sortPoints(new Uint8Array(vectors.buffer), computeVectorLength(parameters) / 8)
}
