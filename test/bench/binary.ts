// Measures the executable as an operator meets it: its size, how soon it answers, what it holds when idle.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { computeMedian, type Figure } from '../support/bench/figure.ts'

const executable = path.resolve(import.meta.dirname, '../../dist/platform')
/** The strictest of the shipped profiles, which is what most sites of this kind run. */
const profile = 'classified-airgapped'
/** Those whose goals are stated: further roles add to both figures. */
const roles = ['site', 'consensus']
const servingRuns = 5
const idleAfterMs = 2_000
const deadlineMs = 30_000

/** Reports size, start-up, time to serve (median) and idle memory (largest) of `dist/platform`. */
export async function bench(report: (figure: Figure) => void): Promise<void> {
  report({ figure: 'size', value: statSync(executable).size / 1e6, unit: 'MB', atMost: 120 })
  report({ figure: 'version', value: computeMedian(measureStartUps(10)), unit: 's', atMost: 0.25 })
  const serving: number[] = []
  let idleMb = 0
  for (let run = 0; run < servingRuns; run++) {
    const measured = await serveOnce()
    serving.push(measured.seconds)
    idleMb = Math.max(idleMb, measured.residentMb)
  }
  report({ figure: 'serving', value: computeMedian(serving), unit: 's', atMost: 0.5 })
  report({ figure: 'idle memory', value: idleMb, unit: 'MB', atMost: 120 })
}

function measureStartUps(runs: number): number[] {
  return Array.from({ length: runs }, () => {
    const started = performance.now()
    execFileSync(executable, ['version'])
    return (performance.now() - started) / 1_000
  })
}

async function serveOnce(): Promise<{ seconds: number; residentMb: number }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-binary-'))
  const site = path.join(folder, 'site')
  try {
    const words = ['init', '--site', site, '--profile', profile, '--roles', roles.join(), '--tenant', 'acme', '--yes']
    execFileSync(executable, [...words, '--port-base', '0'], { stdio: 'pipe' })
    const started = performance.now()
    const daemon = spawn(executable, ['serve', '--site', site], { stdio: 'ignore' })
    const ended = once(daemon, 'exit')
    try {
      await waitUntilHealthy(path.join(site, 'run'), started, () => daemon.exitCode)
      const seconds = (performance.now() - started) / 1_000
      await pause(idleAfterMs)
      return { seconds, residentMb: readResidentMb(daemon.pid ?? 0) }
    } finally {
      daemon.kill('SIGTERM')
      await ended
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Resolves once every role of the site answers /health on its local socket. */
async function waitUntilHealthy(run: string, started: number, exitCode: () => number | null): Promise<void> {
  const waiting = new Set(roles)
  while (performance.now() - started < deadlineMs) {
    if (exitCode() !== null) throw new Error(`platform serve ended with ${exitCode()}`)
    for (const role of waiting) if (await isHealthy(path.join(run, role, 'sock'))) waiting.delete(role)
    if (waiting.size === 0) return
    await pause(2)
  }
  throw new Error(`these roles did not answer /health: ${[...waiting].join(', ')}`)
}

function isHealthy(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = http.get({ socketPath, path: '/health', agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
    request.on('error', () => resolve(false))
  })
}

/** Resident memory from the kernel's own account, which is in KiB. */
function readResidentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024) / 1e6
}
