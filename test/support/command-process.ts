// Runs the command line from sources as a process of its own, for what only a process shows: signals, descriptors, exit.
import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import type { Ended } from './command-line.ts'
import { root } from './source-tree.ts'

const node = path.join(root, 'node_modules/.bin/node')
const main = path.join(root, 'cli/main.ts')
/** Where Node keeps what it made of the sources: each process would compile all of them again. */
const NODE_COMPILE_CACHE = path.join(root, 'node_modules/.cache/compiled')

export type ProcessOptions = {
  /** Besides PATH and HOME, nothing of the test's own environment is seen. */
  readonly env?: Readonly<Record<string, string>>
  /** Stdin, which is not a terminal; empty by default. */
  readonly input?: string
  readonly cwd?: string
}

/** Runs a command in a process and waits for its end. */
export function platformProcess(words: readonly string[], options: ProcessOptions = {}): Promise<Ended> {
  const child = spawnPlatform(words, options)
  child.stdin?.end(options.input ?? '')
  const output = { stdout: '', stderr: '' }
  child.stdout?.on('data', (part: Buffer) => (output.stdout += part.toString()))
  child.stderr?.on('data', (part: Buffer) => (output.stderr += part.toString()))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exit) => resolve({ exit, ...output }))
  })
}

/** A `platform serve` of its own; resolves once every role answers. */
export async function serveProcess(
  site: string,
  options: ProcessOptions = {},
): Promise<{ readonly pid: number; stop(): Promise<Ended> }> {
  const child = spawnPlatform(['serve', '--site', site], options)
  child.stdin?.end()
  const output = { stdout: '', stderr: '' }
  child.stdout?.on('data', (part: Buffer) => (output.stdout += part.toString()))
  const closed = new Promise<Ended>((resolve) => child.once('close', (exit) => resolve({ exit, ...output })))
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', (part: Buffer) => {
      output.stderr += part.toString()
      if (output.stderr.includes('platform.ready')) resolve()
    })
    child.once('close', () => reject(new Error(`the site did not start: ${output.stderr}`)))
  })
  return {
    pid: child.pid ?? 0,
    stop() {
      child.kill('SIGTERM')
      return closed
    },
  }
}

function spawnPlatform(words: readonly string[], { env = {}, cwd }: ProcessOptions): ChildProcess {
  const { PATH = '', HOME = '' } = process.env
  return spawn(node, [main, ...words], {
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
    ...(cwd ? { cwd } : {}),
    stdio: 'pipe',
  })
}
