// Performs `cast`: writes values of the named columns in the form of their new type.
import type * as z from 'zod'
import { leaveOutRows, readText } from '../../../kernel/data/check-values.ts'
import { type DataBlock, TextColumnBuilder } from '../../../kernel/data/data-block.ts'
import type { DataColumn } from '../../../kernel/data/data-schema.ts'
import type { cast } from '../../../roles/ingest/operator/cast.ts'
import { convertText } from './convert-text.ts'
import type { Transform } from './transform.ts'

const max_shown_characters = 40

export const castRows: Transform<z.output<typeof cast.params>> = async function* (step) {
  const { inputs, params, columns } = step
  const named = new Set(params.columns.map(({ column }) => column))
  const builders = columns.map((column) => (named.has(column.name) ? new TextColumnBuilder(column.name) : undefined))
  for (const input of inputs)
    for await (const block of input.blocks()) {
      const left = new Set<number>()
      for (const [at, builder] of builders.entries()) {
        const column = columns[at]
        if (!builder || !column) continue
        convertColumn(block, at, column, builder, (row, text) => {
          if (params.on_misfit === 'leave_out' || left.has(row)) return
          left.add(row)
          const found = JSON.stringify(text.slice(0, max_shown_characters))
          step.reject({ column: column.name, reason: describeMisfit(column, found) }, block, row)
        })
      }
      const made = { ...block, columns: block.columns.map((column, at) => builders[at]?.column() ?? column) }
      yield left.size === 0 ? made : leaveOutRows(made, left)
    }
}

function describeMisfit({ name, type, unit }: DataColumn, found: string): string {
  return `${JSON.stringify(name)} is ${found}, which has no form of the type ${type}${unit ? ` in ${unit}` : ''}`
}

function convertColumn(
  { columns, rows }: DataBlock,
  at: number,
  wanted: DataColumn,
  builder: TextColumnBuilder,
  onMisfit: (row: number, text: string) => void,
): void {
  const column = columns[at]
  if (!column) throw new Error('the block lacks a column')
  builder.clear()
  for (let row = 0; row < rows; row++) {
    const text = readText(column, row)
    const converted = text === undefined ? undefined : convertText(text, wanted)
    if (text !== undefined && converted === undefined) onMisfit(row, text)
    builder.add(converted)
  }
}
