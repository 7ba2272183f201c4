// Measures edge and gateway beside nginx that routes by the same table: processor time of a request, one core each.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { computeMedian, type Figure } from '../support/bench/figure.ts'
import { startNginxRouting, startUpstream } from '../support/proxy-bench/comparison-proxies.ts'
import type { PinnedProgram } from '../support/proxy-bench/pinned-program.ts'
import { startPlatformFront } from '../support/proxy-bench/platform-front.ts'
import { runWrk } from '../support/proxy-bench/run-wrk.ts'

const rounds = 3
const seconds = 6
/** As long as V8 takes to compile the code that runs again and again. */
const warm_s = 8
const ports = { upstream: 9_001, edge: 9_011, gateway: 9_012, nginx: 9_013 }

type MeasuredFront = {
  readonly name: string
  readonly url: string
  readonly token: string
  readonly program: PinnedProgram
}
type FrontMeasurement = { readonly cpu_s: number; readonly p99_us: number }

/** All run, and take turns in each round. Each keeps a log of its requests; the gateway also admits the caller. */
export async function bench(report: (figure: Figure) => void): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bench-gateway-'))
  const programs = [await startUpstream(folder, ports.upstream)]
  try {
    const edge = await startPlatformFront(folder, 'edge', { port: ports.edge, upstream: ports.upstream })
    programs.push(edge.program)
    const gateway = await startPlatformFront(folder, 'gateway', { port: ports.gateway, upstream: ports.upstream })
    programs.push(gateway.program)
    const nginx = await startNginxRouting({ folder }, ports.nginx, edge.renderNginx(ports.nginx))
    programs.push(nginx)
    const front = (name: keyof typeof ports, { program, token }: Pick<MeasuredFront, 'program' | 'token'>) => ({
      ...{ name, program, token },
      url: `http://127.0.0.1:${ports[name]}/api/v1/lens`,
    })
    const fronts = [
      front('nginx', { program: nginx, token: edge.token }),
      front('edge', edge),
      front('gateway', gateway),
    ]
    for (const { url, token } of fronts) await runWrk(folder, url, warm_s, token)
    const found = new Map(fronts.map(({ name }) => [name as string, [] as FrontMeasurement[]]))
    for (let round = 0; round < rounds; round++)
      for (const each of fronts) found.get(each.name)?.push(await measureFront(each, folder))
    reportMeasurements(found, report)
  } finally {
    await Promise.all(programs.map((each) => each.end()))
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Seconds of processor time for 10,000 requests. */
async function measureFront({ url, token, program }: MeasuredFront, folder: string): Promise<FrontMeasurement> {
  const before = program.cpu_s()
  const { requests, p99_us } = await runWrk(folder, url, seconds, token)
  return { cpu_s: ((program.cpu_s() - before) / requests) * 10_000, p99_us }
}

/** Ratios are the medians of those of each round. */
function reportMeasurements(
  found: ReadonlyMap<string, readonly FrontMeasurement[]>,
  report: (figure: Figure) => void,
): void {
  const of = (name: string) => found.get(name) ?? []
  for (const name of found.keys())
    report({ figure: `${name}, 10 k`, value: computeMedian(of(name).map(({ cpu_s }) => cpu_s)), unit: 's of CPU' })
  for (const name of ['edge', 'gateway']) {
    const ratios = of(name).map(({ cpu_s }, round) => (of('nginx')[round]?.cpu_s ?? Number.NaN) / cpu_s)
    report({ figure: `${name}, of nginx`, value: computeMedian(ratios), unit: 'x', atLeast: 0.4 })
    const p99 = (each: string) => computeMedian(of(each).map(({ p99_us }) => p99_us)) / 1_000
    report({ figure: `${name}, p99`, value: p99(name), unit: 'ms', beside: p99('nginx') })
  }
}
