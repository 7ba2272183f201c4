// Measures the public proxy beside widely used proxies: requests per second of processor time, one core each.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { computeMedian, type Figure } from '../support/bench/figure.ts'
import * as peers from '../support/proxy-bench/comparison-proxies.ts'
import { benchCores, type PinnedProgram, startPinnedProgram } from '../support/proxy-bench/pinned-program.ts'
import { startCollector, startIssuer, startPlatformProxy } from '../support/proxy-bench/platform-proxy.ts'
import { runWrk } from '../support/proxy-bench/run-wrk.ts'

const rounds = 3
const seconds = 6
/** As long as V8 takes to compile the code that a proxy runs again and again. */
const warm_s = 8
const first_port = 9011
/** Shares of requests with spans, each beside the same proxy without an exporter. */
const span_ratios = [0, 0.01, 1]
/** Longer than one segment of records; an idle proxy needs less than this of the processor meanwhile. */
const idle_ms = 2_000
const idle_cpu_s = 0.1

type BenchProxy = { readonly name: string; readonly start: (port: number) => Promise<PinnedProgram> }
type RunningProxy = { readonly name: string; readonly url: string; readonly program: PinnedProgram }
type ProxyMeasurement = { readonly per_cpu_s: number; readonly p99_us: number }
/** By the name of the proxy, in the order of the rounds. */
type ProxyMeasurements = ReadonlyMap<string, readonly ProxyMeasurement[]>

/**
 * All proxies run, and take turns in each round: a machine that changes its speed does so for all of them.
 * PROXY_PEERS: folder with fastify, @fastify/http-proxy, @fastify/rate-limit and ioredis; without it Fastify is left out.
 * Each proxy does the same work as far as it can: the rule, a counter by source, its own token, a line for each request.
 */
export async function bench(report: (figure: Figure) => void): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bench-proxy-'))
  const [upstream, redis, issuer, collector] = [9001, 9002, 9004, 9005]
  const server = ['redis-server', '--port', String(redis), '--save', '', '--appendonly', 'no', '--dir', folder]
  const helpers = [
    await peers.startUpstream(folder, upstream),
    await startPinnedProgram(benchCores.around, server, redis),
  ]
  const servers = [await startIssuer(issuer), await startCollector(collector)]
  const open: RunningProxy[] = []
  try {
    for (const program of listProxies({ folder, upstream, redis }, issuer, collector))
      open.push(await startProxy(program, first_port + open.length))
    for (const { url } of open) await runWrk(folder, url, warm_s)
    const found = new Map(open.map(({ name }) => [name, [] as ProxyMeasurement[]]))
    for (let round = 0; round < rounds; round++) {
      for (const program of open) found.get(program.name)?.push(await measureProxy(program, folder))
    }
    reportMeasurements(found, report)
  } finally {
    for (const server of servers) server.close()
    await Promise.all([...open.map(({ program }) => program), ...helpers].map((each) => each.end()))
    rmSync(folder, { recursive: true, force: true })
  }
}

function listProxies(around: peers.ProxyBenchSetup, issuer: number, collector: number): BenchProxy[] {
  const packages = process.env.PROXY_PEERS
  const fastify = (port: number) => peers.startFastify(around, port, packages ?? '')
  return [
    { name: 'nginx', start: (port) => peers.startNginxLimit(around, port) },
    { name: 'ours', start: (port) => startPlatformProxy(around, port, { issuer, counter: 'memory', cache_mb: 0 }) },
    { name: 'nginx, redis', start: (port) => peers.startNginxRedis(around, port) },
    {
      name: 'ours, redis',
      start: (port) => startPlatformProxy(around, port, { issuer, counter: 'redis', cache_mb: 0 }),
    },
    { name: 'nginx, cache', start: (port) => peers.startNginxLimit(around, port, true) },
    {
      name: 'ours, cache',
      start: (port) => startPlatformProxy(around, port, { issuer, counter: 'redis', cache_mb: 16 }),
    },
    ...span_ratios.map((ratio) => ({
      name: `ours, spans ${ratio}`,
      start: (port: number) =>
        startPlatformProxy(around, port, { issuer, counter: 'redis', cache_mb: 0, spans: { ratio, collector } }),
    })),
    { name: 'haproxy', start: (port) => peers.startHaproxy(around, port) },
    ...(packages === undefined ? [] : [{ name: 'fastify, redis', start: fastify }]),
  ]
}

async function startProxy({ name, start }: BenchProxy, port: number): Promise<RunningProxy> {
  return { name, url: `http://127.0.0.1:${port}/public-api/api/v1/report`, program: await start(port) }
}

async function measureProxy({ url, program }: RunningProxy, folder: string): Promise<ProxyMeasurement> {
  const before = await waitUntilIdle(program)
  const { requests, p99_us } = await runWrk(folder, url, seconds)
  return { per_cpu_s: requests / ((await waitUntilIdle(program)) - before), p99_us }
}

/** Ratios are of requests per second of processor time: the median of those of each round. */
function reportMeasurements(found: ProxyMeasurements, report: (figure: Figure) => void): void {
  const of = (name: string) => found.get(name) ?? []
  for (const name of found.keys()) {
    report({
      figure: `${name}, 10 k`,
      value: computeMedian(of(name).map((each) => 10_000 / each.per_cpu_s)),
      unit: 's of CPU',
    })
  }
  const ratio = (ours: string, peer: string) =>
    computeMedian(of(ours).map(({ per_cpu_s }, round) => per_cpu_s / (of(peer)[round]?.per_cpu_s ?? Number.NaN)))
  report({ figure: 'of nginx', value: ratio('ours, redis', 'nginx'), unit: 'x', atLeast: 0.4 })
  report({ figure: 'of nginx, redis', value: ratio('ours, redis', 'nginx, redis'), unit: 'x', atLeast: 0.75 })
  report({ figure: 'hits, of nginx', value: ratio('ours, cache', 'nginx'), unit: 'x', atLeast: 0.8 })
  report({ figure: 'hits, of its hits', value: ratio('ours, cache', 'nginx, cache'), unit: 'x' })
  for (const span_ratio of span_ratios) {
    const name = `spans ${span_ratio}`
    report({ figure: `${name}, of none`, value: ratio(`ours, ${name}`, 'ours, redis'), unit: 'x', atLeast: 0.95 })
  }
  report({ figure: 'of haproxy', value: ratio('ours, redis', 'haproxy'), unit: 'x' })
  if (found.has('fastify, redis')) {
    report({ figure: 'of fastify', value: ratio('ours, redis', 'fastify, redis'), unit: 'x', atLeast: 2.5 })
  }
  const p99 = (name: string) => computeMedian(of(name).map(({ p99_us }) => p99_us)) / 1_000
  report({ figure: 'p99', value: p99('ours, redis'), unit: 'ms', beside: p99('nginx'), atMost: p99('nginx') * 2 })
}

/** Processor time once the proxy has finished its deferred work, such as storing its records: that counts too. */
async function waitUntilIdle(program: PinnedProgram): Promise<number> {
  for (let last = program.cpu_s(); ; ) {
    await new Promise((resolve) => setTimeout(resolve, idle_ms))
    const now = program.cpu_s()
    if (now - last < idle_cpu_s) return now
    last = now
  }
}
