// Measures the intake of file-drop: beside the least that could be done with the same files, over the ledger's size, of a backlog.
import { spawn } from 'node:child_process'
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { loadInLittleMemory } from '../../daemon/boot/host/heap-growth.ts'
import type { KeyAlgorithm } from '../../daemon/kernel/cryptography/signatures.ts'
import type { Peer } from '../../daemon/kernel/identity/peer.ts'
import { computeMedian, type Figure } from '../support/bench/figure.ts'
import { type FiledropReceiver, startFiledropReceiver } from '../support/filedrop/filedrop-receiver.ts'
import { fillLedger } from '../support/filedrop/fill-ledger.ts'
import {
  buildSenderPeer,
  createMessageGenerator,
  type MessageGenerator,
} from '../support/filedrop/message-generator.ts'

const pairedRuns = 5
const backlog = 50_000

type ReportFigure = (figure: Figure) => void

/**
 * Each message is taken in by the real carrier, journal and audit chain, and by a handler that stores it durably.
 * `beside`: reading both files and verifying the signature, one message after the other, on one core.
 */
export async function bench(report: ReportFigure): Promise<void> {
  await measureThroughput('Ed25519', 4_000, report, 40)
  await measureThroughput('ML-DSA-87', 1_000, report)
  await measureGrowth(report)
  await measureDrain(report)
}

async function measureThroughput(
  algorithm: KeyAlgorithm,
  count: number,
  report: ReportFigure,
  atLeast?: number,
): Promise<void> {
  await withFiledropBench(algorithm, async ({ mill, receiver }) => {
    const ours: number[] = []
    const bare: number[] = []
    for (let run = 0; run < pairedRuns; run++) {
      const stems = await mill.generate(receiver.folders.fresh, count)
      bare.push(measureBareRate(receiver.folders.fresh, stems, mill.key.jwk))
      ours.push(await measureIntakeRate(receiver, count))
    }
    const ratios = ours.map((rate, run) => rate / (bare[run] ?? Number.NaN))
    const goal = atLeast === undefined ? {} : { atLeast }
    report({
      figure: `intake, ${algorithm}`,
      value: computeMedian(ours),
      unit: '1/s',
      beside: Math.round(computeMedian(bare)),
    })
    report({ figure: `of bare, ${algorithm}`, value: computeMedian(ratios) * 100, unit: '%', ...goal })
  })
}

/** The same folder at 1 k and at 1 M entries of the ledger, each with its record in the audit chain. */
async function measureGrowth(report: ReportFigure): Promise<void> {
  await withFiledropBench('Ed25519', async ({ mill, receiver }) => {
    const costAt = async (entries: number) => {
      await fillLedger(receiver, mill, entries)
      const costs: number[] = []
      for (let run = 0; run < pairedRuns; run++) {
        await mill.generate(receiver.folders.fresh, 2_000)
        costs.push(1e6 / (await measureIntakeRate(receiver, 2_000)))
      }
      return computeMedian(costs)
    }
    const few = await costAt(1_000)
    const many = await costAt(1_000_000)
    report({ figure: 'cost at 1 k entries', value: few, unit: 'us' })
    report({ figure: 'cost at 1 M entries', value: many, unit: 'us' })
    report({ figure: 'growth to 1 M', value: many / few, unit: 'x', atMost: 1.5 })
  })
}

/** Two files a message. In a process of its own, whose memory is that of the intake alone. */
async function measureDrain(report: ReportFigure): Promise<void> {
  await withFolder(async (folder) => {
    const mill = await createMessageGenerator(path.join(folder, 'sender'), 'Ed25519')
    const fresh = path.join(folder, 'fresh')
    mkdirSync(fresh)
    for (let made = 0; made < backlog; made += 1_000) {
      await mill.generate(fresh, 1_000)
      reportProgress('making', made + 1_000)
    }
    writeFileSync(path.join(folder, 'peer.json'), JSON.stringify(buildSenderPeer(mill.key)))
    const { seconds, peak_mb } = await drainInChild(folder)
    report({ figure: 'backlog of 100 k files', value: seconds, unit: 's' })
    report({ figure: 'memory at that', value: peak_mb, unit: 'MB', atMost: 300 })
  })
}

