// Writes blocks as JSON lines: numbers and booleans as such, and no key for a missing value.
import type { DataColumn } from '../../../daemon/kernel/data/data-schema.ts'
import { BlockReader, type DataWriterFactory } from '../../../daemon/kernel/data/data-writer.ts'

const lines_per_write = 50_000

/** Types whose finite texts are JSON. Integers keep their digits, whatever a double keeps. */
const plainTypes: ReadonlySet<DataColumn['type']> = new Set(['int32', 'int64', 'double'])

export const writeJsonLines: DataWriterFactory = (schema, onBytes) => {
  const reader = new BlockReader(schema)
  const keys = new Map(schema.map(({ name }) => [name, JSON.stringify(name)]))
  return {
    write(block) {
      const columns = reader.columns(block)
      let lines: string[] = []
      for (let row = 0; row < block.rows; row++) {
        const members = columns.flatMap(([column, values]) => {
          const value = reader.value(column, values, row)
          if (value === undefined) return []
          const text = reader.text(values, row) ?? ''
          const isPlain = plainTypes.has(column.type) && Number.isFinite(Number(text))
          const json = isPlain ? text : JSON.stringify(typeof value === 'boolean' ? value : text)
          return `${keys.get(column.name)}:${json}`
        })
        if (lines.push(`{${members.join(',')}}`) < lines_per_write) continue
        onBytes(Buffer.from(`${lines.join('\n')}\n`))
        lines = []
      }
      if (lines.length > 0) onBytes(Buffer.from(`${lines.join('\n')}\n`))
    },
    end: () => undefined,
  }
}
