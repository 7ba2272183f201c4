// Finds resolved records by the ids in other files, and reads their true clusters.

import { unescapeFormula } from '../../kernel/text/formula-cell.ts'
import { DisjointSets } from '../../roles/resolution/engine/cluster/disjoint-sets.ts'
import type { RecordSource } from '../../roles/resolution/engine/records/records.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { missingColumns } from './data-file.ts'
import { findAnswerColumn, parseAnswer } from './pair-answers.ts'
import { ambiguous_row, SourceRecordMap } from './reading/source-record-map.ts'

/** Text of each row in a column; empty for a missing value. Throws `OfflineCommandError` (1) for an unknown column. */
export function readColumnTexts({ columns, names }: RecordSource, name: string, file: string): string[] {
  const column = columns.find((candidate) => candidate.name === name)
  if (!column) throw missingColumns(file, [name], names)
  const decoder = new TextDecoder()
  return Array.from(column.codes, (code) => (code < 0 ? '' : decoder.decode(column.values.bytesOf(code))))
}

/** Numbers texts; equal texts get equal numbers. */
export function numberTexts(texts: readonly string[]): Int32Array {
  const numbers = new Map<string, number>()
  return Int32Array.from(texts, (text) => {
    if (!numbers.has(text)) numbers.set(text, numbers.size)
    return numbers.get(text) ?? 0
  })
}

/** Index of records by id, or by source and id if sources share ids. */
export class ResolvedRecordIndex {
  readonly rows: number
  readonly #file: string
  readonly #byId = new Map<string, number>()
  readonly #bySource = new SourceRecordMap()
  readonly #isShared: boolean

  /** Throws `OfflineCommandError` (1) if two records have the same id. */
  constructor(clusters: RecordSource, file: string) {
    const readResult = (name: string) => {
      const texts = readColumnTexts(clusters, name, file)
      return file.endsWith('.csv') ? texts.map(unescapeFormula) : texts
    }
    const ids = readResult('id')
    const sources = clusters.names.includes('source') ? readResult('source') : ids.map(() => '')
    this.rows = ids.length
    this.#file = file
    for (const [row, id] of ids.entries()) {
      this.#byId.set(id, row)
      if (!this.#bySource.add(sources[row] ?? '', id, row))
        throw new OfflineCommandError(1, `${file}: two records have the same id`)
    }
    this.#isShared = this.#byId.size < ids.length
  }

  /** Rows of the records that two columns of a file name. Throws `OfflineCommandError` (1) for a record that was not resolved. */
  rowsOf(records: RecordSource, id: string, source: string, file: string): Int32Array {
    const ids = readColumnTexts(records, id, file)
    const sources =
      this.#isShared && records.names.includes(source) ? readColumnTexts(records, source, file) : undefined
    if (!sources && this.#isShared) {
      throw new OfflineCommandError(1, `${this.#file}: sources share ids, so ${file} must have a column ${source}`)
    }
    return Int32Array.from(ids, (recordId, index) => {
      const find = (read: (cell: string) => string) =>
        sources ? this.#bySource.find(read(sources[index] ?? ''), read(recordId)) : this.#byId.get(read(recordId))
      // The file may repeat cells of a result.
      const row = find(String) ?? find(unescapeFormula)
      if (row !== undefined && row !== ambiguous_row) return row
      const description = sources
        ? `${JSON.stringify(recordId)} of ${JSON.stringify(sources[index])}`
        : JSON.stringify(recordId)
      if (row === ambiguous_row)
        throw new OfflineCommandError(
          1,
          `${file} names ${description}; several sources have it`,
          'name the source with its ending',
        )
      throw new OfflineCommandError(1, `${file} names ${description}, which was not resolved`)
    })
  }
}

/**
 * True cluster of each row, from columns `id` and `cluster`, or from matching pairs `id_l` and `id_r` and their closure,
 * without the pairs that a column `match` or `decision` does not confirm. A record without a line is alone. Throws `OfflineCommandError` (1).
 */
export function readTrueClusters(truth: RecordSource, index: ResolvedRecordIndex, file: string): Int32Array {
  if (truth.names.includes('cluster')) {
    const clusters = numberTexts(readColumnTexts(truth, 'cluster', file))
    const trueClusters = Int32Array.from({ length: index.rows }, (_, row) => clusters.length + row)
    for (const [at, row] of index.rowsOf(truth, 'id', 'source', file).entries()) trueClusters[row] = clusters[at] ?? 0
    return trueClusters
  }
  const lefts = index.rowsOf(truth, 'id_l', 'source_l', file)
  const rights = index.rowsOf(truth, 'id_r', 'source_r', file)
  const column = findAnswerColumn(truth.names)
  const answers = column && readColumnTexts(truth, column, file)
  const groups = new DisjointSets(index.rows)
  for (const [at, left] of lefts.entries()) {
    const isMatch = !answers || parseAnswer((answers[at] ?? '').trim(), `${file}, record ${at + 1}`, column)
    if (!isMatch) continue
    const [leftGroup, rightGroup] = [groups.find(left), groups.find(rights[at] ?? 0)]
    if (leftGroup !== rightGroup) groups.join(leftGroup, rightGroup)
  }
  return groups.lowest()
}
