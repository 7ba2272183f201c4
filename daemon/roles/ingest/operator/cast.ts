// Gives columns of a dataset other types.
import * as z from 'zod'
import { dataColumn } from '../../../kernel/data/data-schema.ts'
import { columnName } from '../fields.ts'
import { type KnownColumn, listRepeatedNames, listUnknownColumns, unknownColumns } from './column-set.ts'
import { operator } from './operator.ts'

const target = z.strictObject({ column: columnName, ...dataColumn.pick({ type: true, unit: true }).shape })
export type CastTarget = z.output<typeof target>

export const cast = operator({
  name: 'cast',
  summary:
    'Give columns of a dataset other types; a value that has no form of the new type rejects its row, or is left out',
  inputs: { min: 1, max: 1 },
  makes_dataset: true,
  params: z.strictObject({
    columns: z.array(target).min(1).max(1_000),
    on_misfit: z.enum(['reject', 'leave_out']).default('reject').meta({
      description:
        'What happens to a value that has no form of the new type: its row is rejected, or the value is left out',
    }),
    max_rejects: z.int().min(0).default(0).meta({ description: 'Rows that may be rejected; more fail the task' }),
  }),
  deriveColumns({ columns, on_misfit }, [input = unknownColumns]) {
    const names = columns.map(({ column }) => column)
    const faults = [
      ...listUnknownColumns(input, names, (at) => `columns.${at}.column`),
      ...listRepeatedNames(names, (at) => `columns.${at}.column`),
    ]
    const targetOf = new Map(columns.map(({ column, type, unit }) => [column, { type, ...(unit && { unit }) }]))
    const known = new Set(input.columns.map(({ name }) => name))
    const added: KnownColumn[] = names.filter((name) => input.isOpen && !known.has(name)).map((name) => ({ name }))
    const made = [...input.columns, ...added].map(({ unit, ...column }) => {
      const to = targetOf.get(column.name)
      if (!to) return { ...column, ...(unit && { unit }) }
      const { required: _, ...optional } = column
      return { ...(on_misfit === 'reject' ? column : optional), ...to }
    })
    return { columns: { columns: made, isOpen: input.isOpen }, faults }
  },
})
