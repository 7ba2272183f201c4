// Performs `join`: the second dataset is in memory, by parts of its keys where it is large, and the first one streams past it.
import type * as z from 'zod'
import { type DataBlock, type TextColumn, TextColumnBuilder } from '../../../kernel/data/data-block.ts'
import type { join } from '../../../roles/ingest/operator/join.ts'
import type { MadeBlock } from '../landing/land-blocks.ts'
import {
  isInPartition,
  makeByPartitions,
  type Partition,
  PartitionOverflow,
  partition_limits,
  readKey,
} from './partitions.ts'
import type { StepInput } from './step-input.ts'
import type { Transform, TransformStep } from './transform.ts'

type JoinParams = z.output<typeof join.params>

const block_rows = 16_384

export const joinRows: Transform<JoinParams> = (step) =>
  makeByPartitions('the second dataset', (partition) => joinPartition(step, partition))

async function* joinPartition({ params, inputs, columns }: TransformStep<JoinParams>, partition: Partition) {
  const [left, right] = inputs
  if (!left || !right) throw new Error('a join takes two datasets')
  const { kind, on } = params
  const names = left.columns.map(({ name }) => name)
  const added = columns.slice(names.length).map(({ name }) => name)
  const partners = await Partners.read(right, params, added, partition)
  const keys = on.map((pair) => names.indexOf(pair.left))
  for await (const block of left.blocks()) {
    const keyColumns = keys.map((at) => block.columns[at] as TextColumn)
    const pairs = new PairBuffer()
    for (let row = 0; row < block.rows; row++) {
      const { key, hasMissing } = readKey(keyColumns, row)
      if (!isInPartition(key, partition)) continue
      const first = hasMissing ? -1 : partners.find(key)
      if (kind === 'semi' || kind === 'anti' || first < 0) {
        if (kind === 'left' || (kind === 'semi' && first >= 0) || (kind === 'anti' && first < 0)) pairs.add(row, -1)
      } else
        for (let partner = first; partner >= 0; partner = partners.next(partner)) {
          pairs.add(row, partner)
          if (pairs.length === block_rows) yield pairs.take(block, partners)
        }
      if (pairs.length === block_rows) yield pairs.take(block, partners)
    }
    if (pairs.length > 0) yield pairs.take(block, partners)
  }
}

/** Rows of the second dataset by their keys. */
class Partners {
  readonly #builders: readonly TextColumnBuilder[]
  readonly #firstOf = new Map<string, number>()
  readonly #lastOf = new Map<string, number>()
  readonly #next: number[] = []
  /** Rows of the dataset, from 1. */
  readonly #numbers: number[] = []
  columns: readonly TextColumn[] = []

  private constructor(names: readonly string[]) {
    this.#builders = names.map((name) => new TextColumnBuilder(name))
  }

  static async read(
    input: StepInput,
    { kind, on, prefix }: JoinParams,
    added: readonly string[],
    partition: Partition,
  ) {
    const partners = new Partners(added)
    const keys = on.map(({ right }) => right)
    const values = added.map((name) => name.slice(prefix.length))
    const hasOne = kind === 'semi' || kind === 'anti'
    const names = [...new Set([...keys, ...values])]
    let units = 0
    for await (const block of input.blocks(names)) {
      const keyColumns = keys.map((name) => block.columns[names.indexOf(name)] as TextColumn)
      const valueColumns = values.map((name) => block.columns[names.indexOf(name)] as TextColumn)
      for (let row = 0; row < block.rows; row++) {
        const { key, hasMissing } = readKey(keyColumns, row)
        if (hasMissing || !isInPartition(key, partition) || (hasOne && partners.find(key) >= 0)) continue
        units += key.length
        partners.#add(key, valueColumns, row, block.lines?.[row] ?? 0)
      }
      partners.#checkRoom(units)
    }
    partners.columns = partners.#builders.map((builder) => builder.column())
    return partners
  }

  #add(key: string, values: readonly TextColumn[], row: number, number: number): void {
    const at = this.#next.length
    this.#next.push(-1)
    this.#numbers.push(number)
    const last = this.#lastOf.get(key)
    if (last === undefined) this.#firstOf.set(key, at)
    else this.#next[last] = at
    this.#lastOf.set(key, at)
    for (const [place, { bytes, starts, ends }] of values.entries()) {
      const start = starts[row] ?? -1
      if (start >= 0) this.#builders[place]?.addRange(at, bytes, start, ends[row] ?? start)
      else this.#builders[place]?.add(undefined)
    }
  }

  #checkRoom(units: number): void {
    const rows = this.#next.length
    const bytes = this.#builders.reduce((sum, { length }) => sum + length, units)
    const { rows: max_rows, cells, text_units } = partition_limits
    if (rows > max_rows || rows * this.#builders.length > cells || bytes > text_units) throw new PartitionOverflow()
  }

  /** -1 without a partner. */
  find(key: string): number {
    return this.#firstOf.get(key) ?? -1
  }

  next(partner: number): number {
    return this.#next[partner] ?? -1
  }

  /** The row of the dataset; 0 without a partner. */
  numberOf(partner: number): number {
    return this.#numbers[partner] ?? 0
  }
}

/** Rows of a block with their partners; -1 for none. */
class PairBuffer {
  readonly #rows = new Int32Array(block_rows)
  readonly #partners = new Int32Array(block_rows)
  length = 0

  add(row: number, partner: number): void {
    this.#rows[this.length] = row
    this.#partners[this.length++] = partner
  }

  /** The pairs as a block, whose values stay where they are. */
  take(block: DataBlock, others: Partners): MadeBlock {
    const [rows, partners] = [this.#rows.slice(0, this.length), this.#partners.slice(0, this.length)]
    this.length = 0
    const columns = [
      ...block.columns.map((column) => pickRows(column, rows)),
      ...others.columns.map((column) => pickRows(column, partners)),
    ]
    const origins = [rows.map((row) => block.lines?.[row] ?? 0), partners.map((partner) => others.numberOf(partner))]
    return { rows: rows.length, names: columns.map(({ name }) => name), columns, origins }
  }
}

function pickRows({ name, bytes, starts, ends }: TextColumn, rows: Int32Array): TextColumn {
  const pick = (places: Int32Array) => rows.map((row) => (row < 0 ? -1 : (places[row] ?? -1)))
  return { name, bytes, starts: pick(starts), ends: pick(ends) }
}
