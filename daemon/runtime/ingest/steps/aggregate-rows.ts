// Performs `aggregate`: the groups are in memory, by parts of their keys where they are many.
import type * as z from 'zod'
import { readText } from '../../../kernel/data/check-values.ts'
import { type DataBlock, type TextColumn, TextColumnBuilder } from '../../../kernel/data/data-block.ts'
import type { DataSchema } from '../../../kernel/data/data-schema.ts'
import type { aggregate } from '../../../roles/ingest/operator/aggregate.ts'
import { type Accumulator, accumulatorOf } from './accumulators.ts'
import {
  isInPartition,
  makeByPartitions,
  type Partition,
  PartitionOverflow,
  partition_limits,
  readKey,
} from './partitions.ts'
import type { Transform, TransformStep } from './transform.ts'

type AggregateParams = z.output<typeof aggregate.params>

const block_rows = 16_384

export const aggregateRows: Transform<AggregateParams> = (step) =>
  makeByPartitions('the number of groups', (partition) => aggregatePartition(step, partition))

async function* aggregatePartition({ params, inputs, columns }: TransformStep<AggregateParams>, partition: Partition) {
  const [input] = inputs
  if (!input) throw new Error('an aggregation takes a dataset')
  const { by, values } = params
  const names = [...new Set([...by, ...values.flatMap(({ column }) => column ?? [])])]
  const groups = new Map<string, number>()
  const texts: (string | undefined)[][] = []
  const typeOf = (name: string | undefined) => input.columns.find((column) => column.name === name)
  const accumulators = values.map((value) => accumulatorOf(value, typeOf(value.column)))
  if (by.length === 0) addGroup('', [])
  let units = 0
  function addGroup(key: string, group: (string | undefined)[]): number {
    const at = groups.size
    groups.set(key, at)
    texts.push(group)
    for (const accumulator of accumulators) accumulator.begin()
    return at
  }
  // A dataset is read by one column at least: its rows are counted by it.
  const first = input.columns[0]?.name
  for await (const block of input.blocks(names.length === 0 && first !== undefined ? [first] : names)) {
    const keyColumns = by.map((name) => block.columns[names.indexOf(name)] as TextColumn)
    const valueColumns = values.map(({ column }) =>
      column === undefined ? undefined : block.columns[names.indexOf(column)],
    )
    for (let row = 0; row < block.rows; row++) {
      const { key } = readKey(keyColumns, row)
      if (!isInPartition(key, partition)) continue
      let group = groups.get(key)
      if (group === undefined) {
        units += key.length * 2
        group = addGroup(
          key,
          keyColumns.map((column) => readText(column, row)),
        )
      }
      for (const [at, accumulator] of accumulators.entries()) accumulator.add(group, valueColumns[at], row)
    }
    const held = accumulators.reduce((sum, { text_units = 0 }) => sum + text_units, units)
    const { rows, cells, text_units } = partition_limits
    if (groups.size > rows || groups.size * columns.length > cells || held > text_units) throw new PartitionOverflow()
  }
  yield* writeGroups(columns, texts, accumulators)
}

function* writeGroups(
  columns: DataSchema,
  texts: readonly (readonly (string | undefined)[])[],
  accumulators: readonly Accumulator[],
): Generator<DataBlock, void, undefined> {
  const builders = columns.map(({ name }) => new TextColumnBuilder(name))
  const names = columns.map(({ name }) => name)
  for (let from = 0; from < texts.length; from += block_rows) {
    const to = Math.min(texts.length, from + block_rows)
    for (const builder of builders) builder.clear()
    for (let group = from; group < to; group++) {
      const key = texts[group] ?? []
      for (const [at, text] of key.entries()) builders[at]?.add(text)
      for (const [at, accumulator] of accumulators.entries()) builders[key.length + at]?.add(accumulator.text(group))
    }
    yield { rows: to - from, names, columns: builders.map((builder) => builder.column()) }
  }
}
