// Runs the command line from sources as a process of its own, for what only a process shows: signals, descriptors, exit.
import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { repositoryRoot } from '../repository/source-tree.ts'
import type { CommandResult } from './run-command.ts'

export const nodeProgram = path.join(repositoryRoot, 'node_modules/.bin/node')
export const mainFile = path.join(repositoryRoot, 'cli/main.ts')
/** Where Node keeps what it made of the sources: each process would compile all of them again. */
export const NODE_COMPILE_CACHE = path.join(repositoryRoot, 'node_modules/.cache/compiled')

export type CommandProcessOptions = {
  /** Besides PATH and HOME, nothing of the test's own environment is seen. */
  readonly env?: Readonly<Record<string, string>>
  /** Stdin, which is not a terminal; empty by default. */
  readonly input?: string
  readonly cwd?: string
}

/** Runs a command in a process and waits for its end. */
export function runCommandProcess(
  words: readonly string[],
  options: CommandProcessOptions = {},
): Promise<CommandResult> {
  const child = spawnCommand(words, options)
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
export async function serveSiteProcess(
  site: string,
  options: CommandProcessOptions = {},
): Promise<{ readonly pid: number; stop(): Promise<CommandResult> }> {
  const child = spawnCommand(['serve', '--site', site], options)
  child.stdin?.end()
  const output = { stdout: '', stderr: '' }
  child.stdout?.on('data', (part: Buffer) => (output.stdout += part.toString()))
  const closed = new Promise<CommandResult>((resolve) => child.once('close', (exit) => resolve({ exit, ...output })))
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

/** Starts a command in a process; the caller waits for its end. */
export function spawnCommand(
  words: readonly string[],
  { env = {}, cwd }: Omit<CommandProcessOptions, 'input'> = {},
): ChildProcess {
  const { PATH = '', HOME = '' } = process.env
  return spawn(nodeProgram, [mainFile, ...words], {
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
    ...(cwd ? { cwd } : {}),
    stdio: 'pipe',
  })
}
