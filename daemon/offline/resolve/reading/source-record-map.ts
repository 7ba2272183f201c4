// Rows of records by source and id. A source is named by its file, with or without the ending.
import { extname } from 'node:path'
import { inferDataKind } from '../../../../adapters/platform/data-file/data-kinds.ts'

/** In place of a row, where two sources with the same name but for the ending have the id. */
export const ambiguous_row = -1

export class SourceRecordMap {
  readonly #rows = new Map<string, number>()
  readonly #withoutEndings = new Map<string, number>()

  /** Returns whether the source did not have the id yet. */
  add(source: string, id: string, row: number): boolean {
    const key = buildKey(source, id)
    const short = buildKey(removeEnding(source), id)
    const isNew = !this.#rows.has(key)
    this.#rows.set(key, row)
    this.#withoutEndings.set(short, this.#withoutEndings.has(short) ? ambiguous_row : row)
    return isNew
  }

  find(source: string, id: string): number | undefined {
    return this.#rows.get(buildKey(source, id)) ?? this.#withoutEndings.get(buildKey(removeEnding(source), id))
  }
}

function buildKey(source: string, id: string): string {
  return `${source}\u0000${id}`
}

function removeEnding(source: string): string {
  return inferDataKind(source) ? source.slice(0, -extname(source).length) : source
}
