// The three phases of a run, each from the files that the one before left: what a thread does.
import { openSync } from 'node:fs'
import { clustersOf, matchesOf } from '../../roles/resolution/engine/findings.ts'
import { lookupWeights } from '../../roles/resolution/engine/lookup/weights.ts'
import type { Progress as EngineProgress } from '../../roles/resolution/engine/progress.ts'
import {
  idLimit,
  isWantedBy,
  LensFault,
  type Records,
  recordsOf,
  type Source,
} from '../../roles/resolution/engine/records/records.ts'
import { clustersAbove, hasFrequencies, type Resolution, resolve } from '../../roles/resolution/engine/resolve.ts'
import { type Weights, weightsIn } from '../../roles/resolution/engine/score/evidence.ts'
import type { Progress } from '../../roles/resolution/fusion-run/model.ts'
import type { Lens } from '../../roles/resolution/lens/model.ts'
import type { PhaseFound, PhaseJob } from '../../roles/resolution/parts.ts'
import { openedFile } from './data-bytes.ts'
import { openDataFile } from './data-folder.ts'
import { readArrays, writeArrays } from './durable-file.ts'
import { readSources, writeSources } from './extracted.ts'
import { writeFound } from './found-files.ts'
import { faultIn, kindOf, readable, readRecords } from './read-records.ts'
import { runFiles } from './run-folder.ts'

export type ThreadJob = PhaseJob & {
  readonly folder: string
  readonly data_folder: string | undefined
  readonly max_records: number
  readonly max_matches: number
}

export type Told = Omit<Progress, 'eta_s'>
export type Answer = { readonly found: PhaseFound } | { readonly fault: string }
type Tell = (progress: Told) => void

/** A fault is of the data or the lens, in words for whoever started the run. */
export async function carryOutPhase(job: ThreadJob, tell: Tell): Promise<Answer> {
  try {
    return { found: await phases[job.phase](job, tell) }
  } catch (error) {
    if (error instanceof LensFault || error instanceof RunFault) {
      return { fault: error.message }
    }
    // A backup holds no files of runs: one that was under way in a restored site has none.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { fault: 'the files of the run are gone' }
    throw error
  }
}

class RunFault extends Error {}

type Phases = Readonly<Record<PhaseJob['phase'], (job: ThreadJob, tell: Tell) => PhaseFound | Promise<PhaseFound>>>

const phases: Phases = {
  extract,
  match,
  resolve: join,
}

async function extract(job: ThreadJob, tell: Tell): Promise<PhaseFound> {
  const sources: Source[] = []
  for (const place of job.sources.keys()) sources.push(await readNode(job, place, tell))
  const records = recordsOf(job.lens, sources)
  writeSources(runFiles.extracted(job.folder), sources)
  const told = job.sources.map((source, at) => ({
    ...source,
    records: sources[at]?.rows ?? 0,
    columns: columnsOf(job.lens, sources[at]),
  }))
  return { counts: { records: records.rows }, sources: told }
}

async function readNode(
  { sources, folder, data_folder, tenant_id, lens, max_records }: ThreadJob,
  place: number,
  tell: Tell,
): Promise<Source> {
  const { node_id, file } = sources[place] ?? { node_id: '' }
  const kind = file === undefined ? 'csv' : kindOf(file)
  if (!kind) throw new RunFault(`${node_id}: a data file must be one of ${readable.join(', ')}`)
  try {
    const opened =
      file === undefined
        ? openedFile(openSync(runFiles.inline(folder, place), 'r'))
        : openDataFile(data_folder, tenant_id, file)
    try {
      const step = `read ${node_id}`
      const told = (done: number, total: number) => tell({ phase: 'extract', step, done, total })
      const limits = { rows: max_records, id: idLimit(lens) }
      const found = await readRecords(opened, { kind, isWanted: isWantedBy(lens), ...limits, tell: told })
      return { name: node_id, ...found }
    } finally {
      opened.close()
    }
  } catch (error) {
    const fault = faultIn(error)
    if (fault) throw new RunFault(`${node_id}${file === undefined ? '' : ` (${file})`}${fault.text}`)
    throw error
  }
}

