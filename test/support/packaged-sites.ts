// Sites that know each other, made and run as operators do: by commands of the packaged executable and nothing else.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { allOperations } from '../../daemon/boot/operations.ts'
import type { AnyOperation } from '../../daemon/kernel/operation.ts'
import type { Ended, Json } from './command-line.ts'
import { httpCall } from './http-call.ts'
import { executable } from './packaged-site.ts'
import { type Person, personAt } from './person.ts'
import { until } from './site-world.ts'

export type Daemon = {
  readonly pid: number
  /** Its log so far: all that it ever wrote to stderr. */
  log(): string
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
  /** SIGKILL; resolves once it is gone. */
  kill(): Promise<void>
}

export type PackagedSite = {
  readonly name: string
  readonly dir: string
  /** Its public keys, as `platform keys export` wrote them. */
  readonly keys: string
  /** Runs a command on this site in an empty environment. */
  platform(words: readonly string[], input?: string): Promise<Ended>
  /** The document of a command that must end well. */
  answered(words: readonly string[], input?: string): Promise<Json>
  /** `platform serve` with these roles, or all; resolves when every listener is open. */
  start(...roles: readonly string[]): Promise<Daemon>
  /** Someone of the site's tenant with a token minted by the command line; cleared for everything unless said. */
  as(subject: string, roles: readonly string[], clearance?: string): Promise<Person>
}

export type PackagedSites = {
  /** The folder that holds everything. */
  readonly dir: string
  readonly sites: Readonly<Record<string, PackagedSite>>
  /** Ends what still runs, and removes the folder. */
  end(): Promise<void>
}

/** Up to this level anything may cross between the sites; the policy has SECRET above it. */
export const ceiling = 'CONFIDENTIAL'

/** One site for each name, of the profile `demo`, each with a tenant of its name; all pin each other. */
export async function packagedSites(...names: readonly string[]): Promise<PackagedSites> {
  const dir = fs.mkdtempSync(path.join(tmpdir(), 'sites-'))
  const daemons = new Set<ChildProcess>()
  const end = async () => {
    await Promise.all([...daemons].map((child) => gone(child, 'SIGKILL')))
    fs.rmSync(dir, { recursive: true, force: true })
  }
  try {
    const made = await Promise.all(names.map((name) => makeSite(dir, name, daemons)))
    for (const site of made) for (const peer of made) if (peer !== site) await pin(site, peer)
    return { dir, sites: Object.fromEntries(made.map((site) => [site.name, site])), end }
  } catch (error) {
    await end()
    throw error
  }
}

/** Runs the packaged executable to its end; nothing of the test's own environment is seen. */
export async function run(
  words: readonly string[],
  around: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string; readonly input?: string } = {},
): Promise<Ended> {
  const { env = {}, cwd, input = '' } = around
  const child = spawn(executable(), [...words], { env, stdio: 'pipe', ...(cwd ? { cwd } : {}) })
  const said = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.stderr += text))
  child.stdin.on('error', () => undefined).end(input)
  const [exit] = (await once(child, 'close')) as [number | null]
  return { exit, ...said }
}

/** Pins `peer` at `site`, by the fingerprints that two people would have compared. */
export async function pin(site: PackagedSite, peer: PackagedSite): Promise<void> {
  const { keys } = JSON.parse(fs.readFileSync(peer.keys, 'utf8')) as { keys: Record<string, string>[] }
  const own = keys.filter(({ platform_use }) => platform_use === 'message' || platform_use === 'root')
  const fingerprints = own.map(({ platform_fingerprint }) => String(platform_fingerprint)).join(',')
  const words = ['peers', 'add', peer.name, '--keys', peer.keys, '--tenant', peer.name, '--ceiling', ceiling]
  await site.answered([...words, '--fingerprint', fingerprints])
}

async function makeSite(base: string, name: string, daemons: Set<ChildProcess>): Promise<PackagedSite> {
  const dir = path.join(base, name)
  const keys = path.join(base, `${name}.keys.json`)
  let starts = 0
  const platform: PackagedSite['platform'] = (words, input = '') => run([...words, '--site', dir], { cwd: base, input })
  const urls = new Map<string, string>()
  const site: PackagedSite = {
    name,
    dir,
    keys,
    platform,
    async answered(words, input) {
      const { exit, stdout, stderr } = await platform([...words, '--json'], input)
      if (exit !== 0) throw new Error(`platform ${words.join(' ')} ended with ${exit}: ${stderr}`)
      return JSON.parse(stdout)
    },
    async start(...roles) {
      const log = path.join(base, `${name}-${++starts}.log`)
      const { daemon, serving } = await started(['serve', ...roles, '--site', dir], log, daemons)
      for (const [role, url] of serving) urls.set(role, url)
      return daemon
    },
    async as(subject, roles, clearance = 'SECRET') {
      const words = ['token', 'mint', '--subject', subject, '--roles', roles.join(','), '--clearance', clearance]
      const { token } = await site.answered(words)
      return personAt({ call: (role, ...asked) => httpCall(urls.get(role) ?? '', ...asked) }, token, roleOf)
    },
  }
  await site.answered(['init', '--name', name, '--profile', 'demo', '--port-base', '0', '--yes'])
  const exported = await platform(['keys', 'export', '--out', keys])
  if (exported.exit !== 0) throw new Error(exported.stderr)
  return site
}

type Started = { readonly daemon: Daemon; readonly serving: readonly (readonly [role: string, url: string])[] }

async function started(words: readonly string[], file: string, daemons: Set<ChildProcess>): Promise<Started> {
  const out = fs.openSync(file, 'wx', 0o600)
  const child = spawn(executable(), [...words], { env: {}, stdio: ['ignore', out, out] })
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

async function gone(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (!hasEnded(child)) {
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  return child.exitCode
}

const roleNames = new Map<AnyOperation, string>(allOperations().map(({ operation, role }) => [operation, role]))

function roleOf(operation: AnyOperation): string {
  return roleNames.get(operation) ?? 'site'
}
