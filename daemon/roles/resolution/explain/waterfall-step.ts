// One step of a waterfall, as the API returns it.
import * as z from 'zod'
import { shortText } from '../fields.ts'
import { max_compared_characters } from '../lens/comparison.ts'
import type { WaterfallStep } from './waterfall.ts'

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
  total_bits: z.number().meta({ description: 'Sum of the prior and all fields so far' }),
})

export function showSteps(steps: readonly WaterfallStep[]): z.infer<typeof waterfallStep>[] {
  return steps.map((step) => ({
    ...step,
    left: step.left ?? null,
    right: step.right ?? null,
    level: step.level ?? null,
  }))
}
