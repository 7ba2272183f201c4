// One step of a waterfall, as the API returns it.
import * as z from 'zod'
import { shortText } from '../fields.ts'
import { max_compared_characters } from '../lens/comparison.ts'
import type { Waterfall } from './waterfall.ts'

export const waterfallStep = z.strictObject({
  field: shortText,
  left: z
    .string()
    .nullable()
    .meta({ description: 'Normalised value; null where the record has none, or the caller may not see it' }),
  right: z.string().nullable(),
  level: z.string().nullable().meta({ description: 'Level of similarity; null where one record has no value' }),
  truncated: z.boolean().meta({
    description: `Whether a value has more than ${max_compared_characters} characters: the level then compares the first ones of each`,
  }),
  bits: z.number(),
  frequency_bits: z.number().meta({ description: 'Added for an equal value that is rare' }),
  total_bits: z
    .number()
    .nullable()
    .meta({ description: 'Sum of the prior and all fields so far; null where the score is a text similarity' }),
  total_likeness: z
    .number()
    .nullable()
    .meta({ description: 'Text similarity with all fields so far; null where the score is in bits' }),
})

export function showSteps({ scale, steps }: Pick<Waterfall, 'scale' | 'steps'>): z.infer<typeof waterfallStep>[] {
  return steps.map(({ total, ...step }) => ({
    ...step,
    left: step.left ?? null,
    right: step.right ?? null,
    level: step.level ?? null,
    total_bits: scale === 'log_odds' ? total : null,
    total_likeness: scale === 'likeness' ? total : null,
  }))
}
