// Tests rows by a condition: values are compared in their bytes, and by their type.
import type { DataBlock, TextColumn } from '../../../kernel/data/data-block.ts'
import type { DataColumn, DataSchema } from '../../../kernel/data/data-schema.ts'
import {
  type Comparison,
  type Condition,
  type ConditionValue,
  readComparand,
} from '../../../roles/ingest/operator/condition.ts'
import { type ComparableValue, valueReader } from './value-reader.ts'

export type RowTest = (block: DataBlock, row: number) => boolean

/**
 * For rows of this schema, whose columns the condition has been checked against. A comparison with a missing value does not
 * hold; texts are in the order of their code points.
 */
export function compileCondition(condition: Condition, schema: DataSchema): RowTest {
  const { all, any, not, column } = condition
  if (all) return joinTests(all, schema, 'every')
  if (any) return joinTests(any, schema, 'some')
  if (not) {
    const inner = compileCondition(not, schema)
    return (block, row) => !inner(block, row)
  }
  const at = schema.findIndex(({ name }) => name === column)
  const found = schema[at]
  if (!found) throw new Error('a condition names a column that was not checked')
  return compileComparison(condition, found, at, schema)
}

function joinTests(parts: readonly Condition[], schema: DataSchema, by: 'every' | 'some'): RowTest {
  const tests = parts.map((part) => compileCondition(part, schema))
  return (block, row) => tests[by]((test) => test(block, row))
}

function compileComparison(
  { is = 'present', value, other_column }: Condition,
  column: DataColumn,
  at: number,
  schema: DataSchema,
): RowTest {
  const isPresent: RowTest = ({ columns }, row) => (columns[at]?.starts[row] ?? -1) >= 0
  if (is === 'present') return isPresent
  if (is === 'missing') return (block, row) => !isPresent(block, row)
  const read = valueReader(column)
  if (other_column !== undefined) {
    const place = schema.findIndex(({ name }) => name === other_column)
    const readOther = valueReader(schema[place] ?? column)
    return ({ columns }, row) => {
      const [own, other] = [read(columns[at] as TextColumn, row), readOther(columns[place] as TextColumn, row)]
      return own !== undefined && other !== undefined && comparisonTests[is](own, other)
    }
  }
  const comparands = (Array.isArray(value) ? value : [value]).map((each) => requireComparand(column, each))
  if (is === 'one_of' || is === 'none_of') return listTest(comparands, read, at, is === 'one_of')
  const [comparand = ''] = comparands
  return ({ columns }, row) => {
    const own = read(columns[at] as TextColumn, row)
    return own !== undefined && comparisonTests[is](own, comparand)
  }
}

/** 12 of a double and 12 of an integer are one value; so their texts decide. */
function listTest(
  comparands: readonly ComparableValue[],
  read: ReturnType<typeof valueReader>,
  at: number,
  isWanted: boolean,
): RowTest {
  const known = new Set(comparands.map(String))
  return ({ columns }, row) => {
    const own = read(columns[at] as TextColumn, row)
    return own !== undefined && known.has(String(own)) === isWanted
  }
}

function requireComparand(column: DataColumn, value: ConditionValue | undefined): ComparableValue {
  const comparand = value === undefined ? undefined : readComparand(column, value)
  if (comparand === undefined) throw new Error('a condition has a value that was not checked')
  return comparand
}

type ComparisonTest = (own: ComparableValue, other: ComparableValue) => boolean

const equal: ComparisonTest = (own, other) => !(own < other) && !(own > other)
const asTexts =
  (test: (own: string, other: string) => boolean): ComparisonTest =>
  (own, other) =>
    test(String(own), String(other))

const comparisonTests: Readonly<Record<Exclude<Comparison, 'missing' | 'present'>, ComparisonTest>> = {
  equal,
  not_equal: (own, other) => !equal(own, other),
  less: (own, other) => comparesBelow(own, other),
  at_most: (own, other) => !comparesBelow(other, own),
  greater: (own, other) => comparesBelow(other, own),
  at_least: (own, other) => !comparesBelow(own, other),
  one_of: equal,
  none_of: (own, other) => !equal(own, other),
  contains: asTexts((own, other) => own.includes(other)),
  starts_with: asTexts((own, other) => own.startsWith(other)),
  ends_with: asTexts((own, other) => own.endsWith(other)),
}

/** Whether one value is before the other: numbers and times by size, texts by code points, which UTF-16 alone has in another order. */
export function comparesBelow(one: ComparableValue, other: ComparableValue): boolean {
  if (typeof one !== 'string' || typeof other !== 'string') return one < other
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)]
    if (a !== b) return isSurrogate(a) === isSurrogate(b) ? a < b : isSurrogate(b)
  }
  return one.length < other.length
}

function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff
}