type DrainResult = { readonly seconds: number; readonly peak_mb: number }

async function drainInChild(folder: string): Promise<DrainResult> {
  // The executable has the option of its own.
  const child = spawn(process.execPath, ['--max-semi-space-size=4', import.meta.filename, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const result = JSON.parse(line) as DrainResult | { taken: number }
    if ('seconds' in result) return result
    reportProgress('taken in', result.taken)
  }
  throw new Error('the receiver ended before the backlog did')
}

/** The work of the child: takes in every file of the folder, and reports its progress. */
async function drainInProcess(folder: string): Promise<void> {
  // As `serve` does.
  loadInLittleMemory()()
  const peer = JSON.parse(readFileSync(path.join(folder, 'peer.json'), 'utf8')) as Peer
  const receiver = await startFiledropReceiver(path.join(folder, 'receiver'), peer, path.join(folder, 'fresh'))
  const say = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`)
  let peak = 0
  const looking = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
    say({ taken: receiver.takenCount() })
  }, 200)
  const rate = await measureIntakeRate(receiver, backlog)
  clearInterval(looking)
  say({ seconds: backlog / rate, peak_mb: Math.max(peak, process.memoryUsage.rss()) / 1e6 } satisfies DrainResult)
  await receiver.close()
}

/** On a terminal a bar; else a line for each tenth. */
function reportProgress(what: string, done: number): void {
  if (process.stderr.isTTY) drawBar(what, done)
  else printTenth(what, done)
}

function drawBar(what: string, done: number): void {
  const filled = Math.round((done / backlog) * 40)
  const end = done >= backlog ? '\n' : ''
  process.stderr.write(`\r${what} [${'#'.repeat(filled)}${' '.repeat(40 - filled)}] ${done} of ${backlog}${end}`)
}

const printedTenths = new Map<string, number>()

function printTenth(what: string, done: number): void {
  const now = Math.floor((done / backlog) * 10)
  if (now <= (printedTenths.get(what) ?? 0)) return
  printedTenths.set(what, now)
  process.stderr.write(`${what}: ${done} of ${backlog}\n`)
}

/** Messages a second of which both files are read and the signature is verified, and nothing else. */
function measureBareRate(folder: string, stems: readonly string[], jwk: Readonly<Record<string, unknown>>): number {
  const key: KeyObject = createPublicKey({ key: jwk, format: 'jwk' })
  const began = performance.now()
  for (const stem of stems) {
    readFileSync(path.join(folder, `${stem}.body.json`))
    const { payload, signatures } = JSON.parse(readFileSync(path.join(folder, `${stem}.env.json`), 'utf8'))
    const [{ protected: header, signature }] = signatures
    const signed = Buffer.from(`${header}.${payload}`)
    if (!verify(null, signed, key, Buffer.from(signature, 'base64url'))) throw new Error(`${stem} does not verify`)
  }
  return (stems.length * 1_000) / (performance.now() - began)
}

async function measureIntakeRate({ transport, takenCount }: FiledropReceiver, count: number): Promise<number> {
  const before = takenCount()
  const began = performance.now()
  await transport.rescan()
  const seconds = (performance.now() - began) / 1_000
  if (takenCount() - before !== count) throw new Error(`${takenCount() - before} of ${count} messages were taken in`)
  return count / seconds
}

type FiledropBench = { readonly mill: MessageGenerator; readonly receiver: FiledropReceiver }

async function withFiledropBench(algorithm: KeyAlgorithm, act: (world: FiledropBench) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const mill = await createMessageGenerator(path.join(folder, 'sender'), algorithm)
    const receiver = await startFiledropReceiver(path.join(folder, 'receiver'), buildSenderPeer(mill.key))
    try {
      await act({ mill, receiver })
    } finally {
      await receiver.close()
    }
  })
}

async function withFolder(act: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-filedrop-'))
  try {
    await act(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (process.argv[1] === import.meta.filename) await drainInProcess(process.argv[2] ?? '')
