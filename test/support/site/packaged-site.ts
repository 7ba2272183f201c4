// A site made and served by the packaged executable, as an operator would: init, serve, SIGTERM.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { repositoryRoot } from '../repository/source-tree.ts'

const built = process.env.PLATFORM_EXECUTABLE
const builtWithFaultPoints = process.env.PLATFORM_FAULT_POINTS_EXECUTABLE

/** The executable of these sources; built first when it is missing or older than they are. */
export function findExecutable(): string {
  return built ?? buildExecutable('platform')
}

/** The one for tests, which dies at a step of the carrier that `PLATFORM_FAULT_POINT` names. */
export function findFaultPointExecutable(): string {
  return builtWithFaultPoints ?? buildExecutable('platform-fault-points', '--fault-points')
}

const builtExecutables = new Map<string, string>()

/** Looked at once by each process: a look takes longer than most commands. */
function buildExecutable(name: string, ...words: readonly string[]): string {
  const known = builtExecutables.get(name)
  if (known) return known
  execFileSync(path.join(repositoryRoot, 'scripts/build'), ['--if-stale', ...words], { stdio: 'pipe' })
  const file = path.join(repositoryRoot, 'dist', name)
  builtExecutables.set(name, file)
  return file
}

export type PackagedCommandResult = { readonly status: number | null; readonly stdout: string; readonly stderr: string }

export type PackagedSite = {
  readonly dir: string
  readonly profile: string
  /** Runs a command on this site, to its end. */
  run(words: readonly string[], env?: Readonly<Record<string, string>>): PackagedCommandResult
  /** Replaces a text of the profile; throws when it is not there. */
  edit(from: string, to: string): void
  /** Resolves when every listener is open. Throws with the log when the process ends before. */
  serve(env?: Readonly<Record<string, string>>): Promise<ServedSite>
  remove(): void
}

export type ServedSite = {
  readonly pid: number
  /** Role to its port on the public listener. */
  readonly ports: Readonly<Record<string, number>>
  /** Role to its port on the internal listener, where it has one. */
  readonly internal: Readonly<Record<string, number | undefined>>
  /** The exit code of an orderly end. */
  stop(): Promise<number | null>
  /** Leaves it no time to end. */
  kill(): Promise<void>
  signal(name: NodeJS.Signals): void
  readonly log: () => string
}

/** A site of the shipped profile, on free ports, alone in a temporary folder. */
export function createPackagedSite(profile: string, name = 'alpha'): PackagedSite {
  const program = findExecutable()
  const base = mkdtempSync(path.join(tmpdir(), 'packaged-'))
  const dir = path.join(base, name)
  const file = path.join(dir, 'profile.yaml')
  const run: PackagedSite['run'] = (words, env = {}) => {
    const { status, stdout, stderr } = spawnSync(program, [...words], { env, cwd: base, encoding: 'utf8' })
    return { status, stdout, stderr }
  }
  const site: PackagedSite = {
    dir,
    profile: file,
    run: (words, env) => run([...words, '--site', dir], env),
    edit(from, to) {
      const text = readFileSync(file, 'utf8')
      if (!text.includes(from)) throw new Error(`the profile has no "${from}"`)
      writeFileSync(file, text.replace(from, to))
    },
    serve: (env = {}) =>
      waitUntilServed(spawn(program, ['serve', '--site', dir], { env, cwd: base, stdio: ['ignore', 'pipe', 'pipe'] })),
    remove: () => rmSync(base, { recursive: true, force: true }),
  }
  const made = site.run(['init', '--profile', profile, '--name', name, '--tenant', 'acme', '--port-base', '0', '--yes'])
  if (made.status !== 0) throw new Error(`init failed: ${made.stderr}`)
  return site
}

type ReadyUrls = Readonly<Record<string, readonly string[]>>

async function waitUntilServed(child: ChildProcess): Promise<ServedSite> {
  let log = ''
  const ended = once(child, 'exit') as Promise<[number | null]>
  const urls = await new Promise<ReadyUrls>((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log += text
      const ready = parseReadyUrls(log)
      if (ready) resolve(ready)
    })
    ended.then(([status]) => reject(new Error(`serve ended with ${status}:\n${log}`)))
  })
  const port = (role: string, at: number) => {
    const tcp = urls[role]?.filter((url) => url.startsWith('http')) ?? []
    return tcp[at] === undefined ? undefined : Number(/:(\d+)$/.exec(tcp[at] ?? '')?.[1])
  }
  return {
    pid: child.pid ?? 0,
    ports: Object.fromEntries(Object.keys(urls).map((role) => [role, port(role, 0) ?? 0])),
    internal: Object.fromEntries(Object.keys(urls).map((role) => [role, port(role, 1)])),
    async stop() {
      child.kill('SIGTERM')
      return (await ended)[0]
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    signal: (name) => void child.kill(name),
    log: () => log,
  }
}

function parseReadyUrls(log: string): ReadyUrls | undefined {
  const line = log.split('\n').find((each) => each.includes('"platform.ready"') && each.endsWith('}'))
  return line === undefined ? undefined : (JSON.parse(line) as { urls: ReadyUrls }).urls
}
