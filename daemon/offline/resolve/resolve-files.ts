// Resolves records of files into files without a service: clusters, pairs and a summary of the run.
import type { ResultKind } from '../../../adapters/platform/data-file/data-kinds.ts'
import type { BlockingRuleReport } from '../../roles/resolution/engine/block/lens-rules.ts'
import { listTextsLeftOut } from '../../roles/resolution/engine/left-out.ts'
import { type EngineProgressListener, reportPhaseStart } from '../../roles/resolution/engine/progress.ts'
import { assessResult } from '../../roles/resolution/engine/quality/assess-result.ts'
import type { LensRecords } from '../../roles/resolution/engine/records/records.ts'
import type { ResolutionRoute } from '../../roles/resolution/engine/resolution-context.ts'
import { type DetailedResolution, resolveRecords, usesTermFrequencies } from '../../roles/resolution/engine/resolve.ts'
import { extractScoreWeights } from '../../roles/resolution/engine/score/match-weights.ts'
import { countRows } from '../../roles/resolution/engine/text/dictionary.ts'
import type { LeftOut } from '../../roles/resolution/fields.ts'
import type { ResultQuality } from '../../roles/resolution/fusion-run/result-quality.ts'
import type { Lens } from '../../roles/resolution/lens/model.ts'
import type { PairDecision } from '../../roles/resolution/registry/cluster-with-decisions.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { applyDecisions, buildRecordKey, readDecisions, scoreDecisions } from './decisions-file.ts'
import { requireReadableColumns } from './entities/require-readable-columns.ts'
import { buildValueTables } from './entities/value-tables.ts'
import { describeInputs, run_inputs_name } from './folder/run-inputs.ts'
import { buildRunModel, run_model_name } from './folder/run-model.ts'
import { writeResults } from './folder/write-results.ts'
import { readPairLabels } from './lens/lens-labels.ts'
import { convertLensFaults, type FileRecords, type RecordReading, readLensRecords } from './lens-records.ts'
import { requireWritable, withResultFolder } from './new-files.ts'
import { type ReadingSummary, summarizeReading } from './reading/file-reading.ts'
import { FileVersions } from './reading/file-versions.ts'
import { nameSource, refuseDuplicateSources } from './reading/source-names.ts'
import { buildRegistryContent } from './registry/build-registry-content.ts'
import { buildChangeTable } from './registry/change-table.ts'
import { checkSourceNames } from './registry/check-source-names.ts'
import {
  assignEntityIds,
  type EntityRegistry,
  readEntityRegistry,
  replaceEntityRegistry,
} from './registry/entity-registry.ts'
import { buildClusterTable, buildDecisionTable, buildPairTable, numberClusters } from './resolution-tables.ts'

export type ResolveFilesOptions = {
  readonly lens: Lens
  /** Name or file of the lens, for the record. */
  readonly lensName?: string | undefined
  /** Data files; each is one source. */
  readonly files: readonly string[]
  /** New or empty folder for the results. */
  readonly out: string
  readonly seed: number
  readonly reading?: RecordReading | undefined
  /** Format of the results (default: `csv`). */
  readonly format?: ResultKind | undefined
  /** Write all compared pairs, not only linked and nearly linked ones. */
  readonly hasAllPairs?: boolean
  /** File of decisions about pairs, which override the result. */
  readonly decisions?: string | undefined
  /** File of labelled pairs, by which the quality of the result is estimated. */
  readonly labels?: string | undefined
  /** Registry file that keeps entity ids; created if missing. */
  readonly registry?: string | undefined
  /** Keep the values of the records in the registry too; a registry that has them continues to keep them. */
  readonly keepsRecords?: boolean
  /** Update the registry even from a result of poor estimated quality. */
  readonly acceptsPoor?: boolean
  /** Write no values of the data: neither records nor entities. */
  readonly idsOnly?: boolean
}

type OverruledPair = Readonly<Record<'source_l' | 'id_l' | 'source_r' | 'id_r', string>>

