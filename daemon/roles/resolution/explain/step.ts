// One step of a waterfall as the interface shows it.
import * as z from 'zod'
import { word } from '../fields.ts'
import type { Step } from './waterfall.ts'

export const step = z.strictObject({
  field: word,
  left: z.string().nullable().meta({ description: 'In normal form; null where there is none, or none to be seen' }),
  right: z.string().nullable(),
  level: z.string().nullable().meta({ description: 'How alike both are; null where one says nothing' }),
  bits: z.number(),
  frequency_bits: z.number().meta({ description: 'What an equal value adds for being rare' }),
  total_bits: z.number().meta({ description: 'The prior and all fields so far' }),
})

export function shownSteps(steps: readonly Step[]): z.infer<typeof step>[] {
  return steps.map((each) => ({
    ...each,
    left: each.left ?? null,
    right: each.right ?? null,
    level: each.level ?? null,
  }))
}
