// Measures a registry of the gateway in which all services come, renew and expire, while others list them and call their objects.
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import type { Figure } from '../support/bench/figure.ts'
import { benchCores, startPinnedProgram } from '../support/proxy-bench/pinned-program.ts'
import { type PlatformFront, startPlatformFront } from '../support/proxy-bench/platform-front.ts'

const services = path.resolve(import.meta.dirname, '../support/proxy-bench/many-services.mjs')
const count = Number(process.env.BENCH_SERVICES ?? 1_000)
const ports = { gateway: 9_031, metrics: 9_032, services: 21_000 }
const registrants = 16
const callers = 4
/** The longest that a request may hold the event loop. */
const max_delay_ms = 20
const base_s = 5
/** Node's figure has the interval of its samples in it. */
const sampling_ms = 10
const [long_ttl_s, short_ttl_s] = [600, 10]

type BenchRequest = {
  readonly method: string
  readonly path: string
  readonly token: string
  readonly body?: unknown
  readonly port?: number
}
type Load = {
  readonly delay_p99_ms: number
  readonly call_p50_ms: number
  readonly call_p99_ms: number
  readonly seconds: number
}

/** The gateway has one core; the services and all clients share the other. */
export async function bench(report: (figure: Figure) => void): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bench-registry-'))
  const command = [process.execPath, services, String(ports.services), String(count)]
  const programs = [await startPinnedProgram(benchCores.around, command, ports.services, {}, 'ready')]
  try {
    const owner = { upstream: ports.services, streams: ports.services }
    const front = await startPlatformFront(folder, 'gateway', {
      ...owner,
      port: ports.gateway,
      metrics_port: ports.metrics,
    })
    programs.push(front.program)
    await measureChurn(front, report)
  } finally {
    await Promise.all(programs.map((each) => each.end()))
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureChurn(front: PlatformFront, report: (figure: Figure) => void): Promise<void> {
  const agent = new http.Agent({ keepAlive: true })
  const clients = { agent, reader: front.mintToken('rea', 'auditor'), caller: front.token }
  const token = front.mintToken('registrant', 'service')
  const register = (ttl_seconds: number) => async () => {
    const names = Array.from({ length: count }, (_, at) => at)
    const work = async () => {
      for (let at = names.pop(); at !== undefined; at = names.pop()) {
        const url = `http://127.0.0.1:${ports.services + at}`
        const body = { name: `service-${at}`, url, component_kind: 'library', ttl_seconds }
        await send(agent, { method: 'POST', path: '/api/v1/register', token, body })
      }
    }
    await Promise.all(Array.from({ length: registrants }, work))
  }
  const base = await measureUnder(clients, () => pause(base_s))
  const reportLoad = (name: string, { delay_p99_ms, call_p50_ms, call_p99_ms }: Load) => {
    const beside = (of: keyof Load) => ({ unit: 'ms', beside: Number(base[of].toPrecision(3)) })
    report({ figure: `event loop, ${name}, p99`, value: delay_p99_ms, ...beside('delay_p99_ms'), atMost: max_delay_ms })
    report({ figure: `forwarded calls, ${name}, p50`, value: call_p50_ms, ...beside('call_p50_ms') })
    report({ figure: `forwarded calls, ${name}, p99`, value: call_p99_ms, ...beside('call_p99_ms') })
  }
  const steps = [
    ['registrations', register(long_ttl_s)],
    ['standing', () => pause(base_s)],
    ['heartbeats', register(short_ttl_s)],
    ['expiries', () => waitUntilEmpty(clients)],
  ] as const
  for (const [name, run] of steps) {
    const load = await measureUnder(clients, run)
    // All have the same end: the first seconds of the last step are those that are left to them.
    const seconds = load.seconds - (name === 'expiries' ? short_ttl_s : 0)
    if (name !== 'standing') report({ figure: name, value: count / seconds, unit: '1/s' })
    reportLoad(name, load)
  }
  agent.destroy()
}

type Clients = { readonly agent: http.Agent; readonly reader: string; readonly caller: string }

/** While `run` lasts, one client lists all services again and again, and others call an object of the profile. */
async function measureUnder(clients: Clients, run: () => Promise<void>): Promise<Load> {
  const { agent, reader, caller } = clients
  const times_ms: number[] = []
  let isOver = false
  await readDelay_ms(clients)
  const list = async () => {
    while (!isOver) await send(agent, { method: 'GET', path: '/api/v2/gateway/service?limit=500', token: reader })
  }
  const call = async () => {
    while (!isOver) {
      const began = performance.now()
      await send(agent, { method: 'GET', path: '/api/v1/lens', token: caller })
      times_ms.push(performance.now() - began)
    }
  }
  const began = performance.now()
  const others = [list(), ...Array.from({ length: callers }, call)]
  await run().finally(() => {
    isOver = true
  })
  const seconds = (performance.now() - began) / 1_000
  await Promise.all(others)
  times_ms.sort((one, other) => one - other)
  const at = (share: number) => times_ms[Math.floor(times_ms.length * share)] ?? Number.NaN
  return { delay_p99_ms: await readDelay_ms(clients), call_p50_ms: at(0.5), call_p99_ms: at(0.99), seconds }
}

async function waitUntilEmpty({ agent, reader }: Clients): Promise<void> {
  const path = '/api/v2/gateway/service?limit=1'
  for (;;) {
    const { total } = JSON.parse(await send(agent, { method: 'GET', path, token: reader })) as { total: number }
    if (total === 0) return
    await pause(0.1)
  }
}

/** Of the process of the gateway, since this was read last. */
async function readDelay_ms({ agent, reader }: Clients): Promise<number> {
  const text = await send(agent, { method: 'GET', path: '/metrics', token: reader, port: ports.metrics })
  const [, seconds] = /^nodejs_eventloop_lag_p99_seconds(?:\{[^}]*\})? (\S+)$/m.exec(text) ?? []
  if (seconds === undefined) throw new Error('the metrics have no delay of the event loop')
  return Number(seconds) * 1_000 - sampling_ms
}

const pause = (seconds: number) => new Promise<void>((resolve) => setTimeout(resolve, seconds * 1_000))

/** Throws for an answer that is not a success. */
function send(
  agent: http.Agent,
  { method, path: at, token, body, port = ports.gateway }: BenchRequest,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const text = body === undefined ? '' : JSON.stringify(body)
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  }
  const request = http.request({ agent, host: '127.0.0.1', port, method, path: at, headers })
  request.on('error', reject).on('response', (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
    response.on('end', () => {
      const answer = Buffer.concat(chunks).toString()
      if ((response.statusCode ?? 500) < 300) resolve(answer)
      else reject(new Error(`${method} ${at}: ${response.statusCode} ${answer.slice(0, 500)}`))
    })
  })
  request.end(text)
  return promise
}
