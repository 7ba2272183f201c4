// Measures entity resolution on labelled public data: how right it is with no label, and how long it takes beside a peer.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ResultQuality } from '../../daemon/roles/resolution/fusion-run/result-quality.ts'
import { computeMedian, type Figure } from '../support/bench/figure.ts'
import { generateHouseholds } from '../support/resolution/generate-households.ts'
import { type GeneratedOffers, generateOffers } from '../support/resolution/generate-offers.ts'
import { generatePeople } from '../support/resolution/generate-people.ts'
import { generateRegister } from '../support/resolution/generate-register.ts'
import { generateWorldPeople } from '../support/resolution/generate-world-names.ts'

const executable = path.resolve(import.meta.dirname, '../../dist/platform')
const rounds = 3

type BenchDataSet = {
  readonly name: string
  /** A shipped lens; without one, the lens that `lens init` proposes for the files. */
  readonly lens?: string
  readonly columns?: readonly string[]
  /** Least F1 over pairs, and the part of the peer's time that it may take. */
  readonly f1?: number
  readonly part?: number
}

/** Labelled public data, and parts of it. */
export const dataSets: readonly BenchDataSet[] = [
  { name: 'febrl3', lens: 'persons', f1: 0.999, part: 1 / 3 },
  { name: 'fake_1000', lens: 'persons', f1: 0.98, part: 1 / 5 },
  { name: 'historical_50k', lens: 'persons', columns: ['postcode=postcode_fake'], f1: 0.94, part: 1 / 2 },
  { name: 'dblp_acm', lens: 'bibliography', f1: 0.99, part: 1 / 5 },
  { name: 'abt_buy', lens: 'products', f1: 0.964, part: 1 / 4 },
  // Parts of the same data, in which matches are rare or within one table.
  { name: 'febrl3_rare', lens: 'persons', f1: 0.99 },
  { name: 'fake_rare', lens: 'persons', f1: 0.848 },
  { name: 'fake_three', lens: 'persons', f1: 0.98 },
  { name: 'historical_rare', lens: 'persons', columns: ['postcode=postcode_fake'], f1: 0.79 },
  { name: 'historical_pairs', lens: 'persons', columns: ['postcode=postcode_fake'], f1: 0.865 },
  { name: 'historical_three', lens: 'persons', columns: ['postcode=postcode_fake'], f1: 0.921 },
  { name: 'dblp_acm_half', lens: 'bibliography', f1: 0.984 },
  { name: 'dblp_acm_one', lens: 'bibliography', f1: 0.976 },
  { name: 'dblp_acm_one_tenth', lens: 'bibliography', f1: 0.885 },
  { name: 'abt_buy_half', lens: 'products', f1: 0.907 },
  { name: 'abt_buy_fifth', lens: 'products', f1: 0.955 },
  { name: 'abt_buy_one', lens: 'products', f1: 0.841 },
  { name: 'abt_buy_one_tenth', lens: 'products', f1: 0.5 },
  { name: 'imdb_tmdb', f1: 0.91 },
  { name: 'imdb_tvdb', f1: 0.76 },
  { name: 'imdb_dbpedia', f1: 0.62 },
]

/** Data without a match, and the records in clusters: the right number is 0. */
const unmatched = { name: 'febrl3_none', lens: 'persons' }

/**
 * RESOLUTION_DATA names the folder with a folder for each data set, unpacked: `records.csv`, or `a.csv` and `b.csv`, and the truth.
 * Folders of other names are measured with the lens that `lens init` proposes, without a goal for their F1.
 * SPLINK names a command that takes a data set's name and prints a JSON line with `total_s`; without it no peer is measured.
 */
