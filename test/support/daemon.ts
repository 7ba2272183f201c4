// A daemon as a child of the test: ready when it says so, with its log in a file, and ended by a signal.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import type { Daemon, User } from './packaged-sites.ts'
import { until } from './site-world.ts'

type Started = { readonly daemon: Daemon; readonly serving: readonly (readonly [role: string, url: string])[] }

export type Starting = {
  readonly program: string
  readonly words: readonly string[]
  /** The file that takes all that it writes. */
  readonly log: string
  readonly user?: User
  readonly env?: Readonly<Record<string, string>>
}

export async function started(
  { program, words, log: file, user, env = {} }: Starting,
  daemons: Set<ChildProcess>,
): Promise<Started> {
  const out = fs.openSync(file, 'wx', 0o600)
  const child = spawn(program, [...words], { env, stdio: ['ignore', out, out], ...user })
  fs.closeSync(out)
  daemons.add(child)
  child.once('exit', () => daemons.delete(child))
  const log = () => fs.readFileSync(file, 'utf8')
  const urls = await until(() => {
    if (hasEnded(child)) throw new Error(`platform ${words.join(' ')} ended with ${child.exitCode}: ${log()}`)
    return readyIn(log())
  })
  const serving = Object.entries(urls).map(([role, all]) => [role, all.find((url) => url.startsWith('http')) ?? ''])
  return {
    serving: serving as [string, string][],
    daemon: {
      pid: child.pid ?? 0,
      log,
      stop: () => gone(child, 'SIGTERM'),
      async kill() {
        await gone(child, 'SIGKILL')
      },
      isGone: () => hasEnded(child),
    },
  }
}

function readyIn(log: string): Readonly<Record<string, readonly string[]>> | undefined {
  const line = log.split('\n').find((each) => each.includes('"platform.ready"') && each.endsWith('}'))
  return line === undefined ? undefined : JSON.parse(line).urls
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** Resolves with its exit code, at once when it has ended already. */
export async function gone(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (!hasEnded(child)) {
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  return child.exitCode
}
