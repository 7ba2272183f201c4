// Makes ids of records that have none, from their content: the same record has the same id in every run.
import { createHash } from 'node:crypto'
import { buildTextColumn, type RawColumn } from '../../roles/resolution/engine/records/collect-columns.ts'
import type { RecordSource } from '../../roles/resolution/engine/records/records.ts'

/** 80 bits: no two of a million records share one by chance. */
const id_characters = 20

/**
 * The source with an id for each record. A made id is a digest of the columns that the lens reads, with a number for each
 * further record of the same content; neither the order of columns nor that of other records changes it.
 */
export function withMadeIds(source: RecordSource, id_field: string): RecordSource {
  const ids = source.columns.find(({ name }) => name === id_field)
  const contents = source.columns.filter((column) => column !== ids).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const decoder = new TextDecoder()
  const copies = new Map<string, number>()
  const texts = Array.from({ length: source.rows }, (_, row) => {
    const code = ids?.codes[row] ?? -1
    if (ids && code >= 0) return decoder.decode(ids.values.bytesOf(code))
    const digest = digestRecord(contents, row)
    const copy = (copies.get(digest) ?? 0) + 1
    copies.set(digest, copy)
    return copy === 1 ? `made-${digest}` : `made-${digest}-${copy}`
  })
  const column = buildTextColumn(id_field, texts)
  const names = ids ? source.names : [id_field, ...source.names]
  return { ...source, names, columns: [column, ...source.columns.filter((each) => each !== ids)] }
}

function digestRecord(columns: readonly RawColumn[], row: number): string {
  const hash = createHash('sha256')
  for (const { name, values, codes } of columns) {
    const code = codes[row] ?? -1
    if (code < 0) continue
    const value = values.bytesOf(code)
    hash.update(`${JSON.stringify(name)} ${value.length} `).update(value)
  }
  return hash.digest('hex').slice(0, id_characters)
}
