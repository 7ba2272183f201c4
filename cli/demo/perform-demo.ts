// The frame of every demo: a folder of its own, daemons that end with it, a time limit, and steps on the terminal or a report for scripts.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { jsonOption } from '../options/site-options.ts'
import { CommandFailure } from '../program/command.ts'
import { flag, integer, text, withDefault } from '../program/params.ts'
import { colourText, line_break } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

export const demoOptions = {
  dir: text('DIR', 'New or empty folder for all of the demo (default: a temporary folder)'),
  keep: flag('Keep everything in DIR for inspection'),
  timeout: withDefault(120, integer('SECONDS', 'Maximum duration of the demo', 5, 3_600)),
  ...jsonOption,
}

type DemoParams = {
  readonly dir: string | undefined
  readonly keep: boolean
  readonly timeout: number
  readonly json: boolean
}

type RunningPart = { stop(): Promise<void> }

/** The place and the output of a demo. `running`: sites and services that it starts, which are stopped after it. */
export type DemoStudio = {
  readonly dir: string
  readonly keep: boolean
  readonly running: RunningPart[]
  readonly signal: AbortSignal
  readonly step: (title: string) => void
  readonly printLine: (line: string) => void
  /** Seconds since the demo began. */
  readonly seconds: () => number
}

/** `work` returns the report for scripts. */
export async function performDemo(
  params: DemoParams,
  output: Terminal,
  work: (studio: DemoStudio) => Promise<unknown>,
): Promise<0> {
  const dir = prepareDemoFolder(params.dir)
  const stopping = new AbortController()
  const running: RunningPart[] = []
  const interrupt = () => stopping.abort()
  process.once('SIGINT', interrupt)
  process.once('SIGTERM', interrupt)
  const timer = setTimeout(interrupt, params.timeout * 1_000)
  const stop = () => Promise.all(running.splice(0).map((part) => part.stop()))
  // Steps go to stderr where stdout holds the report.
  const terminal = params.json ? { ...output, print: output.note } : output
  const started_ms = performance.now()
  try {
    const report = await work({
      ...{ dir, keep: params.keep, running, signal: stopping.signal },
      step: (title) => terminal.print(`${line_break}${colourText(terminal, 'bold', title)}`),
      printLine: (line) => terminal.print(`  ${line}`),
      seconds: () => Math.round(performance.now() - started_ms) / 1_000,
    })
    await stop()
    if (params.json) output.print(JSON.stringify(report))
    return 0
  } finally {
    await stop()
    clearTimeout(timer)
    if (!params.keep) rmSync(dir, { recursive: true, force: true })
  }
}

function prepareDemoFolder(requested: string | undefined): string {
  if (requested === undefined) return mkdtempSync(join(tmpdir(), 'platform-demo-'))
  const dir = resolve(requested)
  if (existsSync(dir) && readdirSync(dir).length > 0)
    throw new CommandFailure(3, `${dir} is not empty`, 'name a new or empty folder')
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  return dir
}
