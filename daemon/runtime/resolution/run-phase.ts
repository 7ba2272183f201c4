// Runs one of the three phases of a run in a thread, from the files of the phase before.
import { openSync } from 'node:fs'
import { type DataFile, openDataDescriptor } from '../../../adapters/platform/data-file/data-file.ts'
import { type DataKind, inferDataKind, readableExtensions } from '../../../adapters/platform/data-file/data-kinds.ts'
import { datasetFolder } from '../../../adapters/platform/data-file/datasets-folder.ts'
import { describeDataFault } from '../../../adapters/platform/data-file/describe-data-fault.ts'
import { openLandedFolder } from '../../../adapters/platform/data-file/landed-folder.ts'
import { openTenantDataFile } from '../../../adapters/platform/data-file/tenant-data-file.ts'
import { listClusters, listMatches, toRecordRef } from '../../roles/resolution/engine/findings.ts'
import { chooseMatches, listTextsLeftOut } from '../../roles/resolution/engine/left-out.ts'
import { buildLookupWeights } from '../../roles/resolution/engine/lookup/weights.ts'
import { orderByUid } from '../../roles/resolution/engine/order-by-uid.ts'
import type { EngineProgress } from '../../roles/resolution/engine/progress.ts'
import { assessResult } from '../../roles/resolution/engine/quality/assess-result.ts'
import {
  buildRecords,
  createColumnFilter,
  getIdLimit,
  LensFault,
  type LensRecords,
  type RecordSource,
} from '../../roles/resolution/engine/records/records.ts'
import {
  clusterAboveCut,
  type Resolution,
  resolveRecords,
  usesTermFrequencies,
} from '../../roles/resolution/engine/resolve.ts'
import {
  extractMatchWeights,
  extractScoreWeights,
  type MatchWeights,
} from '../../roles/resolution/engine/score/match-weights.ts'
import { clusterUid } from '../../roles/resolution/entity-cluster/model.ts'
import { matchUid } from '../../roles/resolution/entity-match/model.ts'
import type { LeftOut } from '../../roles/resolution/fields.ts'
import type { RunProgress } from '../../roles/resolution/fusion-run/model.ts'
import type { Lens } from '../../roles/resolution/lens/model.ts'
import type { PhaseJob, PhaseResult } from '../../roles/resolution/parts.ts'
import { readSources, writeSources } from './files/extracted-sources.ts'
import { writeJsonLinesFile } from './files/json-lines-file.ts'
import { type MatchPhaseOutput, readMatchPhaseOutput, writeMatchPhaseOutput } from './files/match-phase-output.ts'
import { readRecords } from './files/read-records.ts'
import { runFiles } from './files/run-folder.ts'
import { countShownRecords, leaveOutWithdrawn, listWithdrawnLeftOut, type ReadNode } from './leave-out-withdrawn.ts'

export type PhaseThreadJob = PhaseJob & {
  readonly folder: string
  readonly data_folder: string | undefined
  /** The folder of the datasets of pipelines. */
  readonly datasets: string
  readonly max_records: number
  readonly max_matches: number
}

export type PhaseProgress = Omit<RunProgress, 'eta_s'>
export type PhaseThreadResult = { readonly found: PhaseResult } | { readonly fault: string }
type PhaseProgressListener = (progress: PhaseProgress) => void

/** A fault of the data or the lens, with a message for the person who started the run. */
export async function runPhase(job: PhaseThreadJob, report: PhaseProgressListener): Promise<PhaseThreadResult> {
  try {
    return { found: await phaseHandlers[job.phase](job, report) }
  } catch (error) {
    if (error instanceof LensFault || error instanceof RunInputError) {
      return { fault: error.message }
    }
    // A backup does not hold files of runs, so a run in progress has none after a restore.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { fault: 'the files of the run are gone' }
    throw error
  }
}

class RunInputError extends Error {}

type PhaseHandlers = Readonly<
  Record<PhaseJob['phase'], (job: PhaseThreadJob, report: PhaseProgressListener) => PhaseResult | Promise<PhaseResult>>
>

const phaseHandlers: PhaseHandlers = {
  extract: extractRecords,
  match: matchRecords,
  resolve: resolveClusters,
}

async function extractRecords(job: PhaseThreadJob, report: PhaseProgressListener): Promise<PhaseResult> {
  const read: ReadNode[] = []
  for (const index of job.sources.keys())
    read.push(leaveOutWithdrawn(job, index, await readNodeRecords(job, index, report)))
  const sources = read.map(({ source }) => source)
  buildRecords(job.lens, sources)
  writeSources(runFiles.extracted(job.folder), sources)
  const counts = read.map(countShownRecords)
  const summaries = job.sources.map((source, index) => ({
    ...source,
    records: counts[index] ?? 0,
    columns: mapFieldColumns(job.lens, sources[index]),
  }))
  const records = counts.reduce((sum, count) => sum + count, 0)
  return { counts: { records }, sources: summaries, ...listWithdrawnLeftOut(read) }
}

async function readNodeRecords(
  job: PhaseThreadJob,
  index: number,
  report: PhaseProgressListener,
): Promise<RecordSource> {
  const { lens, max_records } = job
  const { node_id, file, dataset } = job.sources[index] ?? { node_id: '' }
  try {
    const opened = openNodeFile(job, index)
    try {
      const step = `read ${node_id}`
      const onProgress = (done: number, total: number) => report({ phase: 'extract', step, done, total })
      const limits = { rows: max_records, id: getIdLimit(lens) }
      const options = { kind: opened.kind, isWanted: createColumnFilter(lens), ...limits, onProgress }
      return { name: node_id, ...(await readRecords(opened.file, options)) }
    } finally {
      opened.file.close()
    }
  } catch (error) {
    const fault = describeDataFault(error)
    const name = file ?? (dataset && `the dataset ${dataset.name}`)
    if (fault) throw new RunInputError(`${node_id}${name === undefined ? '' : ` (${name})`}${fault.text}`)
    throw error
  }
}

