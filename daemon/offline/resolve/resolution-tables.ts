// Tables of the clusters and pairs of a resolution: rows for any format, and a fast path for CSV, the most common one.

import type { CsvWriter } from '../../../adapters/format/csv/csv-writer.ts'
import type { LensRecords } from '../../roles/resolution/engine/records/records.ts'
import type { Resolution } from '../../roles/resolution/engine/resolve.ts'
import { scoreUnit } from '../../roles/resolution/engine/score/score-unit.ts'
import type { PairDecision } from '../../roles/resolution/registry/cluster-with-decisions.ts'
import type { ResultTable } from './result-file.ts'

/** Numbers the clusters 1, 2, 3 in the order of their first records. */
export function numberClusters(clusters: Int32Array): Int32Array {
  const numbers = new Int32Array(clusters.length)
  let latest = 0
  for (let row = 0; row < clusters.length; row++) {
    const cluster = clusters[row] ?? 0
    numbers[row] = cluster === row ? ++latest : (numbers[cluster] ?? 0)
  }
  return numbers
}

/** Table of the cluster of each record. `entities`: entity ids by cluster number from 1, if a registry keeps them. */
export function buildClusterTable(
  records: LensRecords,
  numbers: Int32Array,
  entities?: readonly string[],
): ResultTable {
  const { rows, names, sources, idOf } = records
  const buildRow = (row: number) => [names[sources[row] ?? 0] ?? '', idOf(row), numbers[row] ?? 0, ...entityOf(row)]
  const entityOf = (row: number) => (entities ? [entities[(numbers[row] ?? 0) - 1] ?? ''] : [])
  return {
    name: 'clusters',
    columns: [
      { name: 'source', type: 'text', required: true },
      { name: 'id', type: 'text', required: true },
      { name: 'cluster', type: 'int32', required: true },
      ...(entities ? [{ name: 'entity', type: 'text' as const, required: true }] : []),
    ],
    rows: generateRows(rows, buildRow),
    writeTo: (writer) => writeClusters(writer, records, numbers, entities),
  }
}

/** `score`: bits, or a text similarity between two clean sources of texts. */
export const pairColumns = [
  { name: 'source_l', type: 'text', required: true },
  { name: 'id_l', type: 'text', required: true },
  { name: 'source_r', type: 'text', required: true },
  { name: 'id_r', type: 'text', required: true },
  { name: 'score', type: 'double', required: true },
  { name: 'linked', type: 'boolean', required: true },
] satisfies ResultTable['columns']

/** Table of linked and nearly linked pairs, or of all compared pairs. */
export function buildPairTable(records: LensRecords, resolution: Resolution, hasAll: boolean): ResultTable {
  const { names, sources, idOf } = records
  const { clusters, compared, scores, floor, scale } = resolution
  const unit = scoreUnit(scale)
  const buildRow = (pair: number) => {
    const [left, right] = [compared.lefts[pair] ?? 0, compared.rights[pair] ?? 0]
    const isLinked = clusters[left] === clusters[right]
    const score = scores[pair] ?? 0
    if (!hasAll && !isLinked && score <= floor) return undefined
    const ends = [left, right].flatMap((row) => [names[sources[row] ?? 0] ?? '', idOf(row)])
    return [...ends, Number((score / unit).toFixed(4)), isLinked]
  }
  return {
    name: 'pairs',
    columns: pairColumns,
    rows: generateRows(compared.length, buildRow),
    writeTo: (writer) => writePairs(writer, records, resolution, hasAll),
  }
}

/** Table of the decisions that counted, in the form of a file of decisions. */
export function buildDecisionTable(decisions: readonly PairDecision[]): ResultTable {
  return {
    name: 'decisions',
    columns: ['source_l', 'id_l', 'source_r', 'id_r', 'decision'].map((name) => ({
      name,
      type: 'text',
      required: true,
    })),
    rows: decisions.map(({ left, right, is }) => {
      return [...left.split('\u0000'), ...right.split('\u0000'), is === 'same' ? 'confirm' : 'reject']
    }),
  }
}

type ResultRow = readonly (string | number | boolean)[]

function* generateRows(count: number, buildRow: (index: number) => ResultRow | undefined): Generator<ResultRow> {
  for (let index = 0; index < count; index++) {
    const row = buildRow(index)
    if (row) yield row
  }
}

function writeClusters(
  writer: CsvWriter,
  records: LensRecords,
  numbers: Int32Array,
  entities?: readonly string[],
): void {
  const { rows, sources } = records
  const names = records.names.map((name) => writer.encodeCell(name))
  const emptyCell = writer.encodeCell('')
  for (let row = 0; row < rows; row++) {
    writer.writeCell(names[sources[row] ?? 0] ?? emptyCell)
    writer.writeId(records, row)
    writer.writeInteger(numbers[row] ?? 0)
    if (entities) writer.writeText(entities[(numbers[row] ?? 0) - 1] ?? '')
    writer.endLine()
  }
}

function writePairs(writer: CsvWriter, records: LensRecords, resolution: Resolution, hasAll: boolean): void {
  const { clusters, compared, scores, floor, scale } = resolution
  const unit = scoreUnit(scale)
  const { sources } = records
  const { length, lefts, rights } = compared
  const names = records.names.map((name) => writer.encodeCell(name))
  const emptyCell = writer.encodeCell('')
  const [linked, notLinked] = [writer.encodeCell('true'), writer.encodeCell('false')]
  for (let pair = 0; pair < length; pair++) {
    const left = lefts[pair] ?? 0
    const right = rights[pair] ?? 0
    const isLinked = clusters[left] === clusters[right]
    if (!hasAll && !isLinked && (scores[pair] ?? 0) <= floor) continue
    writer.writeCell(names[sources[left] ?? 0] ?? emptyCell)
    writer.writeId(records, left)
    writer.writeCell(names[sources[right] ?? 0] ?? emptyCell)
    writer.writeId(records, right)
    writer.writeFraction((scores[pair] ?? 0) / unit)
    writer.writeCell(isLinked ? linked : notLinked)
    writer.endLine()
  }
}
