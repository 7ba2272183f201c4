// Tests the rows of a dataset by rules.
import * as z from 'zod'
import { shortText } from '../fields.ts'
import { unknownColumns } from './column-set.ts'
import { condition, listConditionFaults } from './condition.ts'
import { operator } from './operator.ts'

const rule = z.strictObject({
  name: shortText,
  where: condition.meta({ description: 'Holds for a good row' }),
  on_failure: z
    .enum(['reject', 'count', 'end'])
    .default('reject')
    .meta({ description: 'reject: the row goes to the rejects; count: it stays; end: the task fails' }),
})
export type ValidationRule = z.output<typeof rule>

export const validate = operator({
  name: 'validate',
  summary: 'Test the rows of a dataset by rules: count those that fail, reject them, or end the task',
  inputs: { min: 1, max: 1 },
  makes_dataset: true,
  params: z.strictObject({
    rules: z
      .array(rule)
      .min(1)
      .max(100)
      .refine((rules) => new Set(rules.map(({ name }) => name)).size === rules.length, 'must have different names'),
    max_rejects: z
      .int()
      .min(0)
      .optional()
      .meta({ description: 'Rows that may be rejected; more fail the task (default: any number)' }),
  }),
  deriveColumns: ({ rules }, [input = unknownColumns]) => ({
    columns: input,
    faults: rules.flatMap(({ where }, at) => listConditionFaults(where, input, `rules.${at}.where`)),
  }),
})
