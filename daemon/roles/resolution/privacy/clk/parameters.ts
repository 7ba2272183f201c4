// Parameters of the encoding of records as bit vectors. Both parties must use the same, so the agreement has all of
// them.
import * as z from 'zod'

/** A digest of 32 bytes gives sixteen positions of two bytes. */
const max_hashes = 16

export const clkParameters = z
  .strictObject({
    length: z
      .union([z.literal(512), z.literal(1_024), z.literal(2_048), z.literal(4_096)])
      .default(1_024)
      .meta({ description: 'bits of the vector of a record' }),
    q: z
      .int()
      .min(1)
      .max(4)
      .default(2)
      .meta({ description: 'letters of a gram; dates and years are split into digits' }),
    hashes: z
      .int()
      .min(1)
      .max(max_hashes)
      .default(10)
      .meta({ description: 'bits that each gram of a field of weight 1 sets' }),
    weights: z
      .record(z.string(), z.number().gt(0).max(8))
      .default({})
      .meta({ description: 'weight of each field, 1 by default: grams of a field with a higher weight set more bits' }),
    fold: z.boolean().default(true).meta({
      description: 'whether to add the two halves of a vector without carry, which hides how often a bit is set',
    }),
    threshold: z.number().min(0.5).max(1).default(0.75).meta({ description: 'minimum Dice coefficient of a match' }),
    one_to_one: z
      .boolean()
      .default(true)
      .meta({ description: 'whether each record is in at most one match; the best matches come first' }),
  })
  .meta({ id: 'ClkParameters', description: 'Parameters of cryptographic long-term keys' })
export type ClkParameters = z.infer<typeof clkParameters>

/** Computes the number of bits that a gram of the field sets. */
export function countFieldHashes({ hashes, weights }: ClkParameters, field: string): number {
  return Math.min(max_hashes, Math.max(1, Math.round(hashes * (weights[field] ?? 1))))
}

/** Computes the bits of a vector as the linker receives it. */
export function computeVectorLength({ length, fold }: ClkParameters): number {
  return fold ? length / 2 : length
}
