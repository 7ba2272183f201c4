// Measures the intake of file-drop: beside the least that could be done with the same files, over the ledger's size, of a backlog.
import { spawn } from 'node:child_process'
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { keepHeapSmall, letYoungSpaceGrow } from '../../daemon/boot/heap-growth.ts'
import type { KeyAlgorithm } from '../../daemon/kernel/keys.ts'
import type { Peer } from '../../daemon/kernel/peer.ts'
import { type Figure, median } from '../support/figure.ts'
import { filedropReceiver, type Receiver } from '../support/filedrop-receiver.ts'
import { fillLedger } from '../support/ledger-filling.ts'
import { type Mill, messageMill, peerWith } from '../support/message-mill.ts'

const pairedRuns = 5
const backlog = 50_000

type Report = (figure: Figure) => void

/**
 * Each message is taken in by the real carrier, journal and audit chain, and by a handler that stores it durably.
 * `beside`: reading both files and verifying the signature, one message after the other, on one core.
 */
export async function bench(report: Report): Promise<void> {
  await throughput('Ed25519', 4_000, report, 40)
  await throughput('ML-DSA-87', 1_000, report)
  await growth(report)
  await drain(report)
}

async function throughput(algorithm: KeyAlgorithm, count: number, report: Report, atLeast?: number): Promise<void> {
  await inWorld(algorithm, async ({ mill, receiver }) => {
    const ours: number[] = []
    const bare: number[] = []
    for (let run = 0; run < pairedRuns; run++) {
      const stems = await mill.grind(receiver.folders.fresh, count)
      bare.push(bareRate(receiver.folders.fresh, stems, mill.key.jwk))
      ours.push(await intakeRate(receiver, count))
    }
    const ratios = ours.map((rate, run) => rate / (bare[run] ?? Number.NaN))
    const goal = atLeast === undefined ? {} : { atLeast }
    report({ figure: `intake, ${algorithm}`, value: median(ours), unit: '1/s', beside: Math.round(median(bare)) })
    report({ figure: `of bare, ${algorithm}`, value: median(ratios) * 100, unit: '%', ...goal })
  })
}

/** The same folder at 1 k and at 1 M entries of the ledger, each with its record in the audit chain. */
async function growth(report: Report): Promise<void> {
  await inWorld('Ed25519', async ({ mill, receiver }) => {
    const costAt = async (entries: number) => {
      await fillLedger(receiver, mill, entries)
      const costs: number[] = []
      for (let run = 0; run < pairedRuns; run++) {
        await mill.grind(receiver.folders.fresh, 2_000)
        costs.push(1e6 / (await intakeRate(receiver, 2_000)))
      }
      return median(costs)
    }
    const few = await costAt(1_000)
    const many = await costAt(1_000_000)
    report({ figure: 'cost at 1 k entries', value: few, unit: 'us' })
    report({ figure: 'cost at 1 M entries', value: many, unit: 'us' })
    report({ figure: 'growth to 1 M', value: many / few, unit: 'x', atMost: 1.5 })
  })
}

/** Two files a message. In a process of its own, whose memory is that of the intake alone. */
async function drain(report: Report): Promise<void> {
  await inFolder(async (folder) => {
    const mill = await messageMill(path.join(folder, 'sender'), 'Ed25519')
    const fresh = path.join(folder, 'fresh')
    mkdirSync(fresh)
    for (let made = 0; made < backlog; made += 1_000) {
      await mill.grind(fresh, 1_000)
      progress('making', made + 1_000)
    }
    writeFileSync(path.join(folder, 'peer.json'), JSON.stringify(peerWith(mill.key)))
    const { seconds, peak_mb } = await drained(folder)
    report({ figure: 'backlog of 100 k files', value: seconds, unit: 's' })
    report({ figure: 'memory at that', value: peak_mb, unit: 'MB', atMost: 300 })
  })
}

type Drained = { readonly seconds: number; readonly peak_mb: number }

async function drained(folder: string): Promise<Drained> {
  // The executable has the option of its own.
  const child = spawn(process.execPath, ['--max-semi-space-size=4', import.meta.filename, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const told = JSON.parse(line) as Drained | { taken: number }
    if ('seconds' in told) return told
    progress('taken in', told.taken)
  }
  throw new Error('the receiver ended before the backlog did')
}

/** What the child does: takes in all that lies in the folder, and tells how far it is. */
async function drainHere(folder: string): Promise<void> {
  // As `serve` does.
  keepHeapSmall()
  letYoungSpaceGrow()
  const peer = JSON.parse(readFileSync(path.join(folder, 'peer.json'), 'utf8')) as Peer
  const receiver = await filedropReceiver(path.join(folder, 'receiver'), peer, path.join(folder, 'fresh'))
  const say = (told: object) => process.stdout.write(`${JSON.stringify(told)}\n`)
  let peak = 0
  const looking = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
    say({ taken: receiver.taken() })
  }, 200)
  const rate = await intakeRate(receiver, backlog)
  clearInterval(looking)
  say({ seconds: backlog / rate, peak_mb: Math.max(peak, process.memoryUsage.rss()) / 1e6 } satisfies Drained)
  await receiver.close()
}

/** On a terminal a bar; else a line for each tenth. */
function progress(what: string, done: number): void {
  if (process.stderr.isTTY) bar(what, done)
  else tenth(what, done)
}

function bar(what: string, done: number): void {
  const filled = Math.round((done / backlog) * 40)
  const end = done >= backlog ? '\n' : ''
  process.stderr.write(`\r${what} [${'#'.repeat(filled)}${' '.repeat(40 - filled)}] ${done} of ${backlog}${end}`)
}

const tenths = new Map<string, number>()

function tenth(what: string, done: number): void {
  const now = Math.floor((done / backlog) * 10)
  if (now <= (tenths.get(what) ?? 0)) return
  tenths.set(what, now)
  process.stderr.write(`${what}: ${done} of ${backlog}\n`)
}

/** Messages a second of which both files are read and the signature is verified, and nothing else. */
function bareRate(folder: string, stems: readonly string[], jwk: Readonly<Record<string, unknown>>): number {
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

async function intakeRate({ transport, taken }: Receiver, count: number): Promise<number> {
  const before = taken()
  const began = performance.now()
  await transport.rescan()
  const seconds = (performance.now() - began) / 1_000
  if (taken() - before !== count) throw new Error(`${taken() - before} of ${count} messages were taken in`)
  return count / seconds
}

type World = { readonly mill: Mill; readonly receiver: Receiver }

async function inWorld(algorithm: KeyAlgorithm, act: (world: World) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    const mill = await messageMill(path.join(folder, 'sender'), algorithm)
    const receiver = await filedropReceiver(path.join(folder, 'receiver'), peerWith(mill.key))
    try {
      await act({ mill, receiver })
    } finally {
      await receiver.close()
    }
  })
}

async function inFolder(act: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-filedrop-'))
  try {
    await act(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (process.argv[1] === import.meta.filename) await drainHere(process.argv[2] ?? '')
