// Measures a clustering, and the scores of pairs where they are there, beside the truth, all from files.
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import type { LineChart } from '../../roles/resolution/chart/chart.ts'
import { renderLineChartSvg } from '../../roles/resolution/chart/svg.ts'
import { renderLineChartText } from '../../roles/resolution/chart/text.ts'
import {
  countTruePairs,
  measureBCubed,
  measurePairs,
  measureWholeClusters,
  type PrecisionRecall,
  toPrecisionRecall,
} from '../../roles/resolution/engine/evaluate.ts'
import {
  type ScoredPairs,
  sweepThresholds,
  type ThresholdCurve,
  type ThresholdPoint,
} from '../../roles/resolution/engine/threshold-sweep.ts'
import { resultKinds } from '../../runtime/resolution/read-records.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { readDataFile } from './data-file.ts'
import { numberTexts, ResolvedRecordIndex, readColumnTexts, readTrueClusters } from './resolved-record-index.ts'
import { writeFileAtomically, writeResultTable } from './result-file.ts'

export type Evaluation = {
  readonly records: number
  readonly entities_found: number
  readonly entities_true: number
  /** Over all pairs of records within clusters. */
  readonly pairs: PrecisionRecall
  /** Over clusters that have exactly the records of a true one. */
  readonly clusters: PrecisionRecall
  /** Over records: what each has in common with its cluster. */
  readonly b_cubed: PrecisionRecall
  readonly scored?: {
    /** Over the pairs that the run compared and has as linked, without what follows from those. */
    readonly linked: PrecisionRecall
    /** The part of the true pairs that were compared; where the file has not all compared pairs, it is at least this. */
    readonly blocking_recall: number
    readonly has_all_pairs: boolean
    readonly best: ThresholdPoint | undefined
    readonly sweep: readonly ThresholdPoint[]
  }
}

export type EvaluationOptions = {
  /** What `resolve run` has written: its folder, or the file of clusters alone. */
  readonly found: string
  readonly truth: string
  /** A file of scored pairs: `id_l`, `id_r`, `score`, and `linked` where that is known. Unless said, the one in the folder. */
  readonly pairs?: string | undefined
  /** A new or empty folder for the figures and their chart. */
  readonly out?: string | undefined
}

const acceptAllColumns = () => true

/** Throws `OfflineCommandError` (1), or (3) for a folder in use. */
export async function evaluateFiles({ found, truth, pairs, out }: EvaluationOptions): Promise<Evaluation> {
  const isFolder = runAsInvoker(() => statSync(found, { throwIfNoEntry: false })?.isDirectory() ?? false)
  const file = isFolder ? requireResultFile(found, 'clusters') : found
  const clusters = await readDataFile(file, acceptAllColumns)
  const index = new ResolvedRecordIndex(clusters, file)
  const foundOf = numberTexts(readColumnTexts(clusters, 'cluster', file))
  const trueOf = readTrueClusters(await readDataFile(truth, acceptAllColumns), index, truth)
  const scored = pairs ?? (isFolder ? findResultFile(found, 'pairs') : undefined)
  const evaluation = {
    records: index.rows,
    entities_found: new Set(foundOf).size,
    entities_true: new Set(trueOf).size,
    pairs: measurePairs(foundOf, trueOf),
    clusters: measureWholeClusters(foundOf, trueOf),
    b_cubed: measureBCubed(foundOf, trueOf),
    ...(scored ? { scored: await measureScoredPairs(scored, index, trueOf, isFolder && hasAllPairs(found)) } : {}),
  }
  if (out !== undefined) await writeEvaluation(out, evaluation)
  return evaluation
}

function findResultFile(folder: string, name: string): string | undefined {
  return resultKinds.map((kind) => join(folder, `${name}.${kind}`)).find((file) => runAsInvoker(() => existsSync(file)))
}

function requireResultFile(folder: string, name: string): string {
  const file = findResultFile(folder, name)
  if (file) return file
  throw new OfflineCommandError(1, `${folder} has no ${name}.csv, .jsonl or .parquet: no run was completed there`)
}

/** What the run says of itself; of a folder that others have filled nothing is known. */
function hasAllPairs(folder: string): boolean {
  try {
    return JSON.parse(runAsInvoker(() => readFileSync(join(folder, 'run.json'), 'utf8'))).pairs === 'all'
  } catch {
    return false
  }
}

