// Runs the operator's scanner command (virus, content policy) on a body. Any unclear result counts as a refusal.
import { basename } from 'node:path'
import * as z from 'zod'
import type { Sandbox, SandboxLimits, SandboxResult } from '../../../../../daemon/kernel/sandbox/sandbox.ts'
import { fault } from '../../quarantine-reasons.ts'

const absolutePath = z.string().startsWith('/', 'must be an absolute path').max(4_096)

export const scannerSettings = z.strictObject({
  command: z
    .array(z.string().min(1).max(4_096))
    .min(1)
    .max(64)
    .refine(([program]) => program?.startsWith('/'), 'must begin with an absolute path')
    .meta({ description: 'Program and arguments; the path of the body comes last' }),
  timeout_s: z.int().min(1).max(3_600).default(60),
  memory_mb: z.int().min(64).max(1_048_576).default(4_096),
  visible: z
    .array(absolutePath)
    .max(64)
    .default([])
    .meta({ description: 'Files and folders that it may read besides the program, such as signatures or a socket' }),
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

export function bodyScanner(settings: ScannerSettings, sandbox: Sandbox): BodyScanner {
  const turn = limitParallel(max_parallel_scans)
  const limits = scanLimits(settings)
  const [program = '', ...args] = settings.command
  return (path) =>
    turn(async () => {
      const input = basename(path)
      const command = {
        program,
        args: [...args, { input }],
        inputs: { [input]: path },
        visible: settings.visible,
        limits,
      }
      return readAnswer(await sandbox.run(command), settings)
    })
}

export const scannerFault = fault('SCANNER', 'the scanner refused it')

/** What the command prints may quote the body: it goes nowhere. */
export function scanLimits({ timeout_s, memory_mb }: ScannerSettings): SandboxLimits {
  return {
    time_ms: timeout_s * 1_000,
    cpu_s: timeout_s,
    memory_bytes: memory_mb * 2 ** 20,
    // What an archive unpacks to.
    disk_bytes: 2 ** 28,
    output_bytes: 0,
    processes: 64,
    open_files: 256,
  }
}

function readAnswer(result: SandboxResult, { timeout_s, memory_mb }: ScannerSettings): BodyScanResult {
  const unknown = (detail: string): BodyScanResult => ({ answer: 'unknown', detail })
  switch (result.kind) {
    case 'exited':
      if (result.code === 0) return { answer: 'clean' }
      if (result.code === 1) return { answer: 'refused' }
      return unknown(`the scanner failed with exit code ${result.code}`)
    case 'signalled':
      return unknown(`the scanner was ended by ${result.signal}`)
    case 'exceeded':
      if (result.limit === 'memory_bytes') return unknown(`the scanner used more than ${memory_mb} MiB`)
      return unknown(`the scanner did not end within ${timeout_s} s`)
    case 'cancelled':
      return unknown('the scanner was stopped')
    case 'not_started':
      return unknown(`the scanner cannot be started (${result.detail})`)
  }
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
