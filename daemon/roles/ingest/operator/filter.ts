// Keeps the rows of a dataset for which a condition holds.
import * as z from 'zod'
import { unknownColumns } from './column-set.ts'
import { condition, listConditionFaults } from './condition.ts'
import { operator } from './operator.ts'

export const filter = operator({
  name: 'filter',
  summary: 'Keep the rows of a dataset for which a condition holds',
  inputs: { min: 1, max: 1 },
  makes_dataset: true,
  params: z.strictObject({ where: condition }),
  deriveColumns: ({ where }, [input = unknownColumns]) => ({
    columns: input,
    faults: listConditionFaults(where, input, 'where'),
  }),
})
