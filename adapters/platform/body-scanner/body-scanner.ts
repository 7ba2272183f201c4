// Runs the operator's scanner command (virus, content policy) on a body. Any unclear result counts as a refusal.
import { basename } from 'node:path'
import type { Sandbox, SandboxCommand, SandboxLimits, SandboxResult } from '../../../daemon/kernel/sandbox/sandbox.ts'
import type { ScannerSettings } from '../../../daemon/shared/body-scanner/scanner-settings.ts'
import { withTrialFile } from './trial-body.ts'

/** `clean`: exit 0. `refused`: exit 1. `unknown`: everything else, which says nothing about the body. */
export type BodyScanResult =
  | { readonly answer: 'clean' }
  | { readonly answer: 'refused' }
  | { readonly answer: 'unknown'; readonly detail: string }

export type BodyScanner = {
  /** `refused` only while the command still passes the trial body: most programs end with 1 when they fail, too. */
  scan(path: string): Promise<BodyScanResult>
  /** Undefined once the command has passed the trial body; else why it does not, with what it prints. */
  findFault(): Promise<string | undefined>
}

/** A scanner takes a core and its own memory: this many of the site at a time. */
const max_parallel_scans = 2

/** `trial_body`: one that is clean by definition. */
export function bodyScanner(settings: ScannerSettings, sandbox: Sandbox, trial_body: string): BodyScanner {
  const turn = limitParallel(max_parallel_scans)
  const run = (path: string, output_bytes = 0) =>
    turn(() => sandbox.run(scanCommand(settings, path, { ...scanLimits(settings), output_bytes })))
  let hasPassed = false
  let trial: Promise<string | undefined> | undefined

  async function tryOut(): Promise<string | undefined> {
    const fault = await withTrialFile(trial_body, async (path) => {
      const result = await run(path)
      const answer = readAnswer(result, settings)
      if (answer.answer === 'clean') return undefined
      const detail = answer.answer === 'refused' ? 'the scanner refuses a clean body (exit code 1)' : answer.detail
      return endedItself(result) ? detail + formatOutput(await run(path, trial_output_bytes)) : detail
    })
    hasPassed = fault === undefined
    return fault
  }
  /** Bodies that are scanned at the same time share a trial. */
  function shareTrial(): Promise<string | undefined> {
    trial ??= tryOut().finally(() => {
      trial = undefined
    })
    return trial
  }
  return {
    findFault: async () => (hasPassed ? undefined : await shareTrial()),
    async scan(path) {
      const result = readAnswer(await run(path), settings)
      if (result.answer !== 'refused') return result
      const detail = await shareTrial()
      return detail === undefined ? result : { answer: 'unknown', detail }
    },
  }
}

function scanCommand(settings: ScannerSettings, path: string, limits: SandboxLimits): SandboxCommand {
  const [program = '', ...args] = settings.command
  const input = basename(path)
  return { program, args: [...args, { input }], inputs: { [input]: path }, visible: settings.visible, limits }
}

/** What the command prints of a body of a peer may quote it, and goes nowhere; of the trial body it is kept. */
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

const trial_output_bytes = 65_536
const max_output_chars = 300

/** It ends again as soon when its output is kept. */
function endedItself({ kind }: SandboxResult): boolean {
  return kind === 'exited' || kind === 'signalled'
}

/** The end of what it prints, where interpreters put the reason. */
function formatOutput(result: SandboxResult): string {
  if (!('stderr' in result)) return ''
  const [stderr, stdout] = [result.stderr, result.stdout].map((bytes) => Buffer.from(bytes).toString().trim())
  const text = (stderr || stdout || '').replaceAll(/\s+/g, ' ').slice(-max_output_chars)
  return text === '' ? '' : `: ${text}`
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
