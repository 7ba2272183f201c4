// Finds the records that a file of labels names: by id, or by source and id where sources share ids.
import { unescapeFormula } from '../../../kernel/text/formula-cell.ts'
import type { LensRecords } from '../../../roles/resolution/engine/records/records.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { ambiguous_row, SourceRecordMap } from '../reading/source-record-map.ts'

/** The file may repeat cells of a result in CSV; a person may have left blanks around them. */
const readings: readonly ((cell: string) => string)[] = [
  (cell) => cell,
  unescapeFormula,
  (cell) => cell.trim(),
  (cell) => unescapeFormula(cell.trim()),
]

export class LabelledRecordIndex {
  readonly #file: string
  readonly #byId = new Map<string, number>()
  readonly #bySource: SourceRecordMap | undefined

  constructor({ rows, sources, names, idOf }: LensRecords, file: string) {
    this.#file = file
    this.#bySource = names.length > 1 ? new SourceRecordMap() : undefined
    for (let row = 0; row < rows; row++) {
      const id = idOf(row)
      this.#byId.set(id, this.#byId.has(id) ? ambiguous_row : row)
      this.#bySource?.add(names[sources[row] ?? 0] ?? '', id, row)
    }
  }

  /**
   * Row of a record. `source`: its source, if the file names one in the column `column`; `at`: place of the line. Throws
   * `OfflineCommandError` (1).
   */
  requireRow(id: string, source: string | undefined, at: number, column: string): number {
    const row = readings
      .map((read) => this.#find(read(id), source && read(source)))
      .find((found) => found !== undefined)
    const name = JSON.stringify(id)
    if (row === undefined) throw this.#fault(at, `the data has no record ${name}${source ? ` in ${source}` : ''}`)
    if (row === ambiguous_row) {
      throw this.#fault(
        at,
        `two sources have the id ${name}`,
        source ? 'name the source with its ending' : `name the source in a column ${column}`,
      )
    }
    return row
  }

  #find(id: string, source: string | undefined): number | undefined {
    return source && this.#bySource ? this.#bySource.find(source, id) : this.#byId.get(id)
  }

  #fault(at: number, text: string, remedy?: string): OfflineCommandError {
    return new OfflineCommandError(1, `${this.#file}, record ${at + 1}: ${text}`, remedy)
  }
}
