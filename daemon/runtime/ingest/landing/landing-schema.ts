// The columns of a dataset: their types as stated by a person, by the file, or as inferred.
import type { PlaceUnit } from '../../../../adapters/platform/data-file/data-kinds.ts'
import type { DataBlock } from '../../../kernel/data/data-block.ts'
import type { DataColumn, DataSchema } from '../../../kernel/data/data-schema.ts'
import { SchemaInference } from '../../../kernel/data/infer-schema.ts'
import type { ColumnWidening } from '../../../kernel/data/landed-dataset.ts'
import { LandingError } from './landing-error.ts'

/** As many as a file may have. */
const max_columns = 4_096
const max_value_characters = 200
const max_named = 20

export class LandingSchema {
  readonly #stated: ReadonlyMap<string, DataColumn>
  readonly #inference = new SchemaInference()
  readonly #widened = new Map<string, ColumnWidening>()
  #columns: DataSchema | undefined
  #undecided: readonly number[] | undefined
  /** Whether all rows of all inputs are added before the first one is written. */
  readonly isComplete: boolean

  constructor(stated: DataSchema, isComplete: boolean) {
    this.#stated = new Map(stated.map((column) => [column.name, column]))
    this.isComplete = isComplete
  }

  /** Adds rows that decide the types; returns how many. */
  add(block: DataBlock, { name, unit }: { readonly name: string; readonly unit: PlaceUnit }): number {
    this.#inference.add(block, ({ column, from, to, row, text }) => {
      const place = block.lines?.[row]
      const value = text.slice(0, max_value_characters).toWellFormed()
      const at = place === undefined ? {} : { place, ...(unit !== 'line' && { unit }) }
      this.#widened.set(column, { column, from, to, input: name, ...at, value })
    })
    return block.rows
  }

  /** The columns, once the first row is to be written. */
  columns(): DataSchema {
    if (this.#columns) return this.#columns
    this.#columns = this.#inference.schema().map((column) => this.#stated.get(column.name) ?? column)
    if (this.#columns.length > max_columns)
      throw new LandingError(
        `the inputs have ${this.#columns.length} different columns; a dataset has ${max_columns} at most`,
        'land files of different columns as datasets of their own',
      )
    return this.#columns
  }

  /** Positions of columns whose type no value has decided. */
  undecided(): readonly number[] {
    if (this.#undecided) return this.#undecided
    const names = new Set(this.#inference.undecided().filter((name) => !this.#stated.has(name)))
    this.#undecided = [...this.columns().entries()].filter(([, { name }]) => names.has(name)).map(([at]) => at)
    return this.#undecided
  }

  get hasStated(): boolean {
    return this.#stated.size > 0
  }

  /** The columns, of which those without a stated type accept every text. */
  statedColumns(): DataSchema {
    return this.columns().map((column) =>
      this.#stated.has(column.name) ? column : { name: column.name, type: 'text' },
    )
  }

  /** Throws `LandingError` where a stated column is in no input. */
  requireStated(): void {
    const names = new Set(this.columns().map(({ name }) => name))
    const missing = [...this.#stated.keys()].filter((name) => !names.has(name))
    if (missing.length === 0) return
    const named = (list: readonly string[]) =>
      list
        .slice(0, max_named)
        .map((name) => JSON.stringify(name))
        .join(', ')
    throw new LandingError(`no input has the column ${named(missing)}`, `the inputs have ${named([...names])}`)
  }

  /** For each column, the value that made its type what it is. */
  widened(): ColumnWidening[] {
    return [...this.#widened.values()].filter(({ column }) => !this.#stated.has(column))
  }
}
