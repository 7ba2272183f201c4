// A condition on a row, as data: comparisons of columns, joined by all, any and not. Nothing of it is evaluated as code.
import * as z from 'zod'
import { parseTyped, type ValueType } from '../../../kernel/data/data-schema.ts'
import type { DagFault } from '../../../shared/assembled-dag/task-order.ts'
import { columnName } from '../fields.ts'
import { type ColumnSet, describeUnknownColumn, findColumn, type KnownColumn, quoteName } from './column-set.ts'

const comparisons = [
  ...(['equal', 'not_equal', 'less', 'at_most', 'greater', 'at_least'] as const),
  ...(['one_of', 'none_of', 'contains', 'starts_with', 'ends_with', 'missing', 'present'] as const),
] as const
export type Comparison = (typeof comparisons)[number]

const scalar = z.union([z.string().max(4_096), z.number(), z.boolean()])
export type ConditionValue = z.output<typeof scalar>

export type Condition = {
  readonly column?: string | undefined
  readonly is?: Comparison | undefined
  readonly value?: ConditionValue | ConditionValue[] | undefined
  readonly other_column?: string | undefined
  readonly all?: Condition[] | undefined
  readonly any?: Condition[] | undefined
  readonly not?: Condition | undefined
}

const max_parts = 200
const max_depth = 16

const parts = () => z.array(part).min(1).max(100).optional()

const part: z.ZodType<Condition> = z
  .strictObject({
    column: columnName.optional(),
    is: z.enum(comparisons).optional(),
    value: z
      .union([scalar, z.array(scalar).min(1).max(1_000)])
      .optional()
      .meta({ description: 'A list for one_of and none_of; dates and times as text' }),
    other_column: columnName.optional().meta({ description: 'Compare with this column instead of a value' }),
    get all() {
      return parts().meta({ description: 'Holds where each of these does' })
    },
    get any() {
      return parts().meta({ description: 'Holds where one of these does' })
    },
    get not() {
      return part.optional().meta({ description: 'Holds where this does not' })
    },
  })
  .superRefine((value, context) => {
    const message = findFormFault(value)
    if (message) context.addIssue({ code: 'custom', message })
  })

export const condition = part.refine(
  (value) => countParts(value, 1) <= max_parts,
  `must have at most ${max_parts} parts in ${max_depth} levels`,
)

function countParts({ all = [], any = [], not }: Condition, depth: number): number {
  if (depth > max_depth) return Number.POSITIVE_INFINITY
  const inner = [...all, ...any, ...(not ? [not] : [])]
  return inner.reduce((sum, each) => sum + countParts(each, depth + 1), 1)
}

const listComparisons: readonly string[] = ['one_of', 'none_of']
const presenceComparisons: readonly string[] = ['missing', 'present']
const textComparisons: readonly string[] = ['contains', 'starts_with', 'ends_with']

function findFormFault({ column, is, value, other_column, all, any, not }: Condition): string | undefined {
  const forms = [column, all, any, not].filter((each) => each !== undefined).length
  if (forms !== 1) return 'must have one of column, all, any and not'
  const rest = [is, value, other_column].some((each) => each !== undefined)
  if (column === undefined) return rest ? 'must have a column beside is, value and other_column' : undefined
  if (is === undefined) return `must have is, one of ${comparisons.join(', ')}`
  if (presenceComparisons.includes(is))
    return value === undefined && other_column === undefined ? undefined : `${is} takes no value`
  if (listComparisons.includes(is))
    return Array.isArray(value) && other_column === undefined ? undefined : `${is} takes a list as its value`
  if ((value === undefined) === (other_column === undefined)) return `${is} takes a value or other_column`
  return Array.isArray(value) ? `${is} takes one value, not a list` : undefined
}

/** Lists columns that the dataset cannot have, and values that are not of the type of their column. */
export function listConditionFaults(condition: Condition, set: ColumnSet, path: string): DagFault[] {
  const { column: name, all = [], any = [], not } = condition
  const inner = [
    ...all.flatMap((each, at) => listConditionFaults(each, set, `${path}.all.${at}`)),
    ...any.flatMap((each, at) => listConditionFaults(each, set, `${path}.any.${at}`)),
    ...(not ? listConditionFaults(not, set, `${path}.not`) : []),
  ]
  if (name === undefined) return inner
  const column = findColumn(set, name)
  if (!column) return [describeUnknownColumn(set, name, `${path}.column`)]
  return listComparisonFaults(condition, column, set, path)
}

function listComparisonFaults(
  { is = 'present', value, other_column }: Condition,
  column: KnownColumn,
  set: ColumnSet,
  path: string,
): DagFault[] {
  const { name, type, unit } = column
  if (other_column !== undefined) {
    const other = findColumn(set, other_column)
    if (!other) return [describeUnknownColumn(set, other_column, `${path}.other_column`)]
    if (areComparable(column, other)) return []
    const message = `${quoteName(name)} is ${type}, and ${quoteName(other_column)} is ${other.type}: cast one of them`
    return [{ path: `${path}.other_column`, message }]
  }
  if (type === undefined) return []
  if (textComparisons.includes(is) && type !== 'text')
    return [{ path: `${path}.is`, message: `${quoteName(name)} is ${type}, and ${is} compares text` }]
  const values = value === undefined ? [] : Array.isArray(value) ? value : [value]
  return values.flatMap((each, at) => {
    if (readComparand({ type, unit }, each) !== undefined) return []
    const message = `must be ${type}, as ${quoteName(name)} is, such as ${examples[type]}`
    return [{ path: Array.isArray(value) ? `${path}.value.${at}` : `${path}.value`, message }]
  })
}

const examples: Readonly<Record<ValueType['type'], string>> = {
  text: '"abc"',
  boolean: 'true',
  int32: '12',
  int64: '12',
  double: '1.5',
  date: '"2024-02-29"',
  timestamp: '"2024-02-29T13:00:00Z"',
  local_timestamp: '"2024-02-29T13:00:00"',
}

/** True also where a type is not known yet. */
function areComparable(one: KnownColumn, other: KnownColumn): boolean {
  if (!one.type || !other.type) return true
  const isNumber = ({ type }: KnownColumn) => type === 'int32' || type === 'int64' || type === 'double'
  return one.type === other.type ? (one.unit ?? 'us') === (other.unit ?? 'us') : isNumber(one) && isNumber(other)
}

/** The value as values of the column are compared with it; undefined where it is not of the type. */
export function readComparand(wanted: ValueType, value: ConditionValue): string | number | bigint | undefined {
  const { type } = wanted
  if (type === 'text') return typeof value === 'string' ? value : undefined
  if (type === 'boolean') return typeof value === 'boolean' ? Number(value) : undefined
  const isNumber = type === 'int32' || type === 'int64' || type === 'double'
  if (typeof value === 'number') return isNumber ? value : undefined
  if (typeof value === 'boolean') return undefined
  const parsed =
    parseTyped(type === 'int32' ? { type: 'int64' } : wanted, value) ??
    (isNumber ? parseTyped({ type: 'double' }, value) : undefined)
  return typeof parsed === 'number' || typeof parsed === 'bigint' ? parsed : undefined
}
