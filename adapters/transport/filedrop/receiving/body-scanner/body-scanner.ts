// Runs the operator's scanner command (virus, content policy) on a body. Any unclear result counts as a refusal.
import { spawn } from 'node:child_process'
import * as z from 'zod'
import { fault } from '../../quarantine-reasons.ts'

export const scannerSettings = z.strictObject({
  command: z
    .array(z.string().min(1).max(4_096))
    .min(1)
    .max(64)
    .refine(([program]) => program?.startsWith('/'), 'must begin with an absolute path')
    .meta({ description: 'Program and arguments; the path of the body comes last' }),
  timeout_s: z.int().min(1).max(3_600).default(60),
})
export type ScannerSettings = z.infer<typeof scannerSettings>

/** `clean`: exit 0. `refused`: exit 1. `unknown`: everything else, which says nothing about the body. */
export type BodyScanResult =
  | { readonly answer: 'clean' }
  | { readonly answer: 'refused' }
  | { readonly answer: 'unknown'; readonly detail: string }

export type BodyScanner = (path: string) => Promise<BodyScanResult>

/** A scanner takes a core and its own memory: this many of the site at a time. */
const max_parallel_scans = 2

const search_path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export function bodyScanner(settings: ScannerSettings): BodyScanner {
  const turn = limitParallel(max_parallel_scans)
  return (path) => turn(() => runScanner(settings, path))
}

export const scannerFault = fault('SCANNER', 'the scanner refused it')

/**
 * No shell reads the path, nothing of this process's environment is passed on, and what the command prints, which may
 * quote the body, goes nowhere. Never throws.
 */
function runScanner(
  { command: [program = '', ...args], timeout_s }: ScannerSettings,
  path: string,
): Promise<BodyScanResult> {
  return new Promise((resolve) => {
    const unknown = (detail: string) => resolve({ answer: 'unknown', detail })
    // A group of its own, so that what it started ends with it when it is late.
    const child = spawn(program, [...args, path], {
      cwd: '/',
      env: { PATH: search_path },
      stdio: 'ignore',
      detached: true,
    })
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      killProcessGroup(child.pid)
    }, timeout_s * 1_000)
    child.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      unknown(`the scanner cannot be started (${error.code ?? 'error'})`)
    })
    child.once('exit', (code, signal) => {
      clearTimeout(timer)
      if (isLate) unknown(`the scanner did not end within ${timeout_s} s`)
      else if (code === 0) resolve({ answer: 'clean' })
      else if (code === 1) resolve({ answer: 'refused' })
      else unknown(code === null ? `the scanner was ended by ${signal}` : `the scanner failed with exit code ${code}`)
    })
  })
}

/** A process that is gone already is the wanted result. */
function killProcessGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {}
}

/** Lets so many run at once, in the order of their calls. */
function limitParallel(most: number): <T>(act: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (act) => {
    if (running >= most) await new Promise<void>((go) => waiting.push(go))
    else running += 1
    try {
      return await act()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
