// Measures what a hundred labels do to a result: pairs chosen as `resolve label` chooses them, answered by the truth of labelled
// data, and a run with the lens that `resolve lens train --labels` then writes.
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readDataFile } from '../../daemon/offline/resolve/data-file.ts'
import { evaluateFiles } from '../../daemon/offline/resolve/evaluate-files.ts'
import { openLabelSession } from '../../daemon/offline/resolve/label/label-session.ts'
import { readLens, withColumns } from '../../daemon/offline/resolve/lens/lens-file.ts'
import { proposeLens } from '../../daemon/offline/resolve/lens/lens-proposal.ts'
import { trainLens } from '../../daemon/offline/resolve/lens/lens-training.ts'
import { resolveFiles } from '../../daemon/offline/resolve/resolve-files.ts'
import {
  ResolvedRecordIndex,
  readColumnTexts,
  readTrueClusters,
} from '../../daemon/offline/resolve/resolved-record-index.ts'
import type { Figure } from '../support/bench/figure.ts'
import { generateHouseholds } from '../support/resolution/generate-households.ts'
import { generateOffers } from '../support/resolution/generate-offers.ts'
import { dataSets } from './resolution.ts'

const wanted_labels = 100
const seed = 1
/** A result may lose as much by chance: the labels that are set aside know F1 no better. */
const max_loss = 0.005
const ignore = () => undefined

type LabelledData = {
  readonly name: string
  /** A shipped lens, or the types of the fields; without one, `lens init` proposes it. */
  readonly lens?: string | Readonly<Record<string, string>>
  readonly columns?: readonly string[]
}

type Truth = readonly (readonly [id: string, cluster: number])[]

/**
 * RESOLUTION_DATA names the folder of the labelled data, as for `scripts/bench resolution`; BENCH_SETS names some sets of it,
 * with commas between them (default: all).
 */
export async function bench(report: (figure: Figure) => void): Promise<void> {
  const folder = process.env.RESOLUTION_DATA
  if (folder === undefined) throw new Error('RESOLUTION_DATA must name the folder of the labelled data')
  const chosen = process.env.BENCH_SETS?.split(',')
  const isChosen = ({ name }: LabelledData) => chosen === undefined || chosen.includes(name)
  for (const data of dataSets.filter(isChosen)) {
    const from = path.join(folder, data.name)
    if (existsSync(from)) await measureLabels(report, data, from)
    else process.stderr.write(`SKIPPED: ${data.name}: ${from} is not there\n`)
  }
  for (const { csv, truth, ...data } of generateData().filter(isChosen)) {
    const from = mkdtempSync(path.join(tmpdir(), `bench-${data.name}-`))
    writeFileSync(path.join(from, 'records.csv'), csv)
    const lines = truth.map(([id, cluster]) => `${id},${cluster}\n`)
    writeFileSync(path.join(from, 'truth_clusters.csv'), ['id,cluster\n', ...lines].join(''))
    await measureLabels(report, data, from)
    rmSync(from, { recursive: true })
  }
}

function generateData(): (LabelledData & { readonly csv: string; readonly truth: Truth })[] {
  const lens = { given: 'name', surname: 'name', street: 'place', phone: 'code' }
  return [
    { name: 'households', lens, ...generateHouseholds(400, 0.1, 2) },
    { name: 'offers_rare', lens: 'products', ...generateOffers(3_000, 0.06, 1) },
    { name: 'offers_pairs', lens: 'products', ...generateOffers(3_000, 0.8, 1) },
  ]
}

