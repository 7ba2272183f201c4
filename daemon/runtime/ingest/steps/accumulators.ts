// What `aggregate` keeps of each group, by its functions.
import { readText } from '../../../kernel/data/check-values.ts'
import type { TextColumn } from '../../../kernel/data/data-block.ts'
import type { DataColumn } from '../../../kernel/data/data-schema.ts'
import type { AggregatedValue } from '../../../roles/ingest/operator/aggregate.ts'
import { quoteName } from '../../../roles/ingest/operator/column-set.ts'
import { LandingError } from '../landing/landing-error.ts'
import { comparesBelow } from './row-condition.ts'
import { type ComparableValue, valueReader } from './value-reader.ts'

export type Accumulator = {
  /** Begins the next group. */
  begin(): void
  /** Adds the value of a row to a group. `column`: undefined to count rows. */
  add(group: number, column: TextColumn | undefined, row: number): void
  /** The value of a group; undefined for none. */
  text(group: number): string | undefined
  /** Characters that it keeps, where those are many. */
  readonly text_units?: number
}

/** `type`: that of the column that the value is of. */
export function accumulatorOf({ function: by, as }: AggregatedValue, type: DataColumn | undefined): Accumulator {
  if (by === 'count' || !type) return countRows()
  if (by === 'min') return extremeOf(type, (value, best) => comparesBelow(value, best))
  if (by === 'max') return extremeOf(type, (value, best) => comparesBelow(best, value))
  if (type.type === 'double') return addDecimals(type, by === 'mean')
  return addIntegers(type, by === 'mean', as)
}

function countRows(): Accumulator {
  const counts: number[] = []
  return {
    begin: () => void counts.push(0),
    add(group, column, row) {
      if (!column || (column.starts[row] ?? -1) >= 0) counts[group] = (counts[group] ?? 0) + 1
    },
    text: (group) => String(counts[group]),
  }
}

function extremeOf(
  type: DataColumn,
  isBetter: (value: ComparableValue, best: ComparableValue) => boolean,
): Accumulator {
  const read = valueReader(type)
  const values: (ComparableValue | undefined)[] = []
  const texts: (string | undefined)[] = []
  let units = 0
  return {
    begin() {
      values.push(undefined)
      texts.push(undefined)
    },
    add(group, column, row) {
      const value = column && read(column, row)
      const best = values[group]
      if (!column || value === undefined || (best !== undefined && !isBetter(value, best))) return
      values[group] = value
      const text = readText(column, row)
      units += (text?.length ?? 0) - (texts[group]?.length ?? 0)
      texts[group] = text
    },
    text: (group) => texts[group],
    get text_units() {
      return units
    },
  }
}

/** Exact, also beyond the integers that a number keeps. */
function addIntegers(type: DataColumn, isMean: boolean, as: string): Accumulator {
  const read = valueReader(type)
  const sums: (number | bigint)[] = []
  const counts: number[] = []
  return {
    begin() {
      sums.push(0)
      counts.push(0)
    },
    add(group, column, row) {
      const value = column && read(column, row)
      if (value === undefined || typeof value === 'string') return
      counts[group] = (counts[group] ?? 0) + 1
      const before = sums[group] ?? 0
      const sum = typeof before === 'number' && typeof value === 'number' ? before + value : Number.NaN
      sums[group] = Number.isSafeInteger(sum) ? sum : BigInt(before) + BigInt(value)
    },
    text(group) {
      const [sum = 0, count = 0] = [sums[group], counts[group]]
      if (count === 0) return undefined
      if (isMean) return String(Number(sum) / count)
      if (typeof sum === 'bigint' && sum !== BigInt.asIntN(64, sum))
        throw new LandingError(`the sum ${quoteName(as)} is beyond an integer of 64 bits: cast its column to double`)
      return String(sum)
    },
  }
}

/** With the rounding errors of the sums, after Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974. */
function addDecimals(type: DataColumn, isMean: boolean): Accumulator {
  const read = valueReader(type)
  const [sums, errors, counts]: [number[], number[], number[]] = [[], [], []]
  return {
    begin() {
      sums.push(0)
      errors.push(0)
      counts.push(0)
    },
    add(group, column, row) {
      const value = column && read(column, row)
      if (typeof value !== 'number') return
      counts[group] = (counts[group] ?? 0) + 1
      const before = sums[group] ?? 0
      const sum = before + value
      const error = Math.abs(before) >= Math.abs(value) ? before - sum + value : value - sum + before
      errors[group] = (errors[group] ?? 0) + error
      sums[group] = sum
    },
    text(group) {
      const [sum = 0, error = 0, count = 0] = [sums[group], errors[group], counts[group]]
      // Of infinite values, the errors are not numbers.
      const whole = Number.isFinite(error) ? sum + error : sum
      const value = isMean ? whole / count : whole
      return count === 0 || Number.isNaN(value) ? undefined : String(value)
    },
  }
}
