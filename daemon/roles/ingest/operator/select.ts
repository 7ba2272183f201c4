// Keeps some columns of a dataset, in the order in which they are named.
import * as z from 'zod'
import { columnName } from '../fields.ts'
import { findColumn, listRepeatedNames, listUnknownColumns, unknownColumns } from './column-set.ts'
import { operator } from './operator.ts'

export const select = operator({
  name: 'select',
  summary: 'Keep some columns of a dataset, in the order in which they are named',
  inputs: { min: 1, max: 1 },
  makes_dataset: true,
  params: z.strictObject({ columns: z.array(columnName).min(1).max(1_000) }),
  deriveColumns({ columns }, [input = unknownColumns]) {
    const pathOf = (at: number) => `columns.${at}`
    const faults = [...listUnknownColumns(input, columns, pathOf), ...listRepeatedNames(columns, pathOf)]
    const kept = columns.map((name) => findColumn(input, name) ?? { name })
    return { columns: { columns: kept, isOpen: false }, faults }
  },
})
