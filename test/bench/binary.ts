// Measures the executable as an operator meets it: its size, how soon it answers, what it holds when idle.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Figure, median } from '../support/figure.ts'

const executable = path.resolve(import.meta.dirname, '../../dist/platform')
const portBase = 18_400
/** `init --port-base N` gives the roles ports from N on; the first that answers is the daemon. */
const ports = Array.from({ length: 30 }, (_, i) => portBase + i)
const servingRuns = 5
const idleAfterMs = 2_000
const deadlineMs = 30_000

/** Reports size, start-up, time to serve (median) and idle memory (largest) of `dist/platform`. */
export async function bench(report: (figure: Figure) => void): Promise<void> {
  report({ figure: 'size', value: statSync(executable).size / 1e6, unit: 'MB', atMost: 120 })
  report({ figure: 'version', value: median(startUps(10)), unit: 's', atMost: 0.25 })
  const serving: number[] = []
  let idleMb = 0
  for (let run = 0; run < servingRuns; run++) {
    const measured = await serveOnce(run === servingRuns - 1)
    serving.push(measured.seconds)
    idleMb = Math.max(idleMb, measured.residentMb)
  }
  report({ figure: 'serving', value: median(serving), unit: 's', atMost: 0.5 })
  report({ figure: 'idle memory', value: idleMb, unit: 'MB', atMost: 120 })
}

function startUps(runs: number): number[] {
  return Array.from({ length: runs }, () => {
    const started = performance.now()
    execFileSync(executable, ['version'])
    return (performance.now() - started) / 1_000
  })
}

async function serveOnce(waitsUntilIdle: boolean): Promise<{ seconds: number; residentMb: number }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-binary-'))
  const site = path.join(folder, 'site')
  try {
    execFileSync(executable, ['init', '--site', site, '--yes', '--port-base', String(portBase)], { stdio: 'pipe' })
    const started = performance.now()
    const daemon = spawn(executable, ['serve', '--site', site], { stdio: 'ignore' })
    const ended = once(daemon, 'exit')
    try {
      await answered(started, () => daemon.exitCode)
      const seconds = (performance.now() - started) / 1_000
      if (waitsUntilIdle) await pause(idleAfterMs)
      return { seconds, residentMb: residentMb(daemon.pid ?? 0) }
    } finally {
      daemon.kill('SIGTERM')
      await ended
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function answered(started: number, exitCode: () => number | null): Promise<void> {
  while (performance.now() - started < deadlineMs) {
    if (exitCode() !== null) throw new Error(`platform serve ended with ${exitCode()}`)
    const answers = await Promise.all(ports.map(isHealthy))
    if (answers.includes(true)) return
    await pause(5)
  }
  throw new Error(`platform serve did not answer /health on ${ports[0]} to ${ports.at(-1)}`)
}

async function isHealthy(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health`)).ok
  } catch {
    return false
  }
}

/** Resident memory from the kernel's own account, which is in KiB. */
function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024) / 1e6
}
