// Runs the command line from sources as its own process, on Node 24, in folders that are gone afterwards.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'vitest'
import { root } from './source-tree.ts'

const node = path.join(root, 'node_modules/.bin/node')
const main = path.join(root, 'cli/main.ts')
/** Where Node keeps what it made of the sources: each command that a test types would compile all of them again. */
const NODE_COMPILE_CACHE = path.join(root, 'node_modules/.cache/compiled')

export type Ended = { readonly exit: number | null; readonly stdout: string; readonly stderr: string }

export type Surroundings = {
  /** Besides PATH and HOME, nothing of the test's own environment is seen. */
  readonly env?: Readonly<Record<string, string>>
  /** Stdin; empty unless said, and never a terminal. */
  readonly input?: string
  readonly cwd?: string
}

/** Types the words and waits for the end. */
export function platform(words: readonly string[], around: Surroundings = {}): Promise<Ended> {
  const child = start(words, around)
  child.stdin?.end(around.input ?? '')
  const said = { stdout: '', stderr: '' }
  child.stdout?.on('data', (part: Buffer) => (said.stdout += part.toString()))
  child.stderr?.on('data', (part: Buffer) => (said.stderr += part.toString()))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exit) => resolve({ exit, ...said }))
  })
}

/** The JSON document that a command printed; the command must have ended well. */
export async function answered(words: readonly string[], around: Surroundings = {}): Promise<Json> {
  const ended = await platform([...words, '--json'], around)
  expect(ended, ended.stderr).toMatchObject({ exit: 0 })
  return JSON.parse(ended.stdout) as Json
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every command
export type Json = any

/** A running `platform serve`; resolves once every role answers. */
export async function served(site: string, around: Surroundings = {}): Promise<{ stop(): Promise<Ended> }> {
  const child = start(['serve', '--site', site], around)
  child.stdin?.end()
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (part: Buffer) => (stdout += part.toString()))
  const closed = new Promise<Ended>((resolve) => child.once('close', (exit) => resolve({ exit, stdout, stderr })))
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', (part: Buffer) => {
      stderr += part.toString()
      if (stderr.includes('platform.ready')) resolve()
    })
    child.once('close', () => reject(new Error(`the site did not start: ${stderr}`)))
  })
  return {
    stop() {
      child.kill('SIGTERM')
      return closed
    },
  }
}

function start(words: readonly string[], { env = {}, cwd }: Surroundings): ChildProcess {
  const { PATH = '', HOME = '' } = process.env
  return spawn(node, [main, ...words], {
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
    ...(cwd ? { cwd } : {}),
    stdio: 'pipe',
  })
}

/** A folder of this test alone. */
export function scratch(name: string): { readonly dir: string; remove(): void } {
  const dir = mkdtempSync(path.join(tmpdir(), `platform-${name}-`))
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) }
}
