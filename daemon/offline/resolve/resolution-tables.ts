// Clusters and pairs of a resolution as tables: row by row for any form, and straight into bytes for the one that is asked for most.
import type { LensRecords } from '../../roles/resolution/engine/records/records.ts'
import type { Resolution } from '../../roles/resolution/engine/resolve.ts'
import type { CsvWriter } from './csv-writer.ts'
import type { ResultTable } from './result-file.ts'

/** Which cluster each record is in. `entities`: by number of the cluster, from 1 on, where ids of those are kept. */
export function buildClusterTable(
  records: LensRecords,
  numbers: Int32Array,
  entities?: readonly string[],
): ResultTable {
  const { rows, names, sources, idOf } = records
  const line = (row: number) => [names[sources[row] ?? 0] ?? '', idOf(row), numbers[row] ?? 0, ...entityOf(row)]
  const entityOf = (row: number) => (entities ? [entities[(numbers[row] ?? 0) - 1] ?? ''] : [])
  return {
    name: 'clusters',
    columns: [
      { name: 'source', type: 'text' },
      { name: 'id', type: 'text' },
      { name: 'cluster', type: 'whole' },
      ...(entities ? [{ name: 'entity', type: 'text' as const }] : []),
    ],
    rows: generateRows(rows, line),
    writeTo: (sheet) => writeClusters(sheet, records, numbers, entities),
  }
}

export const pairColumns = [
  { name: 'source_l', type: 'text' },
  { name: 'id_l', type: 'text' },
  { name: 'source_r', type: 'text' },
  { name: 'id_r', type: 'text' },
  { name: 'score', type: 'real' },
  { name: 'linked', type: 'truth' },
] satisfies ResultTable['columns']

/** Pairs that are linked, and those that were near it; or all that were compared. */
export function buildPairTable(records: LensRecords, resolution: Resolution, hasAll: boolean): ResultTable {
  const { names, sources, idOf } = records
  const { clusters, compared, scores, floor } = resolution
  const line = (pair: number) => {
    const [left, right] = [compared.lefts[pair] ?? 0, compared.rights[pair] ?? 0]
    const isLinked = clusters[left] === clusters[right]
    const score = scores[pair] ?? 0
    if (!hasAll && !isLinked && score <= floor) return undefined
    const ends = [left, right].flatMap((row) => [names[sources[row] ?? 0] ?? '', idOf(row)])
    return [...ends, Number(score.toFixed(4)), isLinked]
  }
  return {
    name: 'pairs',
    columns: pairColumns,
    rows: generateRows(compared.length, line),
    writeTo: (sheet) => writePairs(sheet, records, resolution, hasAll),
  }
}

type ResultRow = readonly (string | number | boolean)[]

function* generateRows(count: number, line: (at: number) => ResultRow | undefined): Generator<ResultRow> {
  for (let at = 0; at < count; at++) {
    const row = line(at)
    if (row) yield row
  }
}

function writeClusters(
  sheet: CsvWriter,
  records: LensRecords,
  numbers: Int32Array,
  entities?: readonly string[],
): void {
  const { rows, sources } = records
  const names = records.names.map((name) => sheet.encodeCell(name))
  const nothing = sheet.encodeCell('')
  for (let row = 0; row < rows; row++) {
    sheet.writeCell(names[sources[row] ?? 0] ?? nothing)
    sheet.writeId(records, row)
    sheet.writeInteger(numbers[row] ?? 0)
    if (entities) sheet.writeText(entities[(numbers[row] ?? 0) - 1] ?? '')
    sheet.endLine()
  }
}

function writePairs(sheet: CsvWriter, records: LensRecords, resolution: Resolution, hasAll: boolean): void {
  const { clusters, compared, scores, floor } = resolution
  const { sources } = records
  const { length, lefts, rights } = compared
  const names = records.names.map((name) => sheet.encodeCell(name))
  const nothing = sheet.encodeCell('')
  const [linked, apart] = [sheet.encodeCell('true'), sheet.encodeCell('false')]
  for (let pair = 0; pair < length; pair++) {
    const left = lefts[pair] ?? 0
    const right = rights[pair] ?? 0
    const isLinked = clusters[left] === clusters[right]
    if (!hasAll && !isLinked && (scores[pair] ?? 0) <= floor) continue
    sheet.writeCell(names[sources[left] ?? 0] ?? nothing)
    sheet.writeId(records, left)
    sheet.writeCell(names[sources[right] ?? 0] ?? nothing)
    sheet.writeId(records, right)
    sheet.writeFraction(scores[pair] ?? 0)
    sheet.writeCell(isLinked ? linked : apart)
    sheet.endLine()
  }
}