async function measureLabels(report: (figure: Figure) => void, data: LabelledData, from: string): Promise<void> {
  const { name, columns = [] } = data
  const out = mkdtempSync(path.join(tmpdir(), 'bench-labels-'))
  const files = readdirSync(from).filter((file) => /^(records|a|b)\.csv$/.test(file))
  const paths = files.sort().map((file) => path.join(from, file))
  const truth = ['truth_clusters.csv', 'truth_pairs.csv']
    .map((file) => path.join(from, file))
    .find((file) => existsSync(file))
  if (truth === undefined || paths.length === 0) throw new Error(`${from} has no records or no truth: unpack its files`)
  const lens = await writeLens(data, paths, path.join(out, 'lens.yaml'))
  const run = async (reference: string, assigned: readonly string[], folder: string, known?: string) => {
    const lens_used = withColumns(readLens(reference), { columns: assigned })
    const request = { lens: lens_used, files: paths, out: folder, seed, acceptsPoor: true, labels: known }
    const { quality } = await resolveFiles(request, ignore)
    return { quality, ...(await evaluateFiles({ input: path.join(folder, 'clusters.csv'), truth })).pairs }
  }
  const before = await run(lens, columns, path.join(out, 'before'))
  const labels = path.join(out, 'labels.csv')
  const isMatch = await readTruth(path.join(out, 'before', 'clusters.csv'), truth)
  const used = await answerQuestions({ lens, columns, files: paths, labels, isMatch })
  const options = { lens, files: paths, columns: { columns }, reading: {}, labels, seed }
  const { text, training } = await trainLens(options, ignore)
  writeFileSync(path.join(out, 'trained.yaml'), text)
  const after = await run(path.join(out, 'trained.yaml'), [], path.join(out, 'after'), labels)
  report({ figure: `${name} labels`, value: used.answers, unit: '' })
  report({ figure: `${name} matches`, value: used.matches, unit: '' })
  report({ figure: `${name} followed`, value: training.labels?.moved ? 1 : 0, unit: '' })
  report({ figure: `${name} F1`, value: after.f1, unit: '', beside: before.f1, atLeast: before.f1 - max_loss })
  for (const measure of ['precision', 'recall'] as const) {
    const value = after.quality.by_labels?.[measure]?.value ?? Number.NaN
    report({ figure: `${name} ${measure} by labels`, value, unit: '', beside: after[measure] })
  }
  rmSync(out, { recursive: true })
}

/** Name of the lens, or its new file. */
async function writeLens({ lens }: LabelledData, files: readonly string[], file: string): Promise<string> {
  if (typeof lens === 'string') return lens
  const fields = Object.entries(lens ?? {}).map(([name, type]) => ({ name, type }))
  const text = lens
    ? JSON.stringify({ lens: 'own', version: '1.0.0', entity_type: 'person', fields })
    : (await proposeLens(files)).yaml
  writeFileSync(file, text)
  return file
}

type PairTruth = (left: { readonly id: string }, right: { readonly id: string }) => boolean

/** Ids are unique over all sources of a labelled set. */
async function readTruth(clusters: string, truth: string): Promise<PairTruth> {
  const resolved = await readDataFile(clusters, () => true)
  const index = new ResolvedRecordIndex(resolved, clusters)
  const trueClusters = readTrueClusters(await readDataFile(truth, () => true), index, truth)
  const clusterOf = new Map(readColumnTexts(resolved, 'id', clusters).map((id, row) => [id, trueClusters[row]]))
  return (left, right) => clusterOf.get(left.id) === clusterOf.get(right.id)
}

type QuestionSource = {
  readonly lens: string
  readonly columns: readonly string[]
  readonly files: readonly string[]
  readonly labels: string
  readonly isMatch: PairTruth
}

/** Answers every question of a session, as a person does who is always right. */
async function answerQuestions({ lens, columns, files, labels, isMatch }: QuestionSource) {
  const session = await openLabelSession(
    { lens: withColumns(readLens(lens), { columns }), files, reading: {}, seed, labels, wanted: wanted_labels },
    ignore,
  )
  try {
    for (let pair = session.current(); pair; pair = session.current())
      session.answer(isMatch(pair.left, pair.right) ? 'match' : 'no_match')
    const { matches, non_matches } = session.progress()
    return { matches, answers: matches + non_matches }
  } finally {
    session.close()
  }
}