export async function bench(report: (figure: Figure) => void): Promise<void> {
  const folder = process.env.RESOLUTION_DATA
  if (folder === undefined) throw new Error('RESOLUTION_DATA must name the folder of the labelled data')
  const estimated: EstimateError[] = []
  for (const data of [...dataSets, ...listFurtherSets(folder)]) {
    const from = path.join(folder, data.name)
    if (existsSync(from)) estimated.push(measureDataSet(report, data, from))
    else process.stderr.write(`SKIPPED: ${data.name}: ${from} is not there\n`)
  }
  estimated.push(...measureGenerated(report))
  const errors = estimated.filter((error) => error !== undefined)
  for (const measure of ['precision', 'recall'] as const) {
    const near = errors.filter((error) => Math.abs(error[measure]) <= max_estimate_error).length
    const figure = `${measure} within ${max_estimate_error}, of ${errors.length} tables`
    report({ figure, value: near / errors.length, unit: '', atLeast: 0.9 })
  }
  const from = path.join(folder, unmatched.name)
  if (existsSync(from)) measureUnmatched(report, from)
}

function listFurtherSets(folder: string): BenchDataSet[] {
  const known = new Set([...dataSets, unmatched].map(({ name }) => name))
  const found = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const names = found.map(({ name }) => name).filter((name) => !known.has(name))
  return names.sort().map((name) => ({ name }))
}

/** How far an estimate lies above the truth; undefined for a result without links, which has no estimate. */
type EstimateError = Readonly<Record<'precision' | 'recall', number>> | undefined
const max_estimate_error = 0.1

function measureDataSet(report: (figure: Figure) => void, data: BenchDataSet, from: string): EstimateError {
  const seconds: number[] = []
  const peers: number[] = []
  let found = { precision: 0, recall: 0, f1: 0 }
  let quality: ResultQuality | undefined
  for (let round = 0; round < (data.part === undefined ? 1 : rounds); round++) {
    const out = mkdtempSync(path.join(tmpdir(), 'bench-resolution-'))
    seconds.push(measureResolve(data, from, path.join(out, 'found')))
    const peer = data.part === undefined ? undefined : measurePeer(data.name)
    if (peer !== undefined) peers.push(peer)
    found = measureQuality(from, path.join(out, 'found'))
    quality = JSON.parse(readFileSync(path.join(out, 'found', 'run.json'), 'utf8')).quality
    rmSync(out, { recursive: true })
  }
  const goal = data.f1 === undefined ? {} : { atLeast: data.f1 }
  report({ figure: `${data.name} F1`, value: found.f1, unit: '', ...goal })
  const error = reportEstimates(report, data.name, found, quality)
  if (peers.length === 0) report({ figure: `${data.name} time`, value: computeMedian(seconds), unit: 's' })
  else reportBesidePeer(report, data, computeMedian(seconds), computeMedian(peers))
  return error
}

function reportEstimates(
  report: (figure: Figure) => void,
  name: string,
  found: Readonly<Record<'precision' | 'recall', number>>,
  quality: ResultQuality | undefined,
): EstimateError {
  const { precision, recall } = quality ?? {}
  if (!precision || !recall) return undefined
  report({ figure: `${name} precision estimated`, value: precision.value, unit: '', beside: found.precision })
  report({ figure: `${name} recall estimated`, value: recall.value, unit: '', beside: found.recall })
  return { precision: precision.value - found.precision, recall: recall.value - found.recall }
}

/** Records of the project's own, of which the truth is known. */
const generated: readonly (BenchDataSet & { readonly generate: () => GeneratedOffers })[] = [
  // Families of variants, of which few, some or most have a duplicate.
  { name: 'offers_rare', lens: 'products', f1: 0.6, generate: () => generateOffers(3_000, 0.06, 1) },
  { name: 'offers_pairs', lens: 'products', f1: 0.75, generate: () => generateOffers(3_000, 0.8, 1) },
  { name: 'offers_third', lens: 'products', f1: 0.75, generate: () => generateOffers(2_000, 0.33, 9) },
  { name: 'people_three', lens: 'persons', f1: 0.98, generate: () => generatePeople(1_500, 3) },
  { name: 'people_rare', lens: 'persons', f1: 0.98, generate: () => generatePeople(1_500, 4, 1) },
  { name: 'world_people', lens: 'persons', f1: 0.82, generate: () => generateWorldPeople(1_000, 7) },
  { name: 'register', f1: 0.88, generate: () => generateRegister(9_000, 1) },
  // Relatives that no field but one tells apart: no figure of a result shows that they are not one person.
  { name: 'households', generate: () => generateHouseholds(400, 0.1, 1) },
  { name: 'households_half', generate: () => generateHouseholds(400, 0.5, 2) },
]

