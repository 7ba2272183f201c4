// Measures entity resolution on labelled public data: how right it is with no label, and how long it takes beside a peer.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { computeMedian, type Figure } from '../support/bench/figure.ts'

const executable = path.resolve(import.meta.dirname, '../../dist/platform')
const rounds = 3

type BenchDataSet = {
  readonly name: string
  readonly lens: string
  readonly columns?: readonly string[]
  /** F1 over pairs, and the part of the peer's time that it may take. */
  readonly f1: number
  readonly part: number
}

const dataSets: readonly BenchDataSet[] = [
  { name: 'febrl3', lens: 'persons', f1: 0.999, part: 1 / 3 },
  { name: 'fake_1000', lens: 'persons', f1: 0.98, part: 1 / 5 },
  { name: 'historical_50k', lens: 'persons', columns: ['postcode=postcode_fake'], f1: 0.94, part: 1 / 2 },
  { name: 'dblp_acm', lens: 'bibliography', f1: 0.99, part: 1 / 5 },
  { name: 'abt_buy', lens: 'products', f1: 0.96, part: 1 / 4 },
]

/**
 * RESOLUTION_DATA names the folder with a folder for each data set, unpacked: `records.csv`, or `a.csv` and `b.csv`, and the truth.
 * SPLINK names a command that takes a data set's name and prints a JSON line with `total_s`; without it no peer is measured.
 */
export async function bench(report: (figure: Figure) => void): Promise<void> {
  const folder = process.env.RESOLUTION_DATA
  if (folder === undefined) throw new Error('RESOLUTION_DATA must name the folder of the labelled data')
  for (const data of dataSets) {
    const from = path.join(folder, data.name)
    if (!existsSync(from)) {
      process.stderr.write(`SKIPPED: ${data.name}: ${from} is not there\n`)
      continue
    }
    const seconds: number[] = []
    const peers: number[] = []
    let f1 = 0
    for (let round = 0; round < rounds; round++) {
      const out = mkdtempSync(path.join(tmpdir(), 'bench-resolution-'))
      seconds.push(measureResolve(data, from, path.join(out, 'found')))
      const peer = measurePeer(data.name)
      if (peer !== undefined) peers.push(peer)
      f1 = measureQuality(from, path.join(out, 'found'))
      rmSync(out, { recursive: true })
    }
    report({ figure: `${data.name} F1`, value: f1, unit: '', atLeast: data.f1 })
    if (peers.length === 0) report({ figure: `${data.name} time`, value: computeMedian(seconds), unit: 's' })
    else reportBesidePeer(report, data, computeMedian(seconds), computeMedian(peers))
  }
}

function reportBesidePeer(
  report: (figure: Figure) => void,
  { name, part }: BenchDataSet,
  seconds: number,
  peer: number,
): void {
  report({ figure: `${name} time`, value: seconds, unit: 's', beside: Number(peer.toPrecision(3)) })
  report({ figure: `${name} of peer`, value: seconds / peer, unit: '', atMost: Number(part.toFixed(3)) })
}

function measureResolve({ lens, columns = [] }: BenchDataSet, from: string, out: string): number {
  const files = readdirSync(from).filter((file) => /^(records|a|b)\.csv$/.test(file))
  const data = files.sort().map((file) => path.join(from, file))
  if (files.length === 0) throw new Error(`${from} has no records: unpack its files`)
  const renamed = columns.length > 0 ? ['--columns', ...columns] : []
  const started = performance.now()
  execFileSync(executable, ['resolve', 'run', '--lens', lens, '--data', ...data, ...renamed, '--out', out])
  return (performance.now() - started) / 1_000
}

function measureQuality(from: string, out: string): number {
  const truth = ['truth_clusters.csv', 'truth_pairs.csv']
    .map((file) => path.join(from, file))
    .find((file) => existsSync(file))
  if (truth === undefined) throw new Error(`${from} has no truth`)
  const words = ['resolve', 'evaluate', path.join(out, 'clusters.csv'), '--truth', truth, '--json']
  return JSON.parse(execFileSync(executable, words, { encoding: 'utf8' })).pairs.f1
}

function measurePeer(name: string): number | undefined {
  const [program, ...words] = process.env.SPLINK?.split(' ') ?? []
  if (!program) return undefined
  const output = execFileSync(program, [...words, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  return JSON.parse(output.split('\n').find((line) => line.startsWith('{')) ?? '').total_s
}