/** Field to the column that it is read from. */
function columnsOf({ fields }: Lens, source: Source | undefined): Record<string, string> {
  const found = fields.flatMap(({ name, columns }) => {
    const column = (columns ?? [name]).find((each) => source?.names.includes(each))
    return column === undefined ? [] : [[name, column] as const]
  })
  return Object.fromEntries(found)
}

function match(job: ThreadJob, tell: Tell): PhaseFound {
  const records = recordsOf(job.lens, readSources(runFiles.extracted(job.folder)))
  const told = ({ phase: step, done, total }: EngineProgress) => tell({ phase: 'match', step, done, total })
  const found = resolve(job.lens, records, job.seed, told)
  const { lefts, rights, patternOf, patterns, counts, fields, length } = found.compared
  const { route, scale, floor, cut, scores, clusters } = found
  const weights = weightsIn(found, hasFrequencies(job.lens))
  const head = { route, scale, floor, cut, fields, length, weights, threshold: job.lens.threshold }
  writeArrays(runFiles.matched(job.folder), head, [lefts, rights, patternOf, patterns, counts, scores, clusters])
  const matches = job.isLast ? writeMatches(job, records, found, weights) : undefined
  const evidence = strongest(records, weights)
  const kept = lookupWeights(job.lens, records, found, weights)
  return {
    route,
    scale,
    evidence,
    weights: kept,
    counts: { pairs: length, ...(matches === undefined ? {} : { matches }) },
  }
}

function join(job: ThreadJob, tell: Tell): PhaseFound {
  tell({ phase: 'resolve', step: 'cluster', done: 0, total: 0 })
  const records = recordsOf(job.lens, readSources(runFiles.extracted(job.folder)))
  const { weights, ...read } = readMatched(runFiles.matched(job.folder))
  const found = joined(job, records, read)
  const matches = writeMatches(job, records, found, weights)
  const { found: clusters, counts } = clustersOf(records, found.clusters)
  writeFound(runFiles.clusters(job.folder), clusters)
  return { counts: { matches, ...counts } }
}

/** As the engine joined them while it learnt, unless another line was said since. */
function joined({ lens }: ThreadJob, records: Records, { threshold, ...found }: Omit<Matched, 'weights'>): Resolution {
  return lens.threshold === threshold ? found : { ...found, clusters: clustersAbove(lens, records, found) }
}

function writeMatches(job: ThreadJob, records: Records, found: Resolution, weights: Weights): number {
  const most = job.max_matches
  return writeFound(runFiles.matches(job.folder), limited(matchesOf(records, found, weights), most))
}

function* limited<T>(all: Iterable<T>, most: number): Generator<T> {
  let count = 0
  for (const each of all) {
    if (++count > most) throw new RunFault(`the run found more than ${most} matches: the lens tells too little apart`)
    yield each
  }
}

/** `threshold`: bits, where there was one to match by. */
type Matched = Resolution & { readonly weights: Weights; readonly threshold: number | undefined }
type MatchedHead = Pick<Matched, 'route' | 'scale' | 'floor' | 'cut' | 'threshold' | 'weights'> & {
  readonly fields: number
  readonly length: number
}
type MatchedArrays = [Int32Array, Int32Array, Int32Array, Uint8Array, Float64Array, Float64Array, Int32Array]

function readMatched(file: string): Matched {
  const { head, arrays } = readArrays(file)
  const { route, scale, floor, cut, threshold, fields, length, weights } = head as MatchedHead
  const [lefts, rights, patternOf, patterns, counts, scores, clusters] = arrays as MatchedArrays
  return {
    route,
    scale,
    floor,
    cut,
    threshold,
    compared: { length, lefts, rights, patternOf, fields, patterns, counts },
    scores,
    clusters,
    weights,
  }
}

/** What equal values of each field speak for, the strongest first. */
function strongest({ fields }: Records, { outcomes }: Weights): { field: string; bits: number }[] {
  const all = fields.map(({ name }, field) => ({ field: name, bits: (outcomes[field]?.[1] ?? 0) / Math.LN2 }))
  return all.sort((one, other) => other.bits - one.bits)
}
