// How records become bit vectors; both holders must do it alike, so all of this is in the agreement.
import * as z from 'zod'

/** A digest of 32 bytes has sixteen places of two bytes. */
const max_hashes = 16

export const clkParameters = z
  .strictObject({
    length: z
      .union([z.literal(512), z.literal(1_024), z.literal(2_048), z.literal(4_096)])
      .default(1_024)
      .meta({ description: 'bits of a record' }),
    q: z
      .int()
      .min(1)
      .max(4)
      .default(2)
      .meta({ description: 'letters of a gram; dates and years are taken digit by digit' }),
    hashes: z
      .int()
      .min(1)
      .max(max_hashes)
      .default(10)
      .meta({ description: 'bits that a gram sets, of a field of weight 1' }),
    weights: z
      .record(z.string(), z.number().gt(0).max(8))
      .default({})
      .meta({ description: 'of fields that count more or less than 1: their grams set more or fewer bits' }),
    fold: z
      .boolean()
      .default(true)
      .meta({ description: 'adds the two halves of a vector without carry, which hides how often a bit is set' }),
    threshold: z.number().min(0.5).max(1).default(0.75).meta({ description: 'least Dice coefficient of a match' }),
    one_to_one: z.boolean().default(true).meta({ description: 'no record is in two matches; the best come first' }),
  })
  .meta({ id: 'ClkParameters', description: 'Parameters of cryptographic long-term keys' })
export type ClkParameters = z.infer<typeof clkParameters>

/** Bits that a gram of the field sets. */
export function countFieldHashes({ hashes, weights }: ClkParameters, field: string): number {
  return Math.min(max_hashes, Math.max(1, Math.round(hashes * (weights[field] ?? 1))))
}

/** Bits of a vector as the linker sees it. */
export function computeVectorLength({ length, fold }: ClkParameters): number {
  return fold ? length / 2 : length
}
