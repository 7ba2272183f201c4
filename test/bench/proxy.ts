// Measures the public proxy beside what others use for such a door: requests per second of processor time, one core each.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Figure, median } from '../support/figure.ts'
import { type Counted, load } from '../support/proxy-bench/load.ts'
import * as peers from '../support/proxy-bench/peers.ts'
import { cores, type Program, startPinned } from '../support/proxy-bench/pinned.ts'

const rounds = 3
const seconds = 6
const warm_s = 3

type Door = { readonly name: string; readonly start: (port: number) => Promise<Program> }
type Measured = { readonly per_cpu_s: number; readonly p99_us: number }

/** PROXY_PEERS: folder with fastify, @fastify/http-proxy, @fastify/rate-limit and ioredis; without it Fastify is left out. */
export async function bench(report: (figure: Figure) => void): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bench-proxy-'))
  const [upstreamPort, redisPort] = [9001, 9002]
  const around = { folder, upstream: upstreamPort, redis: redisPort }
  const redis = ['redis-server', '--port', String(redisPort), '--save', '', '--appendonly', 'no', '--dir', folder]
  const helpers = [await peers.startUpstream(folder, upstreamPort), await startPinned(cores.around, redis, redisPort)]
  const packages = process.env.PROXY_PEERS
  const doors: Door[] = [
    { name: 'nginx', start: (port) => peers.startNginxLimit(around, port) },
    { name: 'nginx cache', start: (port) => peers.startNginxLimit(around, port, true) },
    { name: 'nginx redis', start: (port) => peers.startNginxRedis(around, port) },
    { name: 'haproxy', start: (port) => peers.startHaproxy(around, port) },
    ...(packages === undefined
      ? []
      : [{ name: 'fastify redis', start: (port: number) => peers.startFastify(around, port, packages) }]),
  ]
  try {
    for (const door of doors) {
      const found = await measured(door, folder)
      report({ figure: door.name, value: 10_000 / found.per_cpu_s, unit: 's CPU/10k' })
      report({ figure: `${door.name} p99`, value: found.p99_us / 1_000, unit: 'ms' })
    }
  } finally {
    await Promise.all(helpers.map((each) => each.end()))
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measured({ start }: Door, folder: string): Promise<Measured> {
  const port = 9003
  const door = await start(port)
  const url = `http://127.0.0.1:${port}/public-api/api/v1/report`
  const rates: number[] = []
  const counts: Counted[] = []
  try {
    await load(folder, url, warm_s)
    for (let round = 0; round < rounds; round++) {
      const before = door.cpu_s()
      const counted = await load(folder, url, seconds)
      rates.push(counted.requests / (door.cpu_s() - before))
      counts.push(counted)
    }
  } finally {
    await door.end()
  }
  return { per_cpu_s: median(rates), p99_us: median(counts.map(({ p99_us }) => p99_us)) }
}
