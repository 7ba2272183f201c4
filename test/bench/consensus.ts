// Measures contributions acknowledged durable over HTTP: beside the least that could, over the size of a session, over their number.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { bareInsert } from '../support/bench/bare-insert.ts'
import { computeMedian, type Figure } from '../support/bench/figure.ts'
import { type LoadRequest, sendLoad } from '../support/bench/send-load.ts'

const executable = process.env.PLATFORM_EXECUTABLE ?? path.resolve(import.meta.dirname, '../../dist/platform')
const clients = 64
const contributors = 1_000
const pairedRuns = 5
const requestsPerRun = 12_000

/** Throughput with 64 clients beside bare inserts, cost at 1,000 contributions against 10, cost at 100 k sessions against 1 k. */
export async function bench(report: (figure: Figure) => void): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-consensus-'))
  const site = await startSite(path.join(folder, 'site'))
  const bare = await startBare(path.join(folder, 'bare.db'))
  try {
    await measureThroughput(site, bare, report)
    await measureGrowthWithinSession(site, report)
    await measureGrowthOfSessions(site, report)
  } finally {
    await Promise.all([site.daemon, bare.daemon].map(endProcess))
    rmSync(folder, { recursive: true, force: true })
  }
}

type BenchServer = { readonly daemon: ChildProcess; readonly port: number; readonly headers: string }

async function measureThroughput(
  site: BenchServer,
  bare: BenchServer,
  report: (figure: Figure) => void,
): Promise<void> {
  const ours: number[] = []
  const theirs: number[] = []
  for (let run = 0; run < pairedRuns; run++) {
    const sessions = await createSessions(site, 1_000)
    ours.push(await sendContributions(site, createContributionRequests(sessions, requestsPerRun, 0)))
    theirs.push(await sendContributions(bare, createContributionRequests(sessions, requestsPerRun, 0)))
  }
  const ratios = ours.map((rate, run) => rate / (theirs[run] ?? Number.NaN))
  report({
    figure: 'contributions',
    value: computeMedian(ours),
    unit: '1/s',
    beside: Math.round(computeMedian(theirs)),
  })
  report({ figure: 'of bare inserts', value: computeMedian(ratios) * 100, unit: '%', atLeast: 50 })
}

/** Each of 64 sessions is filled to 1,000; the cost around the 10th contribution stands beside that of the last ones. */
async function measureGrowthWithinSession(site: BenchServer, report: (figure: Figure) => void): Promise<void> {
  const small: number[] = []
  for (let run = 0; run < pairedRuns; run++) {
    const few = await createSessions(site, 800)
    await sendContributions(site, createContributionRequests(few, few.length * 5, 0))
    small.push(await sendContributions(site, createContributionRequests(few, few.length * 10, 5)))
  }
  const large = await createSessions(site, clients)
  await sendContributions(site, createContributionRequests(large, large.length * 900, 0))
  const rates: number[] = []
  for (let run = 0; run < pairedRuns; run++) {
    rates.push(await sendContributions(site, createContributionRequests(large, large.length * 20, 900 + run * 20)))
  }
  const at10 = 1e6 / computeMedian(small)
  const at1000 = 1e6 / computeMedian(rates)
  report({ figure: 'cost at 10', value: at10, unit: 'us' })
  report({ figure: 'cost at 1,000', value: at1000, unit: 'us' })
  report({ figure: 'growth to 1,000', value: at1000 / at10, unit: 'x', atMost: 3 })
}

async function measureGrowthOfSessions(site: BenchServer, report: (figure: Figure) => void): Promise<void> {
  const first = await createSessions(site, 1_000)
  const few = 1e6 / (await sendContributions(site, createContributionRequests(first, requestsPerRun, 0)))
  const many = await createSessions(site, 100_000)
  // Every 100th, so that the pages touched lie as far apart as in use.
  const spread = many.filter((_, at) => at % 100 === 0)
  const cost = 1e6 / (await sendContributions(site, createContributionRequests(spread, requestsPerRun, 0)))
  report({ figure: 'cost at 1 k sessions', value: few, unit: 'us' })
  report({ figure: 'cost at 100 k sessions', value: cost, unit: 'us' })
  report({ figure: 'growth to 100 k', value: cost / few, unit: 'x', atMost: 1.5 })
}

function sendContributions({ port, headers }: BenchServer, next: () => LoadRequest | undefined): Promise<number> {
  return sendLoad({ port, headers, clients, next })
}

/** `total` contributions round the sessions, each by the next contributor from `first` on. */
function createContributionRequests(
  sessions: readonly string[],
  total: number,
  first: number,
): () => LoadRequest | undefined {
  let at = 0
  return () => {
    if (at >= total) return undefined
    const session = sessions[at % sessions.length]
    const contributor = first + Math.floor(at / sessions.length)
    at++
    return {
      path: `/api/v2/consensus/session/${session}/contribution`,
      body: `{"contributor_id":"c${contributor}","pair_score":${(contributor % 97) / 97},"accuracy":0.9,"credibility":0.8,"signer_key_id":"k","classification":"UNCLASSIFIED"}`,
    }
  }
}

async function createSessions({ port, headers }: BenchServer, count: number): Promise<string[]> {
  const made: string[] = []
  let left = count
  const body = `{"lens_id":"bench","lens_version":"1","policy":{"m":${contributors},"n":${contributors}},"classification":"UNCLASSIFIED"}`
  await sendLoad({
    port,
    headers,
    clients,
    next: () => (left-- > 0 ? { path: '/api/v2/consensus/session', body } : undefined),
    answered: (answer) => made.push(String((JSON.parse(answer) as { id: unknown }).id)),
  })
  return made
}

async function startSite(site: string): Promise<BenchServer> {
  const platform = (...words: string[]) => execFileSync(executable, [...words, '--site', site], { encoding: 'utf8' })
  platform('init', '--yes', '--name', 'bench', '--tenant', 'bench', '--port-base', '18500')
  const profile = path.join(site, 'profile.yaml')
  const enrolled = Array.from(
    { length: contributors },
    (_, at) => `    c${at}: { signer_keys: [k], spoken_for_by: [bench] }`,
  )
  const text = readFileSync(profile, 'utf8').replace(
    /^consensus:$/m,
    `consensus:\n  contributors:\n${enrolled.join('\n')}`,
  )
  writeFileSync(profile, text)
  const token = platform('token', 'mint', '--subject', 'bench', '--roles', 'admin').trim().split('\n')[0]
  const daemon = spawn(executable, ['serve', '--site', site], { stdio: ['ignore', 'ignore', 'pipe'] })
  await waitForLine(daemon, 'stderr', /platform\.ready/)
  daemon.stderr?.resume()
  return { daemon, port: 18_501, headers: `Authorization: Bearer ${token}\r\n` }
}

async function startBare(file: string): Promise<BenchServer> {
  const daemon = spawn(process.execPath, [bareInsert, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const line = await waitForLine(daemon, 'stdout', /^\d+$/)
  return { daemon, port: Number(line), headers: '' }
}

async function waitForLine(daemon: ChildProcess, from: 'stdout' | 'stderr', wanted: RegExp): Promise<string> {
  const stream = daemon[from]
  if (!stream) throw new Error(`no ${from}`)
  for await (const line of createInterface({ input: stream })) if (wanted.test(line)) return line
  throw new Error('the server ended before it was ready')
}

async function endProcess(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null) return
  daemon.kill('SIGTERM')
  await once(daemon, 'exit')
}
