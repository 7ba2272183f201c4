// The schema of a data file: what the file states, and otherwise what its records allow.
import type { DataBlock, TextColumn } from './data-block.ts'
import { type ColumnType, type DataColumn, type DataSchema, parseTyped } from './data-schema.ts'
import { readDay, readDecimal, readInteger, readTime, readTruth } from './value-bytes.ts'

/** Types that are inferred, the narrowest first; text fits everything. */
const inferredTypes = [
  'boolean',
  'int64',
  'double',
  'date',
  'timestamp',
  'local_timestamp',
] as const satisfies readonly ColumnType[]

/** One bit for each inferred type, the narrowest lowest. */
const [booleanBit, integerBit, doubleBit, dateBit, instantBit, localBit] = [1, 2, 4, 8, 16, 32]
const all_bits = 63
const microseconds = 1e6

/**
 * Returns for each selected column the type that its file states. Where the format states none: the first type that every value
 * of the sample has, of `boolean`, `int64`, `double`, `date`, `timestamp` and `local_timestamp`, else `text`. Nothing is lost by
 * it: a number with leading zeros or more digits than a double keeps stays text, and so does a column without values. Later values
 * may be of another type: the sample does not bind them.
 */
export function inferSchema(sample: DataBlock): DataSchema {
  const inference = new SchemaInference()
  inference.add(sample)
  return inference.schema()
}

/** A value of a block that made the type of its column wider than that of the values before. */
export type TypeWidening = {
  readonly column: string
  readonly from: ColumnType
  readonly to: ColumnType
  readonly row: number
  readonly text: string
}

type InferredColumn = { stated: Omit<DataColumn, 'name'> | undefined; readonly types: ColumnTypes }

/** Infers the schema of all blocks of one or several files; any block may add columns. */
export class SchemaInference {
  readonly #columns = new Map<string, InferredColumn>()

  add(block: DataBlock, onWiden: (widening: TypeWidening) => void = () => undefined): void {
    for (const column of block.columns) {
      const known = this.#columns.get(column.name) ?? { stated: column.stated, types: new ColumnTypes(column.name) }
      this.#columns.set(column.name, known)
      // Files that state different types leave the choice to the values.
      if (known.stated?.type !== column.stated?.type || known.stated?.unit !== column.stated?.unit)
        known.stated = undefined
      known.types.add(column, block.rows, onWiden)
    }
  }

  schema(): DataSchema {
    return [...this.#columns].map(([name, { stated, types }]) => ({ name, ...(stated ?? { type: types.narrowest }) }))
  }

  /** Columns whose type no value has decided yet. */
  undecided(): string[] {
    return [...this.#columns].filter(([, { stated, types }]) => !stated && !types.hasValue).map(([name]) => name)
  }
}

/** The types that all values of a column so far have. */
class ColumnTypes {
  readonly #name: string
  #bits = all_bits
  hasValue = false
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })

  constructor(name: string) {
    this.#name = name
  }

  get narrowest(): ColumnType {
    const at = this.hasValue ? inferredTypes.findIndex((_, index) => (this.#bits >> index) & 1) : -1
    return inferredTypes[at] ?? 'text'
  }

  add({ bytes, starts, ends }: TextColumn, rows: number, onWiden: (widening: TypeWidening) => void): void {
    for (let row = 0; row < rows && this.#bits !== 0; row++) {
      const start = starts[row]!
      if (start < 0) continue
      const kept = this.#bits & this.#findTypes(bytes, start, ends[row]!)
      if (kept === this.#bits) {
        this.hasValue = true
        continue
      }
      const from = this.hasValue ? this.narrowest : undefined
      this.hasValue = true
      this.#bits = kept
      const to = this.narrowest
      if (from === undefined || from === to) continue
      onWiden({ column: this.#name, from, to, row, text: this.#decoder.decode(bytes.subarray(start, ends[row])) })
    }
  }

  /** Bits of the possible types that the value has. A usual form is seen in its bytes, and any other in its text. */
  #findTypes(bytes: Uint8Array, start: number, end: number): number {
    const bits = this.#bits
    if (bits & integerBit && !Number.isNaN(readInteger(bytes, start, end))) return integerBit | doubleBit
    if (bits & doubleBit && !(bits & integerBit) && !Number.isNaN(readDecimal(bytes, start, end))) return doubleBit
    if (bits & dateBit && !Number.isNaN(readDay(bytes, start, end))) return dateBit
    if (bits & instantBit && !Number.isNaN(readTime(bytes, start, end, true, microseconds))) return instantBit
    if (bits & localBit && !Number.isNaN(readTime(bytes, start, end, false, microseconds))) return localBit
    if (bits & booleanBit && !Number.isNaN(readTruth(bytes, start, end))) return booleanBit
    const text = this.#decoder.decode(bytes.subarray(start, end))
    return inferredTypes.reduce(
      (kept, type, index) =>
        bits & (1 << index) && parseTyped({ type }, text) !== undefined ? kept | (1 << index) : kept,
      0,
    )
  }
}