async function measureScoredPairs(file: string, index: ResolvedRecordIndex, truth: Int32Array, has_all_pairs: boolean) {
  const source = await readDataFile(file, acceptAllColumns)
  const lefts = index.rowsOf(source, 'id_l', 'source_l', file)
  const rights = index.rowsOf(source, 'id_r', 'source_r', file)
  const scores = Float64Array.from(readColumnTexts(source, 'score', file), (text, at) => {
    if (text !== '' && Number.isFinite(Number(text))) return Number(text)
    throw new OfflineCommandError(
      1,
      `${file}: pair ${at + 1} has the score ${JSON.stringify(text)}, which is not a number`,
    )
  })
  refuseDuplicatePairs({ lefts, rights, scores }, index.rows, file)
  const isLinked = source.names.includes('linked')
    ? readColumnTexts(source, 'linked', file).map((text) => text === 'true')
    : []
  const { points, best, recall } = sweepThresholds({ lefts, rights, scores }, truth)
  return {
    linked: measureLinkedPairs({ lefts, rights, isLinked }, truth),
    blocking_recall: recall,
    has_all_pairs,
    best,
    sweep: points,
  }
}

function refuseDuplicatePairs({ lefts, rights }: ScoredPairs, rows: number, file: string): void {
  const keys = Float64Array.from(lefts, (left, at) => {
    const right = rights[at] ?? 0
    return Math.min(left, right) * rows + Math.max(left, right)
  }).sort()
  if (keys.some((key, at) => key === keys[at + 1])) throw new OfflineCommandError(1, `${file} contains a pair twice`)
}

type LinkedPairRows = { lefts: Int32Array; rights: Int32Array; isLinked: readonly boolean[] }

function measureLinkedPairs({ lefts, rights, isLinked }: LinkedPairRows, truth: Int32Array): PrecisionRecall {
  let [linked, right] = [0, 0]
  for (const [pair, is] of isLinked.entries()) {
    if (!is) continue
    linked++
    if (truth[lefts[pair] ?? 0] === truth[rights[pair] ?? 0]) right++
  }
  return toPrecisionRecall(right / linked, right / countTruePairs(truth))
}

async function writeEvaluation(out: string, evaluation: Evaluation): Promise<void> {
  runAsInvoker(() => {
    mkdirSync(out, { recursive: true, mode: 0o700 })
  })
  const { scored } = evaluation
  if (scored) {
    const names = ['threshold', 'pairs', 'precision', 'recall', 'f1'] as const
    await writeResultTable(
      out,
      {
        name: 'sweep',
        columns: names.map((name) => ({ name, type: name === 'pairs' ? 'whole' : 'real' })),
        rows: scored.sweep.map((point) => names.map((name) => point[name])),
      },
      'csv',
    )
    writeFileAtomically(join(out, 'sweep.svg'), (write) =>
      write(Buffer.from(renderLineChartSvg(buildSweepChart(scored)))),
    )
  }
  const text = `${JSON.stringify(evaluation, undefined, 2)}\n`
  writeFileAtomically(join(out, 'evaluation.json'), (write) => write(Buffer.from(text)))
}

/** The same for a terminal of so many columns. */
export function formatSweep(scored: ThresholdSweep, width: number): string {
  return renderLineChartText(buildSweepChart(scored), Math.min(100, width))
}

type ThresholdSweep = { readonly sweep: ThresholdCurve['points']; readonly best: ThresholdCurve['best'] }

/** Precision, recall and F1 over the threshold, and where F1 is best. */
function buildSweepChart({ sweep: points, best }: ThresholdSweep): LineChart {
  const rising = points.toReversed()
  const [from, to] = [rising[0]?.threshold ?? 0, rising.at(-1)?.threshold ?? 1]
  const series = (['precision', 'recall', 'f1'] as const).map((name) => ({
    name,
    points: rising.map((point) => [point.threshold, point[name]] as const),
  }))
  return {
    title: 'pairs by threshold',
    x: { label: 'score', from, to: to > from ? to : from + 1 },
    y: { label: 'measure', from: 0, to: 1 },
    series,
    marks: best ? [{ at: best.threshold, label: `F1 ${best.f1.toFixed(3)}` }] : [],
  }
}
