// Clusters and pairs of a resolution as tables: row by row for any form, and straight into bytes for the one that is asked for most.
import type { Records } from '../../roles/resolution/engine/records/records.ts'
import type { Resolution } from '../../roles/resolution/engine/resolve.ts'
import type { ResultTable } from './result-file.ts'
import type { Sheet } from './sheet.ts'

/** Which cluster each record is in. `entities`: by number of the cluster, from 1 on, where ids of those are kept. */
export function clusterTable(records: Records, numbers: Int32Array, entities?: readonly string[]): ResultTable {
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
    rows: counted(rows, line),
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
export function pairTable(records: Records, resolution: Resolution, hasAll: boolean): ResultTable {
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
    rows: counted(compared.length, line),
    writeTo: (sheet) => writePairs(sheet, records, resolution, hasAll),
  }
}

type Row = readonly (string | number | boolean)[]

function* counted(count: number, line: (at: number) => Row | undefined): Generator<Row> {
  for (let at = 0; at < count; at++) {
    const row = line(at)
    if (row) yield row
  }
}

function writeClusters(sheet: Sheet, records: Records, numbers: Int32Array, entities?: readonly string[]): void {
  const { rows, sources } = records
  const names = records.names.map((name) => sheet.cellOf(name))
  const nothing = sheet.cellOf('')
  for (let row = 0; row < rows; row++) {
    sheet.cell(names[sources[row] ?? 0] ?? nothing)
    sheet.id(records, row)
    sheet.whole(numbers[row] ?? 0)
    if (entities) sheet.text(entities[(numbers[row] ?? 0) - 1] ?? '')
    sheet.end()
  }
}

function writePairs(sheet: Sheet, records: Records, resolution: Resolution, hasAll: boolean): void {
  const { clusters, compared, scores, floor } = resolution
  const { sources } = records
  const { length, lefts, rights } = compared
  const names = records.names.map((name) => sheet.cellOf(name))
  const nothing = sheet.cellOf('')
  const [linked, apart] = [sheet.cellOf('true'), sheet.cellOf('false')]
  for (let pair = 0; pair < length; pair++) {
    const left = lefts[pair] ?? 0
    const right = rights[pair] ?? 0
    const isLinked = clusters[left] === clusters[right]
    if (!hasAll && !isLinked && (scores[pair] ?? 0) <= floor) continue
    sheet.cell(names[sources[left] ?? 0] ?? nothing)
    sheet.id(records, left)
    sheet.cell(names[sources[right] ?? 0] ?? nothing)
    sheet.id(records, right)
    sheet.fraction(scores[pair] ?? 0)
    sheet.cell(isLinked ? linked : apart)
    sheet.end()
  }
}
