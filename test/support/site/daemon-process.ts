// A daemon as a child of the test: ready when it says so, with its log in a file, and ended by a signal.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import type { UnixUser } from '../command/run-executable.ts'
import { waitUntil } from './test-site.ts'

export type RunningDaemon = {
  readonly pid: number
  /** Its log so far: everything that it has printed. */
  log(): string
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
  /** SIGKILL; resolves once it is gone. */
  kill(): Promise<void>
  signal(name: NodeJS.Signals): void
  /** Whether it has ended, by any cause. */
  hasEnded(): boolean
}

type StartedDaemon = {
  readonly daemon: RunningDaemon
  /** The listeners of each role. */
  readonly urls: Readonly<Record<string, readonly string[]>>
}

export type DaemonOptions = {
  readonly program: string
  readonly words: readonly string[]
  /** The file that takes its output. */
  readonly log: string
  readonly user?: UnixUser
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

export async function startDaemon(
  { program, words, log: file, user, env = {}, cwd }: DaemonOptions,
  daemons: Set<ChildProcess>,
): Promise<StartedDaemon> {
  const out = fs.openSync(file, 'wx', 0o600)
  const child = spawn(program, [...words], { env, stdio: ['ignore', out, out], ...(cwd ? { cwd } : {}), ...user })
  fs.closeSync(out)
  daemons.add(child)
  child.once('exit', () => daemons.delete(child))
  const log = () => fs.readFileSync(file, 'utf8')
  const urls = await waitUntil(() => {
    if (hasEnded(child)) throw new Error(`platform ${words.join(' ')} ended with ${child.exitCode}: ${log()}`)
    return parseReadyUrls(log())
  })
  return {
    urls,
    daemon: {
      pid: child.pid ?? 0,
      log,
      stop: () => endProcess(child, 'SIGTERM'),
      async kill() {
        await endProcess(child, 'SIGKILL')
      },
      signal: (name) => void child.kill(name),
      hasEnded: () => hasEnded(child),
    },
  }
}

function parseReadyUrls(log: string): Readonly<Record<string, readonly string[]>> | undefined {
  const line = log.split('\n').find((each) => each.includes('"platform.ready"') && each.endsWith('}'))
  return line === undefined ? undefined : JSON.parse(line).urls
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** Resolves with its exit code, at once when it has ended already. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (!hasEnded(child)) {
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  return child.exitCode
}