type NodeFile = { readonly kind: DataKind; readonly file: DataFile }

function openNodeFile({ sources, folder, data_folder, datasets, tenant_id }: PhaseThreadJob, index: number): NodeFile {
  const { node_id, file, dataset } = sources[index] ?? { node_id: '' }
  if (dataset)
    return { kind: 'dataset', file: openLandedFolder(datasetFolder(datasets, tenant_id, dataset.name), dataset.digest) }
  if (file === undefined)
    return { kind: 'csv', file: openDataDescriptor(openSync(runFiles.inline(folder, index), 'r')) }
  const kind = inferDataKind(file)
  if (!kind) throw new RunInputError(`${node_id}: a data file must be one of ${readableExtensions.join(', ')}`)
  return { kind, file: openTenantDataFile(data_folder, tenant_id, file) }
}

/** Maps each field to its column. */
function mapFieldColumns({ fields }: Lens, source: RecordSource | undefined): Record<string, string> {
  const fieldColumns = fields.flatMap(({ name, columns }) => {
    const column = (columns ?? [name]).find((candidate) => source?.names.includes(candidate))
    return column === undefined ? [] : [[name, column] as const]
  })
  return Object.fromEntries(fieldColumns)
}

function matchRecords(job: PhaseThreadJob, report: PhaseProgressListener): PhaseResult {
  const records = buildRecords(job.lens, readSources(runFiles.extracted(job.folder)))
  const onProgress = ({ phase: step, done, total }: EngineProgress) => report({ phase: 'match', step, done, total })
  const resolution = resolveRecords(job.lens, records, job.seed, onProgress)
  const { route, scale } = resolution
  const weights = extractMatchWeights(resolution, usesTermFrequencies(job.lens))
  const scoreWeights = extractScoreWeights(resolution, usesTermFrequencies(job.lens))
  const prior = resolution.model.lambda
  const output = { ...resolution, weights: scoreWeights, threshold: job.lens.threshold, prior }
  writeMatchPhaseOutput(runFiles.matched(job.folder), output)
  const matches = job.isLast ? writeMatches(job, records, resolution, scoreWeights) : undefined
  const left_out = [...listTextsLeftOut(job.lens, records.rows), ...(matches?.left_out ?? [])]
  const evidence = rankFieldEvidence(records, weights)
  const lookupWeights = buildLookupWeights(job.lens, records, resolution, weights)
  return {
    route,
    scale,
    evidence,
    weights: lookupWeights,
    counts: { pairs: resolution.compared.length, ...(matches === undefined ? {} : { matches: matches.written }) },
    left_out,
    ...(job.isLast && {
      quality: assessResult({ lens: job.lens, records, resolution, weights: scoreWeights, prior }),
    }),
  }
}

function resolveClusters(job: PhaseThreadJob, report: PhaseProgressListener): PhaseResult {
  report({ phase: 'resolve', step: 'cluster', done: 0, total: 0 })
  const records = buildRecords(job.lens, readSources(runFiles.extracted(job.folder)))
  const { weights, prior, ...output } = readMatchPhaseOutput(runFiles.matched(job.folder))
  const resolution = applyThreshold(job, records, output)
  const { written: matches, left_out } = writeMatches(job, records, resolution, weights)
  const { tenant_id, lens } = job
  const { clusters, counts } = listClusters(records, resolution.clusters, (first) =>
    clusterUid(tenant_id, lens.lens, first),
  )
  writeJsonLinesFile(runFiles.clusters(job.folder), clusters)
  const quality =
    prior === undefined ? undefined : assessResult({ lens: job.lens, records, resolution, weights, prior })
  return { counts: { matches, ...counts }, left_out, ...(quality && { quality }) }
}

/** Clusters as joined in training, unless the threshold has changed since. */
function applyThreshold(
  { lens }: PhaseThreadJob,
  records: LensRecords,
  { threshold, ...resolution }: Omit<MatchPhaseOutput, 'weights' | 'prior'>,
): Resolution {
  return lens.threshold === threshold ? resolution : clusterAboveCut(lens, records, resolution)
}

function writeMatches(
  job: PhaseThreadJob,
  records: LensRecords,
  resolution: Resolution,
  weights: MatchWeights,
): { readonly written: number; readonly left_out: LeftOut[] } {
  const { tenant_id, lens, max_matches, folder } = job
  const { pairs, left_out } = chooseMatches(resolution, max_matches)
  const { lefts, rights } = resolution.compared
  const refOf = (row: number | undefined) => toRecordRef(records, row ?? 0)
  const ordered = orderByUid(pairs, (pair) => matchUid(tenant_id, lens.lens, refOf(lefts[pair]), refOf(rights[pair])))
  const matches = listMatches(records, resolution, weights, ordered)
  return { written: writeJsonLinesFile(runFiles.matches(folder), matches), left_out }
}

/** Weights of equal values of each field, the strongest first. */
function rankFieldEvidence({ fields }: LensRecords, { outcomes }: MatchWeights): { field: string; bits: number }[] {
  const items = fields.map(({ name }, field) => ({ field: name, bits: (outcomes[field]?.[1] ?? 0) / Math.LN2 }))
  return items.sort((left, right) => right.bits - left.bits)
}
