// Measures edge and gateway beside nginx that routes by the same table: processor time of what is forwarded, one core each.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { computeMedian, type Figure } from '../support/bench/figure.ts'
import {
  event_text,
  startNginxRouting,
  startStreamUpstream,
  startUpstream,
} from '../support/proxy-bench/comparison-proxies.ts'
import type { PinnedProgram } from '../support/proxy-bench/pinned-program.ts'
import { startPlatformFront } from '../support/proxy-bench/platform-front.ts'
import { runWrk, type WrkCounts } from '../support/proxy-bench/run-wrk.ts'

const rounds = 5
const seconds = 6
/** As long as V8 takes to compile the code that runs again and again. */
const warm_s = 8
const ports = { upstream: 9_001, streams: 9_002, edge: 9_011, gateway: 9_012, nginx: 9_013 }

type MeasuredFront = { readonly name: string; readonly token: string; readonly program: PinnedProgram }
/** Something to forward: `unit` of it is what the processor time is for. */
type Load = {
  readonly name: string
  readonly path: string
  readonly unit: string
  readonly count: (counts: WrkCounts) => number
  readonly goal: number
}
type FrontMeasurement = { readonly cpu_s: number; readonly p99_us: number }

/** 64 clients at a time. Events come at a steady pace, so that all fronts forward as many; the others without a pause. */
const loads: readonly Load[] = [
  { name: 'requests', path: '/api/v1/lens', unit: '10 k', count: ({ requests }) => requests / 10_000, goal: 0.4 },
  {
    name: 'events',
    path: '/api/v1/signal/events',
    unit: '10 k',
    count: ({ bytes }) => bytes / event_text.length / 10_000,
    goal: 0.6,
  },
  { name: 'bodies', path: '/api/v1/signal/large', unit: 'GB', count: ({ bytes }) => bytes / 1e9, goal: 0.6 },
]

/** All run, and take turns in each round. Each keeps a log of its requests; the gateway also admits the caller. */
export async function bench(report: (figure: Figure) => void): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bench-gateway-'))
  const { upstream, streams } = ports
  const programs = [await startUpstream(folder, upstream), await startStreamUpstream(streams)]
  try {
    const edge = await startPlatformFront(folder, 'edge', { port: ports.edge, upstream, streams })
    programs.push(edge.program)
    const gateway = await startPlatformFront(folder, 'gateway', { port: ports.gateway, upstream, streams })
    programs.push(gateway.program)
    const nginx = await startNginxRouting({ folder }, ports.nginx, edge.renderNginx(ports.nginx))
    programs.push(nginx)
    const fronts = [
      { name: 'nginx', program: nginx, token: edge.token },
      { name: 'edge', ...edge },
      { name: 'gateway', ...gateway },
    ]
    for (const load of loads) reportLoad(load, await measureLoad(load, fronts, folder), report)
  } finally {
    await Promise.all(programs.map((each) => each.end()))
    rmSync(folder, { recursive: true, force: true })
  }
}

type FrontMeasurements = ReadonlyMap<string, readonly FrontMeasurement[]>

async function measureLoad(load: Load, fronts: readonly MeasuredFront[], folder: string): Promise<FrontMeasurements> {
  const found = new Map(fronts.map(({ name }) => [name, [] as FrontMeasurement[]]))
  for (const { name, token } of fronts) await runWrk(folder, formatUrl(name, load), warm_s, token)
  for (let round = 0; round < rounds; round++)
    for (const each of fronts) found.get(each.name)?.push(await measureFront(each, load, folder))
  return found
}

async function measureFront({ name, token, program }: MeasuredFront, load: Load, folder: string) {
  const before = program.cpu_s()
  const counts = await runWrk(folder, formatUrl(name, load), seconds, token)
  return { cpu_s: (program.cpu_s() - before) / load.count(counts), p99_us: counts.p99_us }
}

const formatUrl = (name: string, load: Load) => `http://127.0.0.1:${ports[name as keyof typeof ports]}${load.path}`

/** Ratios are the medians of those of each round. */
function reportLoad({ name, unit, goal }: Load, found: FrontMeasurements, report: (figure: Figure) => void): void {
  const of = (front: string) => found.get(front) ?? []
  const title = (front: string) => `${front}, ${name}`
  for (const front of found.keys())
    report({
      ...{ figure: `${title(front)}, ${unit}`, unit: 's of CPU' },
      value: computeMedian(of(front).map(({ cpu_s }) => cpu_s)),
    })
  for (const front of ['edge', 'gateway']) {
    const ratios = of(front).map(({ cpu_s }, round) => (of('nginx')[round]?.cpu_s ?? Number.NaN) / cpu_s)
    report({ figure: `${title(front)}, of nginx`, value: computeMedian(ratios), unit: 'x', atLeast: goal })
    report({ figure: `${title(front)}, lowest`, value: Math.min(...ratios), unit: 'x' })
    report({ figure: `${title(front)}, highest`, value: Math.max(...ratios), unit: 'x' })
    const p99 = (each: string) => computeMedian(of(each).map(({ p99_us }) => p99_us)) / 1_000
    if (name === 'requests')
      report({ figure: `${title(front)}, p99`, value: p99(front), unit: 'ms', beside: p99('nginx') })
  }
}
