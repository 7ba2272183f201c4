// Counts and summarises the rows of a dataset by groups of equal values.
import * as z from 'zod'
import { columnName } from '../fields.ts'
import {
  type ColumnSet,
  describeUnknownColumn,
  findColumn,
  isNumeric,
  type KnownColumn,
  listRepeatedNames,
  listUnknownColumns,
  quoteName,
  unknownColumns,
} from './column-set.ts'
import { operator } from './operator.ts'

const functions = ['count', 'sum', 'mean', 'min', 'max'] as const

const aggregated = z.strictObject({
  as: columnName.meta({ description: 'Name of the new column' }),
  function: z.enum(functions),
  column: columnName.optional().meta({ description: 'Missing values do not count. Absent: count counts rows' }),
})
export type AggregatedValue = z.output<typeof aggregated>

export const aggregate = operator({
  name: 'aggregate',
  summary: 'Count and summarise the rows of a dataset by groups of equal values',
  inputs: { min: 1, max: 1 },
  makes_dataset: true,
  params: z.strictObject({
    by: z
      .array(columnName)
      .max(50)
      .default([])
      .meta({ description: 'Columns whose equal values make a group (default: one group of all rows)' }),
    values: z.array(aggregated).min(1).max(100),
  }),
  deriveColumns({ by, values }, [input = unknownColumns]) {
    const groups = by.map((name) => findColumn(input, name) ?? { name })
    const made = [...groups, ...values.map((value) => valueColumn(value, input))]
    const faults = [
      ...listUnknownColumns(input, by, (at) => `by.${at}`),
      ...values.flatMap((value, at) => listValueFaults(value, input, `values.${at}`)),
      ...listRepeatedNames(
        made.map(({ name }) => name),
        (at) => (at < by.length ? `by.${at}` : `values.${at - by.length}.as`),
      ),
    ]
    return { columns: { columns: made, isOpen: false }, faults }
  },
})

function valueColumn({ as, function: by, column }: AggregatedValue, input: ColumnSet): KnownColumn {
  if (by === 'count') return { name: as, type: 'int64', required: true }
  if (by === 'mean') return { name: as, type: 'double' }
  const { type, unit } = findColumn(input, column ?? '') ?? {}
  if (by === 'sum') return { name: as, type: type && (type === 'double' ? 'double' : 'int64') }
  return { name: as, type, ...(unit && { unit }) }
}

function listValueFaults({ function: by, column: name }: AggregatedValue, input: ColumnSet, path: string) {
  if (name === undefined) return by === 'count' ? [] : [{ path: `${path}.column`, message: `${by} takes a column` }]
  const column = findColumn(input, name)
  if (!column) return [describeUnknownColumn(input, name, `${path}.column`)]
  if ((by !== 'sum' && by !== 'mean') || isNumeric(column) !== false) return []
  return [{ path: `${path}.column`, message: `${by} takes numbers, and ${quoteName(name)} is ${column.type}: cast it` }]
}
