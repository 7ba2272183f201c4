// Joins the rows of two datasets that have the same values in named columns.
import * as z from 'zod'
import { columnName } from '../fields.ts'
import {
  type ColumnSet,
  describeUnknownColumn,
  findColumn,
  type KnownColumn,
  listRepeatedNames,
  listUnknownColumns,
  quoteName,
  unknownColumns,
} from './column-set.ts'
import { operator } from './operator.ts'

const params = z.strictObject({
  kind: z.enum(['inner', 'left', 'semi', 'anti']).default('inner').meta({
    description:
      'inner: pairs; left: also rows of the first dataset without a partner; semi: rows of the first with a partner; anti: those without',
  }),
  on: z
    .array(z.strictObject({ left: columnName, right: columnName }))
    .min(1)
    .max(20)
    .meta({
      description:
        'Columns of the first and of the second dataset whose values are equal; missing values have no partner',
    }),
  columns: z
    .array(columnName)
    .max(1_000)
    .optional()
    .meta({ description: 'Columns of the second dataset to add (default: all that are not compared)' }),
  prefix: z.string().max(64).default('').meta({ description: 'Put before the names of added columns' }),
})

export const join = operator({
  name: 'join',
  summary: 'Join two datasets by equal values: the first that `after` names, and the second',
  inputs: { min: 2, max: 2 },
  makes_dataset: true,
  params,
  deriveColumns(given, [left = unknownColumns, right = unknownColumns]) {
    const { kind, on, columns, prefix } = given
    const faults = [
      ...listKeyFaults(given, left, right),
      ...listUnknownColumns(right, columns ?? [], (at) => `columns.${at}`),
    ]
    if (kind === 'semi' || kind === 'anti') return { columns: left, faults }
    const compared = new Set(on.map((each) => each.right))
    const names = columns ?? right.columns.map(({ name }) => name).filter((name) => !compared.has(name))
    const added = names.map((name) => addedColumn(right, name, prefix, kind === 'left'))
    const made = [...left.columns, ...added]
    const isOpen = left.isOpen || (columns === undefined && right.isOpen)
    faults.push(
      ...listRepeatedNames(
        made.map(({ name }) => name),
        () => 'prefix',
      ),
    )
    return { columns: { columns: made, isOpen }, faults }
  },
})

function addedColumn(right: ColumnSet, name: string, prefix: string, canMiss: boolean): KnownColumn {
  const { required, ...column } = findColumn(right, name) ?? { name }
  return { ...column, name: `${prefix}${name}`, ...(required && !canMiss && { required }) }
}

function listKeyFaults({ on }: z.output<typeof params>, left: ColumnSet, right: ColumnSet) {
  return on.flatMap((pair, at) => {
    const [one, other] = [findColumn(left, pair.left), findColumn(right, pair.right)]
    if (!one) return [describeUnknownColumn(left, pair.left, `on.${at}.left`)]
    if (!other) return [describeUnknownColumn(right, pair.right, `on.${at}.right`)]
    if (haveEqualTexts(one, other)) return []
    const message = `${quoteName(one.name)} is ${describe(one)}, and ${quoteName(other.name)} is ${describe(other)}: cast one of them`
    return [{ path: `on.${at}`, message }]
  })
}

const describe = ({ type, unit }: KnownColumn) => (unit ? `${type} in ${unit}` : `${type}`)

/** Whether equal values have equal texts; true also where a type is not known yet. */
function haveEqualTexts(one: KnownColumn, other: KnownColumn): boolean {
  if (!one.type || !other.type) return true
  const isInteger = ({ type }: KnownColumn) => type === 'int32' || type === 'int64'
  return one.type === other.type ? (one.unit ?? 'us') === (other.unit ?? 'us') : isInteger(one) && isInteger(other)
}
