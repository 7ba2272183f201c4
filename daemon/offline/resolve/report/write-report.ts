// Writes the report of a run of files: one page of HTML that needs nothing else.
import { join } from 'node:path'
import { type EngineProgressListener, reportPhaseStart } from '../../../roles/resolution/engine/progress.ts'
import { computeBestScores } from '../../../roles/resolution/engine/quality/best-scores.ts'
import type { DecidedRows } from '../../../roles/resolution/engine/quality/rank-decisions.ts'
import type { ReportCurve, ReportFacts } from '../../../roles/resolution/report/report-facts.ts'
import { renderReport } from '../../../roles/resolution/report/report-page.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { replaceReport, requireReplaceable } from '../../report/replace-report.ts'
import { readDataFile } from '../data-file.ts'
import { evaluateFiles } from '../evaluate-files.ts'
import { type FileRun, openRun } from '../folder/open-run.ts'
import { toMatchWeights } from '../folder/run-model.ts'
import { readLabels } from '../lens/lens-labels.ts'
import { requireWritable } from '../new-files.ts'
import { collectClusters } from './collect-clusters.ts'
import { collectDecisions, collectPairs } from './collect-pairs.ts'

export type ReportRequest = {
  /** Result folder of a run. */
  readonly folder: string
  /** File of the page; an earlier report there is replaced (default: report.html in the folder). */
  readonly out?: string | undefined
  /** Data files that were moved since the run. */
  readonly data: readonly string[]
  /** File of known truth, for curves by labels instead of estimates. */
  readonly labels?: string | undefined
  /** File of decisions or labels made since the run, which are not asked about again. */
  readonly decisions?: string | undefined
}

export type WrittenReport = {
  readonly file: string
  readonly bytes: number
  readonly pairs: number
  readonly decided: number
  readonly clusters: number
}

/** Writes the report. Throws `OfflineCommandError`: 1, 3 for a file that is not a report, 5 for data that do not belong to the run. */
export async function writeReport(request: ReportRequest, onProgress: EngineProgressListener): Promise<WrittenReport> {
  const { folder, data, labels, decisions } = request
  const file = request.out ?? join(folder, 'report.html')
  requireReplaceable(file)
  if (request.out !== undefined) requireWritable(file)
  const run = await openRun(folder, data, onProgress)
  const labelled = labels === undefined ? undefined : await measureByLabels(folder, labels)
  reportPhaseStart(onProgress, 'write')
  const decided = decisions === undefined ? run.decided : await addDecisions(run, decisions)
  const facts = collectFacts(run, decided, labelled)
  const html = renderReport(facts)
  replaceReport(file, html)
  return {
    file,
    bytes: Buffer.byteLength(html),
    pairs: facts.pairs.length,
    decided: decided.length,
    clusters: facts.largest.length + facts.doubtful.length,
  }
}

function collectFacts(run: FileRun, decided: readonly DecidedRows[], labelled: ReportFacts['labelled']): ReportFacts {
  const { summary, model, inputs, pairs } = run
  return {
    lens: summary.lens,
    version: summary.version,
    scale: model.scale,
    cut: model.cut,
    quality: summary.quality,
    counts: summary,
    sources: inputs.data.map(({ source, path, sha256 }, at) => {
      return { name: source, records: summary.sources[at]?.records ?? 0, path, sha256 }
    }),
    fields: model.fields.map(({ name, missing_bits, levels }) => {
      const field = model.lens.fields.find((candidate) => candidate.name === name)
      return { name, columns: findColumns(run, field?.join ?? field?.columns ?? [name]), missing_bits, levels }
    }),
    scores: model.scores,
    found_by: model.found_by,
    rules: summary.rules,
    ...(model.prior_bits !== undefined && { unlinkable: measureUnlinkable(run, model.prior_bits) }),
    ...(labelled && { labelled }),
    ...collectClusters(run),
    pairs: collectPairs(run, decided),
    decided: collectDecisions(run, decided),
    listed_pairs: pairs.length,
  }
}

/** The decisions of the run with later ones; the later one about a pair counts. */
async function addDecisions(run: FileRun, file: string): Promise<DecidedRows[]> {
  const { labels } = await readLabels(file, run.records, { mayBeEmpty: true })
  if (labels.kind === 'clusters')
    throw new OfflineCommandError(1, `${file} has clusters, not decided pairs`, 'name the truth with --labels')
  const keyOf = ({ a, b }: DecidedRows) => `${Math.min(a, b)} ${Math.max(a, b)}`
  return [...new Map([...run.decided, ...labels.pairs].map((pair) => [keyOf(pair), pair])).values()]
}

/** The columns of a field that the data have, as the data name them. */
function findColumns({ sources }: FileRun, names: readonly string[]): string[] {
  const present = names.flatMap((name) =>
    sources.flatMap((source) => {
      if (source.names.includes(name)) return [name]
      return source.matched.filter((match) => match.name === name).map(({ column }) => column)
    }),
  )
  return [...new Set(present)]
}

const max_curve_points = 200
const min_curve_step = 0.05

/** Share of the records whose best score lies below each threshold, in bits. */
function measureUnlinkable({ records, model }: FileRun, prior_bits: number): NonNullable<ReportFacts['unlinkable']> {
  const best = computeBestScores(records, toMatchWeights(model), prior_bits * Math.LN2)
  const sorted = best.map((score) => score / Math.LN2).sort()
  const [from = 0, to = 0] = [sorted[0], sorted.at(-1)]
  const step = Math.max(min_curve_step, (to - from) / max_curve_points)
  const curve: [number, number][] = []
  let below = 0
  for (let at = from; at <= to + step; at += step) {
    while (below < sorted.length && (sorted[below] ?? 0) < at) below++
    curve.push([at, below / (sorted.length || 1)])
  }
  return { records: sorted.reduce((count, score) => count + (score <= model.cut ? 1 : 0), 0), curve }
}

async function measureByLabels(folder: string, labels: string): Promise<ReportFacts['labelled']> {
  const { names } = await readDataFile(labels, () => true)
  if (names.includes('match'))
    throw new OfflineCommandError(
      1,
      `${labels} has a column match: a curve needs the whole truth, not some labelled pairs`,
      'name a file of the truth, with id and cluster, or id_l and id_r of all matches',
    )
  const { scored } = await evaluateFiles({ input: folder, truth: labels })
  if (!scored) return undefined
  const rising = scored.sweep.toReversed()
  const curveOf = (name: 'precision' | 'recall'): ReportCurve =>
    rising.map((point) => [point.threshold, point[name]] as const)
  return {
    precision: curveOf('precision'),
    recall: curveOf('recall'),
    f1: scored.best?.f1 ?? 0,
    best: scored.best?.threshold,
  }
}
