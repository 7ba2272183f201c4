// Reads labels from a file: pairs that match or not, or the cluster of each record.
import type { LensRecords, RecordSource } from '../../../roles/resolution/engine/records/records.ts'
import type { TrainingLabels } from '../../../roles/resolution/engine/train.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { missingColumns, readDataFile } from '../data-file.ts'

const matchPattern = /^(1|true|yes|y|match)$/i
const nonMatchPattern = /^(0|false|no|n|non[-_ ]?match|distinct)$/i

/**
 * Reads columns `id` and `cluster` (a record without a line is alone), or `id_l`, `id_r` and optionally `match`. Throws
 * `OfflineCommandError` (1) for an unknown record, an id that is not unique, and an invalid `match`.
 */
export async function readLabels(file: string, records: LensRecords): Promise<TrainingLabels> {
  const source = await readDataFile(file, () => true)
  const rowOf = indexRowsById(records)
  const requireRow = (id: string, index: number) => {
    const row = rowOf.get(id)
    if (row === undefined)
      throw new OfflineCommandError(1, `${file}, record ${index + 1}: the data has no record ${JSON.stringify(id)}`)
    return row
  }
  if (source.names.includes('cluster')) {
    const ids = readColumnTexts(source, 'id', file)
    const numbers = new Map<string, number>()
    // Records without a line get a cluster of their own, with a negative number that no named cluster has.
    const clusters = Int32Array.from({ length: records.rows }, (_, row) => -1 - row)
    for (const [index, name] of readColumnTexts(source, 'cluster', file).entries()) {
      if (!numbers.has(name)) numbers.set(name, numbers.size)
      clusters[requireRow(ids[index] ?? '', index)] = numbers.get(name) ?? 0
    }
    return { kind: 'clusters', clusters }
  }
  const [lefts, rights] = [readColumnTexts(source, 'id_l', file), readColumnTexts(source, 'id_r', file)]
  const labels = source.names.includes('match') ? readColumnTexts(source, 'match', file) : lefts.map(() => '1')
  const pairs = labels.map((label, index) => {
    const [a, b] = [requireRow(lefts[index] ?? '', index), requireRow(rights[index] ?? '', index)]
    if (a === b) throw new OfflineCommandError(1, `${file}, record ${index + 1}: the pair names the same record twice`)
    if (!matchPattern.test(label) && !nonMatchPattern.test(label)) {
      throw new OfflineCommandError(
        1,
        `${file}, record ${index + 1}: match is ${JSON.stringify(label)}; it must be 1 or 0`,
      )
    }
    return { a, b, isMatch: matchPattern.test(label) }
  })
  if (!pairs.some(({ isMatch }) => isMatch)) throw new OfflineCommandError(1, `${file} contains no matching pair`)
  return { kind: 'pairs', pairs }
}

function indexRowsById({ rows, idOf }: LensRecords): Map<string, number> {
  const rowOf = new Map<string, number>()
  for (let row = 0; row < rows; row++) {
    const id = idOf(row)
    if (rowOf.has(id))
      throw new OfflineCommandError(
        1,
        `two sources have the id ${JSON.stringify(id)}; labels need ids that are unique over all sources`,
      )
    rowOf.set(id, row)
  }
  return rowOf
}

/** Text of each record in a column. */
function readColumnTexts({ columns, names }: RecordSource, name: string, file: string): string[] {
  const column = columns.find((candidate) => candidate.name === name)
  if (!column) throw missingColumns(file, [name], names)
  const decoder = new TextDecoder()
  return Array.from(column.codes, (code) => (code < 0 ? '' : decoder.decode(column.values.bytesOf(code)).trim()))
}
