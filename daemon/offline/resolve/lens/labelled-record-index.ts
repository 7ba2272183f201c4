// Finds the records that a file of labels names: by id, or by source and id where sources share ids.
import { unescapeFormula } from '../../../kernel/text/formula-cell.ts'
import type { LensRecords } from '../../../roles/resolution/engine/records/records.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { buildSourceKey } from '../reading/source-names.ts'

const ambiguous = -1

export class LabelledRecordIndex {
  readonly #file: string
  readonly #byId = new Map<string, number>()
  readonly #bySource = new Map<string, number>()

  constructor({ rows, sources, names, idOf }: LensRecords, file: string) {
    this.#file = file
    for (let row = 0; row < rows; row++) {
      const id = idOf(row)
      this.#byId.set(id, this.#byId.has(id) ? ambiguous : row)
      if (names.length > 1) this.#bySource.set(buildSourceKey(names[sources[row] ?? 0] ?? '', id), row)
    }
  }

  /**
   * Row of a record. `source`: its source, if the file names one in the column `column`; `at`: place of the line. Throws
   * `OfflineCommandError` (1).
   */
  requireRow(id: string, source: string | undefined, at: number, column: string): number {
    // The file may repeat cells of a result in CSV.
    const row = this.#find(id, source) ?? this.#find(unescapeFormula(id), source && unescapeFormula(source))
    const name = JSON.stringify(id)
    if (row === undefined) throw this.#fault(at, `the data has no record ${name}${source ? ` in ${source}` : ''}`)
    if (row === ambiguous) {
      throw this.#fault(at, `two sources have the id ${name}`, `name the source in a column ${column}`)
    }
    return row
  }

  #find(id: string, source: string | undefined): number | undefined {
    const row = this.#byId.get(id)
    if (!source || this.#bySource.size === 0) return row
    return this.#bySource.get(buildSourceKey(source, id))
  }

  #fault(at: number, text: string, remedy?: string): OfflineCommandError {
    return new OfflineCommandError(1, `${this.#file}, record ${at + 1}: ${text}`, remedy)
  }
}
