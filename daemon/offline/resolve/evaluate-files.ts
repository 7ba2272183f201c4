// Measures a clustering against known truth, and the scores of pairs if there are any, all from files.
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { resultKinds } from '../../../adapters/platform/data-file/data-kinds.ts'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import { parseJson } from '../../kernel/encoding/parse-json.ts'
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
import { OfflineCommandError } from '../offline-command-error.ts'
import { readInputFile } from '../read-input-file.ts'
import { readDataFile } from './data-file.ts'
import { run_model_format, run_model_name } from './folder/run-model.ts'
import { numberTexts, ResolvedRecordIndex, readColumnTexts, readTrueClusters } from './resolved-record-index.ts'
import { writeFileAtomically, writeResultTable } from './result-file.ts'

export type Evaluation = {
  readonly records: number
  readonly entities_found: number
  readonly entities_true: number
  /** Over all pairs of records within clusters. */
  readonly pairs: PrecisionRecall
  /** Over clusters with exactly the records of a true cluster. */
  readonly clusters: PrecisionRecall
  /** Over records: the overlap of the found and the true cluster of each. */
  readonly b_cubed: PrecisionRecall
  readonly scored?: {
    /** Over the compared pairs that the run linked, without transitive pairs. */
    readonly linked: PrecisionRecall
    /** Share of the true pairs that were compared; a lower bound if the file does not have all compared pairs. */
    readonly blocking_recall: number
    readonly has_all_pairs: boolean
    /** Unit of scores and thresholds; absent for a file of pairs that no run names. */
    readonly unit?: ScoreUnitName
    readonly best: ThresholdPoint | undefined
    readonly sweep: readonly ThresholdPoint[]
  }
}

export type EvaluationOptions = {
  /** Result of `resolve run`: its folder, or its file of clusters. */
  readonly input: string
  readonly truth: string
  /** File of scored pairs: `id_l`, `id_r`, `score`, and optionally `linked` (default: the one in the folder). */
  readonly pairs?: string | undefined
  /** New or empty folder for the figures and their chart. */
  readonly out?: string | undefined
}

const acceptAllColumns = () => true

/** Measures the files. Throws `OfflineCommandError`: 1 for unusable data, 3 for a folder in use. */
export async function evaluateFiles({ input, truth, pairs, out }: EvaluationOptions): Promise<Evaluation> {
  const isFolder = runAsInvoker(() => statSync(input, { throwIfNoEntry: false })?.isDirectory() ?? false)
  const file = isFolder ? requireResultFile(input, 'clusters') : input
  const clusters = await readDataFile(file, acceptAllColumns)
  const index = new ResolvedRecordIndex(clusters, file)
  const foundClusters = numberTexts(readColumnTexts(clusters, 'cluster', file))
  const trueClusters = readTrueClusters(await readDataFile(truth, acceptAllColumns), index, truth)
  const pairFile = pairs ?? (isFolder ? findResultFile(input, 'pairs') : undefined)
  const evaluation = {
    records: index.rows,
    entities_found: new Set(foundClusters).size,
    entities_true: new Set(trueClusters).size,
    pairs: measurePairs(foundClusters, trueClusters),
    clusters: measureWholeClusters(foundClusters, trueClusters),
    b_cubed: measureBCubed(foundClusters, trueClusters),
    ...(pairFile
      ? {
          scored: await measureScoredPairs(
            pairFile,
            index,
            trueClusters,
            describePairs(pairs === undefined ? input : undefined),
          ),
        }
      : {}),
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

type ScoreUnitName = 'bits' | 'likeness'
type PairFacts = { readonly has_all_pairs: boolean; readonly unit?: ScoreUnitName }

/** What a run says about its file of pairs; nothing without a folder or its documents. */
function describePairs(folder: string | undefined): PairFacts {
  const read = <S extends z.ZodType>(name: string, schema: S): z.output<S> | undefined => {
    if (folder === undefined) return undefined
    try {
      return schema.safeParse(parseJson(readInputFile(join(folder, name)))).data
    } catch {
      return undefined
    }
  }
  const has_all_pairs = read('run.json', z.looseObject({ pairs: z.literal('all') })) !== undefined
  const shape = z.looseObject({ format: z.literal(run_model_format), scale: z.enum(['log_odds', 'likeness']) })
  const model = read(run_model_name, shape)
  return { has_all_pairs, ...(model && { unit: model.scale === 'log_odds' ? 'bits' : 'likeness' }) }
}

async function measureScoredPairs(file: string, index: ResolvedRecordIndex, truth: Int32Array, facts: PairFacts) {
  const source = await readDataFile(file, acceptAllColumns)
  const lefts = index.rowsOf(source, 'id_l', 'source_l', file)
  const rights = index.rowsOf(source, 'id_r', 'source_r', file)
  const scores = Float64Array.from(readColumnTexts(source, 'score', file), (text, index) => {
    if (text !== '' && Number.isFinite(Number(text))) return Number(text)
    throw new OfflineCommandError(
      1,
      `${file}: pair ${index + 1} has the score ${JSON.stringify(text)}, which is not a number`,
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
    ...facts,
    best,
    sweep: points,
  }
}

function refuseDuplicatePairs({ lefts, rights }: ScoredPairs, rows: number, file: string): void {
  const keys = Float64Array.from(lefts, (left, index) => {
    const right = rights[index] ?? 0
    return Math.min(left, right) * rows + Math.max(left, right)
  }).sort()
  if (keys.some((key, index) => key === keys[index + 1]))
    throw new OfflineCommandError(1, `${file} contains a pair twice`)
}

type LinkedPairRows = { lefts: Int32Array; rights: Int32Array; isLinked: readonly boolean[] }

function measureLinkedPairs({ lefts, rights, isLinked }: LinkedPairRows, truth: Int32Array): PrecisionRecall {
  let [linked_count, correct_count] = [0, 0]
  for (const [pair, isPairLinked] of isLinked.entries()) {
    if (!isPairLinked) continue
    linked_count++
    if (truth[lefts[pair] ?? 0] === truth[rights[pair] ?? 0]) correct_count++
  }
  return toPrecisionRecall(correct_count / linked_count, correct_count / countTruePairs(truth))
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
        columns: names.map((name) => ({ name, type: name === 'pairs' ? 'int32' : 'double', required: true })),
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

/** Formats the sweep for a terminal of `width` columns. */
export function formatSweep(scored: ThresholdSweep, width: number): string {
  return renderLineChartText(buildSweepChart(scored), Math.min(100, width))
}

type ThresholdSweep = {
  readonly sweep: ThresholdCurve['points']
  readonly best: ThresholdCurve['best']
  readonly unit?: ScoreUnitName | undefined
}

const unitLabels = { bits: 'score in bits', likeness: 'score: text similarity' } as const

/** Precision, recall and F1 by threshold, with a mark at the best F1. */
function buildSweepChart({ sweep: points, best, unit }: ThresholdSweep): LineChart {
  const rising = points.toReversed()
  const [min, max] = [rising[0]?.threshold ?? 0, rising.at(-1)?.threshold ?? 1]
  const series = (['precision', 'recall', 'f1'] as const).map((name) => ({
    name,
    points: rising.map((point) => [point.threshold, point[name]] as const),
  }))
  return {
    title: 'pairs by threshold',
    x: { label: unit === undefined ? 'score' : unitLabels[unit], from: min, to: max > min ? max : min + 1 },
    y: { label: 'measure', from: 0, to: 1 },
    series,
    marks: best ? [{ at: best.threshold, label: `F1 ${best.f1.toFixed(3)}` }] : [],
  }
}