export type ResolutionSummary = {
  readonly lens: string
  readonly version: string
  readonly route: ResolutionRoute
  readonly seed: number
  readonly sources: readonly { readonly name: string; readonly records: number; readonly read_as: ReadingSummary }[]
  readonly fields: readonly string[]
  /**
   * By field, number of records with its most common value. A value of more records than the maximum block size does not
   * form a block.
   */
  readonly commonest: Readonly<Record<string, number>>
  readonly records: number
  readonly pairs_compared: number
  /** Pairs of each blocking rule of the lens, and the blocks that it left out. */
  readonly rules: readonly BlockingRuleReport[]
  readonly quality: ResultQuality
  readonly entities: number
  /** Clusters of two or more records; the next field counts their records. */
  readonly clusters: number
  readonly records_in_clusters: number
  /** What the engine left out at its limits; absent if nothing. */
  readonly left_out?: readonly LeftOut[]
  /** Absent without a registry. */
  readonly registry?: 'written' | 'unwritten'
  /** Extent of the file of pairs. */
  readonly pairs: 'all' | 'near'
  /** Number of decisions that counted, and the confirmed pairs that rejected ones keep apart. */
  readonly decisions?: { readonly counted: number; readonly overruled: readonly OverruledPair[] }
}

/**
 * Writes clusters and pairs in the requested format, and run.json last, so that its presence proves the others complete.
 * A result of poor quality does not change the registry, and its clusters have no entities, unless it is accepted.
 * Throws `OfflineCommandError`: 1 for unusable data and unwritable files, 3 for a folder in use.
 */
export async function resolveFiles(
  options: ResolveFilesOptions,
  onProgress: EngineProgressListener,
): Promise<ResolutionSummary> {
  const { files, out, registry } = options
  const reading: RecordReading = { ...options.reading, versions: new FileVersions() }
  refuseDuplicateSources(files.map((file) => nameSource(file, reading.sources)))
  if (options.keepsRecords && registry === undefined)
    throw new OfflineCommandError(2, '--keep-records needs a registry: name it with --registry')
  // Before reading, so that an hour of work does not end at a path that cannot be written.
  if (registry !== undefined) requireWritable(registry)
  return await withResultFolder(out, () => resolveIntoFolder(options, reading, onProgress))
}

async function resolveIntoFolder(
  options: ResolveFilesOptions,
  reading: RecordReading,
  onProgress: EngineProgressListener,
): Promise<ResolutionSummary> {
  const { lens, files, out, seed, format = 'csv', hasAllPairs = false, registry: registryFile } = options
  const registry = registryFile === undefined ? undefined : readEntityRegistry(registryFile, lens.lens)
  const inputs = await describeInputs(files, reading, options.lensName, onProgress)
  const records = await readLensRecords(lens, files, onProgress, reading)
  if (!options.idsOnly) await requireReadableColumns(records.origins, reading, onProgress)
  if (registry) checkSourceNames(registry, records, reading)
  const fileDecisions = options.decisions === undefined ? undefined : await readDecisions(options.decisions, records)
  const labels = options.labels === undefined ? undefined : await readPairLabels(options.labels, records)
  const engineResult = convertLensFaults(() => resolveRecords(lens, records, seed, onProgress))
  const decisionResult = fileDecisions && applyDecisions(records, engineResult, fileDecisions)
  const resolution = decisionResult ? { ...engineResult, clusters: decisionResult.clusters } : engineResult
  const numbers = numberClusters(resolution.clusters)
  const weights = extractScoreWeights(engineResult, usesTermFrequencies(lens))
  const judged = fileDecisions ? { ...resolution, scores: scoreDecisions(resolution, fileDecisions) } : resolution
  const prior = engineResult.model.lambda
  const quality = assessResult({ lens, records, resolution: judged, weights, prior, numbers, labels })
  const mayUpdateRegistry = options.acceptsPoor === true || isFitForRegistry(quality, resolution.clusters, registry)
  const entities =
    registry && mayUpdateRegistry ? assignEntityIds(registry, groupKeysByCluster(records, numbers)) : undefined
  const keepsContent = options.keepsRecords || registry?.content !== undefined
  const built =
    entities && keepsContent
      ? buildRegistryContent(lens, records, engineResult, fileDecisions?.decisions ?? [], entities.registry)
      : undefined
  const summary: ResolutionSummary = {
    ...summarizeResolution(lens, seed, records, quality, resolution, numbers),
    ...listLeftOut(lens, records.rows, built?.reformed ?? 0),
    pairs: hasAllPairs ? 'all' : 'near',
    ...(registry && { registry: mayUpdateRegistry ? 'written' : 'unwritten' }),
    ...(decisionResult && {
      decisions: { counted: fileDecisions.decisions.length, overruled: decisionResult.overruled.map(toOverruledPair) },
    }),
  }
  const tables = [
    buildClusterTable(records, numbers, entities?.ids),
    buildPairTable(records, resolution, hasAllPairs),
    ...(fileDecisions ? [buildDecisionTable(fileDecisions.decisions)] : []),
    ...(registry && entities ? [buildChangeTable(registry, entities.registry)] : []),
    ...(options.idsOnly
      ? []
      : await buildValueTables({ lens, files, reading, records, numbers, entities: entities?.ids, onProgress })),
  ]
  const documents = [
    [run_model_name, buildRunModel(lens, records, resolution, weights)],
    [run_inputs_name, inputs],
    ['run.json', summary],
  ] as const
  await writeResults({ out, format, tables, documents, onChunk: () => reportPhaseStart(onProgress, 'write') }, () => {
    // Before run.json: if the run ends here, the next one assigns the same entities.
    if (registryFile !== undefined && entities)
      replaceEntityRegistry(registryFile, { ...entities.registry, content: built?.content })
  })
  return summary
}

