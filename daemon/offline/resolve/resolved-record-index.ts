// Finds the records that were resolved by what files say of them, and the truth about them.
import { DisjointSets } from '../../roles/resolution/engine/cluster/disjoint-sets.ts'
import type { RecordSource } from '../../roles/resolution/engine/records/records.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/** The text of each row; empty where there is none. Throws `OfflineCommandError` (1): there is no such column. */
export function readColumnTexts({ columns, names }: RecordSource, name: string, file: string): string[] {
  const column = columns.find((each) => each.name === name)
  if (!column) throw new OfflineCommandError(1, `${file} has no column ${name}; it has ${names.join(', ')}`)
  const decoder = new TextDecoder()
  return Array.from(column.codes, (code) => (code < 0 ? '' : decoder.decode(column.values.bytesOf(code))))
}

/** Equal texts have equal numbers. */
export function numberTexts(texts: readonly string[]): Int32Array {
  const numbers = new Map<string, number>()
  return Int32Array.from(texts, (text) => {
    if (!numbers.has(text)) numbers.set(text, numbers.size)
    return numbers.get(text) ?? 0
  })
}

/** Records by their ids, or by source and id where ids of different sources are the same. */
export class ResolvedRecordIndex {
  readonly rows: number
  readonly #file: string
  readonly #byId = new Map<string, number>()
  readonly #bySource = new Map<string, number>()
  readonly #isShared: boolean

  /** Throws `OfflineCommandError` (1): two records have one id. */
  constructor(clusters: RecordSource, file: string) {
    const ids = readColumnTexts(clusters, 'id', file)
    const sources = clusters.names.includes('source') ? readColumnTexts(clusters, 'source', file) : ids.map(() => '')
    this.rows = ids.length
    this.#file = file
    for (const [row, id] of ids.entries()) {
      this.#byId.set(id, row)
      this.#bySource.set(buildSourceKey(sources[row], id), row)
    }
    this.#isShared = this.#byId.size < ids.length
    if (this.#bySource.size < ids.length) throw new OfflineCommandError(1, `${file}: two records have the same id`)
  }

  /** The rows of the records that two columns of a file name. Throws `OfflineCommandError` (1): one was not resolved. */
  rowsOf(of: RecordSource, id: string, source: string, file: string): Int32Array {
    const ids = readColumnTexts(of, id, file)
    const sources = this.#isShared && of.names.includes(source) ? readColumnTexts(of, source, file) : undefined
    if (!sources && this.#isShared) {
      throw new OfflineCommandError(
        1,
        `${this.#file}: ids of different sources are the same, so ${file} must have a column ${source}`,
      )
    }
    return Int32Array.from(ids, (each, at) => {
      const row = sources ? this.#bySource.get(buildSourceKey(sources[at], each)) : this.#byId.get(each)
      if (row !== undefined) return row
      const named = sources ? `${JSON.stringify(each)} of ${JSON.stringify(sources[at])}` : JSON.stringify(each)
      throw new OfflineCommandError(1, `${file} names ${named}, which was not resolved`)
    })
  }
}

/** A source is named by its file, with the ending or without. */
function buildSourceKey(source: string | undefined, id: string): string {
  return JSON.stringify([source?.replace(/\.(csv|tsv|tab|jsonl|ndjson|parquet|pq)$/i, ''), id])
}

/**
 * Each row's true cluster: from `id` and `cluster`, or from pairs `id_l` and `id_r` that are one, and what follows from those.
 * A record without a line is alone. Throws `OfflineCommandError` (1).
 */
export function readTrueClusters(truth: RecordSource, index: ResolvedRecordIndex, file: string): Int32Array {
  if (truth.names.includes('cluster')) {
    const clusters = numberTexts(readColumnTexts(truth, 'cluster', file))
    const of = Int32Array.from({ length: index.rows }, (_, row) => clusters.length + row)
    for (const [at, row] of index.rowsOf(truth, 'id', 'source', file).entries()) of[row] = clusters[at] ?? 0
    return of
  }
  const lefts = index.rowsOf(truth, 'id_l', 'source_l', file)
  const rights = index.rowsOf(truth, 'id_r', 'source_r', file)
  const groups = new DisjointSets(index.rows)
  for (const [at, left] of lefts.entries()) {
    const [one, other] = [groups.find(left), groups.find(rights[at] ?? 0)]
    if (one !== other) groups.join(one, other)
  }
  return groups.lowest()
}