function measureGenerated(report: (figure: Figure) => void): EstimateError[] {
  return generated.map(({ generate, ...data }) => {
    const from = mkdtempSync(path.join(tmpdir(), `bench-${data.name}-`))
    const { csv, truth } = generate()
    writeFileSync(path.join(from, 'records.csv'), csv)
    writeFileSync(
      path.join(from, 'truth_clusters.csv'),
      ['id,cluster', ...truth.map((row) => row.join(','))].join('\n'),
    )
    const error = measureDataSet(report, data, from)
    rmSync(from, { recursive: true })
    return error
  })
}

function measureUnmatched(report: (figure: Figure) => void, from: string): void {
  const out = mkdtempSync(path.join(tmpdir(), 'bench-resolution-'))
  measureResolve({ ...unmatched, f1: 0 }, from, path.join(out, 'found'))
  const { records_in_clusters } = JSON.parse(readFileSync(path.join(out, 'found', 'run.json'), 'utf8'))
  rmSync(out, { recursive: true })
  report({ figure: `${unmatched.name} in clusters`, value: records_in_clusters, unit: '', atMost: 0 })
}

function reportBesidePeer(
  report: (figure: Figure) => void,
  { name, part = 1 }: BenchDataSet,
  seconds: number,
  peer: number,
): void {
  report({ figure: `${name} time`, value: seconds, unit: 's', beside: Number(peer.toPrecision(3)) })
  report({ figure: `${name} of peer`, value: seconds / peer, unit: '', atMost: Number(part.toFixed(3)) })
}

function measureResolve({ lens: shipped, columns = [] }: BenchDataSet, from: string, out: string): number {
  const files = readdirSync(from).filter((file) => /^(records|a|b)\.csv$/.test(file))
  const data = files.sort().map((file) => path.join(from, file))
  if (files.length === 0) throw new Error(`${from} has no records: unpack its files`)
  const lens = shipped ?? proposeLens(data, `${out}.yaml`)
  const renamed = columns.length > 0 ? ['--columns', ...columns] : []
  const started = performance.now()
  execFileSync(executable, [
    'resolve',
    'run',
    '--lens',
    lens,
    '--data',
    ...data,
    ...renamed,
    '--out',
    out,
    '--accept-poor',
  ])
  return (performance.now() - started) / 1_000
}

function proposeLens(data: readonly string[], file: string): string {
  execFileSync(executable, ['resolve', 'lens', 'init', '--data', ...data, '--out', file])
  return file
}

function measureQuality(from: string, out: string): Readonly<Record<'precision' | 'recall' | 'f1', number>> {
  const truth = ['truth_clusters.csv', 'truth_pairs.csv']
    .map((file) => path.join(from, file))
    .find((file) => existsSync(file))
  if (truth === undefined) throw new Error(`${from} has no truth`)
  const words = ['resolve', 'evaluate', path.join(out, 'clusters.csv'), '--truth', truth, '--json']
  return JSON.parse(execFileSync(executable, words, { encoding: 'utf8' })).pairs
}

function measurePeer(name: string): number | undefined {
  const [program, ...words] = process.env.SPLINK?.split(' ') ?? []
  if (!program) return undefined
  const output = execFileSync(program, [...words, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  return JSON.parse(output.split('\n').find((line) => line.startsWith('{')) ?? '').total_s
}
