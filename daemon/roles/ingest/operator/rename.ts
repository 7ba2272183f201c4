// Gives columns of a dataset other names.
import * as z from 'zod'
import { columnName } from '../fields.ts'
import { listRepeatedNames, listUnknownColumns, unknownColumns } from './column-set.ts'
import { operator } from './operator.ts'

export const rename = operator({
  name: 'rename',
  summary: 'Give columns of a dataset other names',
  inputs: { min: 1, max: 1 },
  makes_dataset: true,
  params: z.strictObject({
    columns: z
      .array(z.strictObject({ column: columnName, to: columnName }))
      .min(1)
      .max(1_000),
  }),
  deriveColumns({ columns }, [input = unknownColumns]) {
    const names = columns.map(({ column }) => column)
    const newName = new Map(columns.map(({ column, to }) => [column, to]))
    const known = new Set(input.columns.map(({ name }) => name))
    const renamed = [
      ...input.columns.map((column) => ({ ...column, name: newName.get(column.name) ?? column.name })),
      // Of columns that an open set may have.
      ...columns.filter(({ column }) => input.isOpen && !known.has(column)).map(({ to }) => ({ name: to })),
    ]
    const all = renamed.map(({ name }) => name)
    const faults = [
      ...listUnknownColumns(input, names, (at) => `columns.${at}.column`),
      ...listRepeatedNames(names, (at) => `columns.${at}.column`),
      ...listRepeatedNames(all, () => 'columns'),
    ]
    return { columns: { columns: renamed, isOpen: input.isOpen }, faults }
  },
})