/** A result without clusters would split every entity that the registry has. */
function isFitForRegistry(
  { verdict }: ResultQuality,
  clusters: Int32Array,
  registry: EntityRegistry | undefined,
): boolean {
  if (clusters.some((cluster, row) => cluster !== row)) return verdict !== 'poor'
  return !registry?.entities.some(({ members }) => members.length > 1)
}

function toOverruledPair({ left, right }: PairDecision): OverruledPair {
  const [source_l = '', id_l = ''] = left.split('\u0000')
  const [source_r = '', id_r = ''] = right.split('\u0000')
  return { source_l, id_l, source_r, id_r }
}

/** Record keys of each cluster, by its number. */
function groupKeysByCluster(records: LensRecords, numbers: Int32Array): string[][] {
  const clusters: string[][] = []
  for (const [row, number] of numbers.entries()) {
    const members = clusters[number - 1]
    const key = buildRecordKey(records, row)
    if (members) members.push(key)
    else clusters[number - 1] = [key]
  }
  return clusters
}

function listLeftOut(lens: Lens, rows: number, reformed: number): Pick<ResolutionSummary, 'left_out'> {
  const left_out = [...listTextsLeftOut(lens, rows)]
  if (reformed > 0) left_out.push({ what: 'reformed_records', count: reformed, limit: 0 })
  return left_out.length > 0 ? { left_out } : {}
}

function summarizeResolution(
  lens: Lens,
  seed: number,
  { rows, names, sources, fields, readings }: FileRecords,
  quality: ResultQuality,
  { route, compared, rules }: DetailedResolution,
  numbers: Int32Array,
): Omit<ResolutionSummary, 'pairs' | 'registry' | 'decisions' | 'left_out'> {
  const sizes = new Int32Array(rows + 1)
  for (const number of numbers) sizes[number] = (sizes[number] ?? 0) + 1
  const sharedSizes = sizes.filter((size) => size > 1)
  return {
    lens: lens.lens,
    version: lens.version,
    route,
    seed,
    sources: readings.map((reading, index) => ({
      name: names[index] ?? '',
      records: sources.reduce((sum, sourceIndex) => sum + (sourceIndex === index ? 1 : 0), 0),
      read_as: summarizeReading(reading),
    })),
    fields: fields.map(({ name }) => name),
    commonest: Object.fromEntries(
      fields.map(({ name, column }) => [name, countRows(column).reduce((a, b) => Math.max(a, b), 0)]),
    ),
    records: rows,
    pairs_compared: compared.length,
    quality,
    rules,
    entities: sizes.reduce((count, size) => count + (size > 0 ? 1 : 0), 0),
    clusters: sharedSizes.length,
    records_in_clusters: sharedSizes.reduce((sum, size) => sum + size, 0),
  }
}
