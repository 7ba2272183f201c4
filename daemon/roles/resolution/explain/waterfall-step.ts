// One step of a waterfall as the interface shows it.
import * as z from 'zod'
import { shortText } from '../fields.ts'
import type { WaterfallStep } from './waterfall.ts'

export const waterfallStep = z.strictObject({
  field: shortText,
  left: z.string().nullable().meta({ description: 'In normal form; null where there is none, or none to be seen' }),
  right: z.string().nullable(),
  level: z.string().nullable().meta({ description: 'How alike both are; null where one says nothing' }),
  bits: z.number(),
  frequency_bits: z.number().meta({ description: 'What an equal value adds for being rare' }),
  total_bits: z.number().meta({ description: 'The prior and all fields so far' }),
})

export function showSteps(steps: readonly WaterfallStep[]): z.infer<typeof waterfallStep>[] {
  return steps.map((each) => ({
    ...each,
    left: each.left ?? null,
    right: each.right ?? null,
    level: each.level ?? null,
  }))
}
