// Measures a clustering, and the scores of pairs where they are there, beside the truth, all from files.
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Lines } from '../../roles/resolution/chart/chart.ts'
import { linesAsSvg } from '../../roles/resolution/chart/svg.ts'
import { linesAsText } from '../../roles/resolution/chart/text.ts'
import {
  bCubed,
  pairQuality,
  type Quality,
  qualityOf,
  truePairs,
  wholeClusters,
} from '../../roles/resolution/engine/evaluate.ts'
import { type Point, type ScoredPairs, type Sweep, sweep } from '../../roles/resolution/engine/sweep.ts'
import { asInvoker } from '../acting.ts'
import { resultKinds } from '../resolution/read-records.ts'
import { readDataFile } from './data-file.ts'
import { Objection } from './objection.ts'
import { numbersOf, ResolvedRecords, textsOf, truthOf } from './resolved-records.ts'
import { writeTable, writeWhole } from './result-file.ts'

export type Evaluation = {
  readonly records: number
  readonly entities_found: number
  readonly entities_true: number
  /** Over all pairs of records within clusters. */
  readonly pairs: Quality
  /** Over clusters that have exactly the records of a true one. */
  readonly clusters: Quality
  /** Over records: what each has in common with its cluster. */
  readonly b_cubed: Quality
  readonly scored?: {
    /** Over the pairs that the run compared and has as linked, without what follows from those. */
    readonly linked: Quality
    /** The part of the true pairs that were compared; where the file has not all compared pairs, it is at least this. */
    readonly blocking_recall: number
    readonly has_all_pairs: boolean
    readonly best: Point | undefined
    readonly sweep: readonly Point[]
  }
}

export type Evaluated = {
  /** What `resolve run` has written: its folder, or the file of clusters alone. */
  readonly found: string
  readonly truth: string
  /** A file of scored pairs: `id_l`, `id_r`, `score`, and `linked` where that is known. Unless said, the one in the folder. */
  readonly pairs?: string | undefined
  /** A new or empty folder for the figures and their chart. */
  readonly out?: string | undefined
}

const all = () => true

/** Throws `Objection` (1), or (3) for a folder in use. */
export async function evaluateFiles({ found, truth, pairs, out }: Evaluated): Promise<Evaluation> {
  const isFolder = asInvoker(() => statSync(found, { throwIfNoEntry: false })?.isDirectory() ?? false)
  const file = isFolder ? needed(found, 'clusters') : found
  const clusters = await readDataFile(file, all)
  const index = new ResolvedRecords(clusters, file)
  const foundOf = numbersOf(textsOf(clusters, 'cluster', file))
  const trueOf = truthOf(await readDataFile(truth, all), index, truth)
  const scored = pairs ?? (isFolder ? inFolder(found, 'pairs') : undefined)
  const evaluation = {
    records: index.rows,
    entities_found: new Set(foundOf).size,
    entities_true: new Set(trueOf).size,
    pairs: pairQuality(foundOf, trueOf),
    clusters: wholeClusters(foundOf, trueOf),
    b_cubed: bCubed(foundOf, trueOf),
    ...(scored ? { scored: await scoredQuality(scored, index, trueOf, isFolder && hasAllPairs(found)) } : {}),
  }
  if (out !== undefined) await writeEvaluation(out, evaluation)
  return evaluation
}

function inFolder(folder: string, name: string): string | undefined {
  return resultKinds.map((kind) => join(folder, `${name}.${kind}`)).find((file) => asInvoker(() => existsSync(file)))
}

function needed(folder: string, name: string): string {
  const file = inFolder(folder, name)
  if (file) return file
  throw new Objection(1, `${folder} has no ${name}.csv, .jsonl or .parquet: no run has ended there`)
}

/** What the run says of itself; of a folder that others have filled nothing is known. */
function hasAllPairs(folder: string): boolean {
  try {
    return JSON.parse(asInvoker(() => readFileSync(join(folder, 'run.json'), 'utf8'))).pairs === 'all'
  } catch {
    return false
  }
}

async function scoredQuality(file: string, index: ResolvedRecords, truth: Int32Array, has_all_pairs: boolean) {
  const source = await readDataFile(file, all)
  const lefts = index.rowsOf(source, 'id_l', 'source_l', file)
  const rights = index.rowsOf(source, 'id_r', 'source_r', file)
  const scores = Float64Array.from(textsOf(source, 'score', file), (text, at) => {
    if (text !== '' && Number.isFinite(Number(text))) return Number(text)
    throw new Objection(1, `${file}: pair ${at + 1} has the score ${JSON.stringify(text)}, which is no number`)
  })
  refuseTwice({ lefts, rights, scores }, index.rows, file)
  const isLinked = source.names.includes('linked') ? textsOf(source, 'linked', file).map((text) => text === 'true') : []
  const { points, best, recall } = sweep({ lefts, rights, scores }, truth)
  return {
    linked: linkedQuality({ lefts, rights, isLinked }, truth),
    blocking_recall: recall,
    has_all_pairs,
    best,
    sweep: points,
  }
}

function refuseTwice({ lefts, rights }: ScoredPairs, rows: number, file: string): void {
  const keys = Float64Array.from(lefts, (left, at) => {
    const right = rights[at] ?? 0
    return Math.min(left, right) * rows + Math.max(left, right)
  }).sort()
  if (keys.some((key, at) => key === keys[at + 1])) throw new Objection(1, `${file} has a pair twice`)
}

type Linked = { lefts: Int32Array; rights: Int32Array; isLinked: readonly boolean[] }

function linkedQuality({ lefts, rights, isLinked }: Linked, truth: Int32Array): Quality {
  let [linked, right] = [0, 0]
  for (const [pair, is] of isLinked.entries()) {
    if (!is) continue
    linked++
    if (truth[lefts[pair] ?? 0] === truth[rights[pair] ?? 0]) right++
  }
  return qualityOf(right / linked, right / truePairs(truth))
}

async function writeEvaluation(out: string, evaluation: Evaluation): Promise<void> {
  asInvoker(() => {
    mkdirSync(out, { recursive: true, mode: 0o700 })
  })
  const { scored } = evaluation
  if (scored) {
    const names = ['threshold', 'pairs', 'precision', 'recall', 'f1'] as const
    await writeTable(
      out,
      {
        name: 'sweep',
        columns: names.map((name) => ({ name, type: name === 'pairs' ? 'whole' : 'real' })),
        rows: scored.sweep.map((point) => names.map((name) => point[name])),
      },
      'csv',
    )
    writeWhole(join(out, 'sweep.svg'), (write) => write(Buffer.from(linesAsSvg(sweepChart(scored)))))
  }
  const text = `${JSON.stringify(evaluation, undefined, 2)}\n`
  writeWhole(join(out, 'evaluation.json'), (write) => write(Buffer.from(text)))
}

/** The same for a terminal of so many columns. */
export function sweepAsText(scored: Swept, width: number): string {
  return linesAsText(sweepChart(scored), Math.min(100, width))
}

type Swept = { readonly sweep: Sweep['points']; readonly best: Sweep['best'] }

/** Precision, recall and F1 over the threshold, and where F1 is best. */
function sweepChart({ sweep: points, best }: Swept): Lines {
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
