// Opens a completed run of files: its documents, its records as they are in the data, its clusters and its pairs.
import type { EngineProgressListener } from '../../../roles/resolution/engine/progress.ts'
import type { DecidedRows } from '../../../roles/resolution/engine/quality/rank-decisions.ts'
import { buildRecords, type LensRecords } from '../../../roles/resolution/engine/records/records.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import type { ReadSource } from '../data-file.ts'
import { buildRecordKey } from '../decisions-file.ts'
import { convertLensFaults } from '../lens-records.ts'
import { type RunDocuments, readRunDocuments } from './run-documents.ts'
import { readRunSources } from './run-sources.ts'
import { findOptionalTable, findTable, readTable } from './run-table.ts'

/** Pairs of the file of pairs. `scores`: bits or likeness, with four decimals. */
export type RunPairs = {
  readonly length: number
  readonly lefts: Int32Array
  readonly rights: Int32Array
  readonly scores: Float64Array
  readonly linked: Uint8Array
}

export type FileRun = RunDocuments & {
  readonly records: LensRecords
  /** The columns of the lens as they are in the data, source by source. */
  readonly sources: readonly ReadSource[]
  /** Number of the cluster of each record. */
  readonly clusters: Int32Array
  readonly pairs: RunPairs
  /** Pairs that people had decided before the run. */
  readonly decided: readonly DecidedRows[]
  /** Row of a record by its key (`buildRecordKey`). */
  readonly rowOf: ReadonlyMap<string, number>
}

/** Opens a run. Throws `OfflineCommandError`: 1 for what is missing or unreadable, 5 for what does not belong together. */
export async function openRun(
  folder: string,
  moved: readonly string[],
  onProgress: EngineProgressListener,
): Promise<FileRun> {
  const documents = readRunDocuments(folder)
  const { lens } = documents.model
  const sources = await readRunSources(lens, documents.inputs, moved, onProgress)
  const records = convertLensFaults(() => buildRecords(lens, sources))
  if (records.fields.length !== documents.model.fields.length)
    throw new OfflineCommandError(
      5,
      `the model of ${folder} has other fields than its data`,
      'run again into a new folder',
    )
  const rowOf = new Map<string, number>()
  for (let row = 0; row < records.rows; row++) rowOf.set(buildRecordKey(records, row), row)
  const clusters = await readClusters(findTable(folder, 'clusters'), rowOf)
  const pairs = await readPairs(findTable(folder, 'pairs'), rowOf)
  const decisions = findOptionalTable(folder, 'decisions')
  const decided = decisions === undefined ? [] : await readDecided(decisions, rowOf)
  return { ...documents, records, sources, clusters, pairs, decided, rowOf }
}

async function readClusters(file: string, rowOf: ReadonlyMap<string, number>): Promise<Int32Array> {
  const table = await readTable(file, ['source', 'id', 'cluster'])
  const clusters = new Int32Array(rowOf.size)
  for (let line = 0; line < table.rows; line++) {
    const cluster = Number(table.text('cluster', line))
    if (!Number.isSafeInteger(cluster) || cluster < 1 || cluster > rowOf.size)
      throw new OfflineCommandError(
        5,
        `${file}, record ${line + 1}: the cluster is not a number from 1 to ${rowOf.size}`,
      )
    clusters[table.row(rowOf, 'source', 'id', line)] = cluster
  }
  if (clusters.includes(0)) throw new OfflineCommandError(5, `${file} lacks records of the data`)
  return clusters
}

async function readPairs(file: string, rowOf: ReadonlyMap<string, number>): Promise<RunPairs> {
  const table = await readTable(file, ['source_l', 'id_l', 'source_r', 'id_r', 'score', 'linked'])
  const { rows: length } = table
  const [lefts, rights, linked] = [new Int32Array(length), new Int32Array(length), new Uint8Array(length)]
  const scores = new Float64Array(length)
  for (let line = 0; line < length; line++) {
    lefts[line] = table.row(rowOf, 'source_l', 'id_l', line)
    rights[line] = table.row(rowOf, 'source_r', 'id_r', line)
    scores[line] = Number(table.text('score', line))
    linked[line] = table.text('linked', line) === 'true' ? 1 : 0
    if (!Number.isFinite(scores[line]))
      throw new OfflineCommandError(5, `${file}, record ${line + 1}: the score is not a number`)
  }
  return { length, lefts, rights, scores, linked }
}

async function readDecided(file: string, rowOf: ReadonlyMap<string, number>): Promise<DecidedRows[]> {
  const table = await readTable(file, ['source_l', 'id_l', 'source_r', 'id_r', 'decision'])
  return Array.from({ length: table.rows }, (_, line) => ({
    a: table.row(rowOf, 'source_l', 'id_l', line),
    b: table.row(rowOf, 'source_r', 'id_r', line),
    isMatch: table.text('decision', line) === 'confirm',
  }))
}
