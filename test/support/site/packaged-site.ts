// A site made and served by the packaged executable, as an operator would: init, serve, SIGTERM.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { CommandResult } from '../command/run-command.ts'
import { findExecutable, runExecutableSync } from '../command/run-executable.ts'
import { type DaemonOptions, type RunningDaemon, startDaemon } from './daemon-process.ts'

export type PackagedSite = {
  readonly dir: string
  readonly profile: string
  /** Runs a command on this site, to its end. */
  run(words: readonly string[], env?: Readonly<Record<string, string>>): CommandResult
  /** Replaces a text of the profile; throws when it is not there. */
  edit(from: string, to: string): void
  /** Resolves when every listener is open. Throws with the log when the process ends before. */
  serve(env?: Readonly<Record<string, string>>): Promise<ServedSite>
  remove(): void
}

export type ServedSite = RunningDaemon & {
  /** Role to its port on the public listener. */
  readonly ports: Readonly<Record<string, number>>
  /** Role to its port on the internal listener, where it has one. */
  readonly internal: Readonly<Record<string, number | undefined>>
}

/** A site of the shipped profile, on free ports, alone in a temporary folder. */
export function createPackagedSite(profile: string, name = 'alpha'): PackagedSite {
  const base = mkdtempSync(path.join(tmpdir(), 'packaged-'))
  const dir = path.join(base, name)
  const file = path.join(dir, 'profile.yaml')
  let starts = 0
  const site: PackagedSite = {
    dir,
    profile: file,
    run: (words, env = {}) => runExecutableSync([...words, '--site', dir], { env, cwd: base }),
    edit(from, to) {
      const text = readFileSync(file, 'utf8')
      if (!text.includes(from)) throw new Error(`the profile has no "${from}"`)
      writeFileSync(file, text.replace(from, to))
    },
    serve: (env = {}) =>
      serveSite({ words: ['serve', '--site', dir], env, cwd: base, log: path.join(base, `serve-${++starts}.log`) }),
    remove: () => rmSync(base, { recursive: true, force: true }),
  }
  const made = site.run(['init', '--profile', profile, '--name', name, '--tenant', 'acme', '--port-base', '0', '--yes'])
  if (made.exit !== 0) throw new Error(`init failed: ${made.stderr}`)
  return site
}

async function serveSite(options: Omit<DaemonOptions, 'program'>): Promise<ServedSite> {
  const { daemon, urls } = await startDaemon({ ...options, program: findExecutable() }, new Set())
  const port = (role: string, at: number) => {
    const tcp = urls[role]?.filter((url) => url.startsWith('http')) ?? []
    return tcp[at] === undefined ? undefined : Number(/:(\d+)$/.exec(tcp[at] ?? '')?.[1])
  }
  return {
    ...daemon,
    ports: Object.fromEntries(Object.keys(urls).map((role) => [role, port(role, 0) ?? 0])),
    internal: Object.fromEntries(Object.keys(urls).map((role) => [role, port(role, 1)])),
  }
}
