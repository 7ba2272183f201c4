// Sites that know each other, made and run as operators do: by commands of the packaged executable and nothing else.
import { type ChildProcess, execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parse, stringify } from 'yaml'
import { everyOperation } from '../../../daemon/every-role.ts'
import type { AnyOperation } from '../../../daemon/kernel/operation/operation.ts'
import type { CommandResult, Json } from '../command/run-command.ts'
import {
  copyExecutable,
  findExecutable,
  findFaultPointExecutable,
  runExecutable,
  type UnixUser,
} from '../command/run-executable.ts'
import { type CheckedClient, createCheckedClient } from '../http/checked-client.ts'
import { sendHttpRequest } from '../http/send-http-request.ts'
import { type DaemonOptions, endProcess, type RunningDaemon, startDaemon } from './daemon-process.ts'

export type FederatedSite = {
  readonly name: string
  readonly dir: string
  /** Its public keys, as `platform keys export` wrote them. */
  readonly keys: string
  /** Runs a command on this site in an empty environment. */
  run(words: readonly string[], input?: string): Promise<CommandResult>
  /** The document of a command that must end well. */
  runJson(words: readonly string[], input?: string): Promise<Json>
  /** Runs a command as another user, whom only root can be; it sees the folder of all sites. */
  runAs(user: UnixUser, words: readonly string[]): Promise<CommandResult>
  /** `platform serve` with these roles, or all; resolves when every listener is open. */
  start(...roles: readonly string[]): Promise<RunningDaemon>
  startAs(user: UnixUser, ...roles: readonly string[]): Promise<RunningDaemon>
  /** Starts all roles with the executable of another release. */
  startOf(program: string): Promise<RunningDaemon>
  /** Starts all roles under a tool, which must end where the command begins and leave the daemon the child of the test. */
  startUnder(tool: readonly string[]): Promise<RunningDaemon>
  /** Starts all roles in a build that kills itself at this fault point, `name` or `name:nth`. */
  startUntil(faultPoint: string): Promise<RunningDaemon>
  /** Runs a command in that build; `exit` is null when it has died there. */
  runUntil(faultPoint: string, words: readonly string[]): Promise<CommandResult>
  /** A person of the site's tenant with a token minted by the command line; cleared for everything by default. */
  as(subject: string, roles: readonly string[], clearance?: string): Promise<CheckedClient>
  /** The holder of a token from elsewhere. */
  withToken(token: string): CheckedClient
}

export type PackagedFederation = {
  /** The folder that holds everything. */
  readonly dir: string
  readonly sites: Readonly<Record<string, FederatedSite>>
  /** Ends what still runs; the folder stays. */
  stopAll(): Promise<void>
  /** Ends what still runs, and removes the folder. */
  end(): Promise<void>
}

/** Up to this level anything may cross between the sites; the policy has SECRET above it. */
export const pinnedCeiling = 'CONFIDENTIAL'

/** One site for each name, of the profile `demo`, each with a tenant of its name; all pin each other. */
export function createPackagedFederation(...names: readonly string[]): Promise<PackagedFederation> {
  return openFederation(async (dir, daemons) => {
    const made = await Promise.all(names.map((name) => createSite(dir, name, daemons)))
    for (const site of made) for (const peer of made) if (peer !== site) await pinFederatedPeer(site, peer)
    return made
  })
}

/** The same with an executable for each site: those of two releases. */
export function createMixedFederation(programs: Readonly<Record<string, string>>): Promise<PackagedFederation> {
  return openFederation(async (dir, daemons) => {
    const made = await Promise.all(
      Object.entries(programs).map(([name, program]) => createSite(dir, name, daemons, program)),
    )
    for (const site of made) for (const peer of made) if (peer !== site) await pinFederatedPeer(site, peer)
    return made
  })
}

/** Throws where the federation has no site of this name. */
export function findSite({ sites }: PackagedFederation, name: string): FederatedSite {
  const site = sites[name]
  if (!site) throw new Error(`the federation has no site ${name}`)
  return site
}

/** The same sites once more, as they lie on disk, in a folder of their own; those that are copied must not run. */
export function copyPackagedFederation({ dir: from, sites }: PackagedFederation): Promise<PackagedFederation> {
  return openFederation(async (dir, daemons) => {
    // With the modes of its folders, which the copy of Node leaves behind.
    execFileSync('cp', ['-a', `${from}/.`, dir])
    return Object.keys(sites).map((name) => openSite(dir, name, daemons))
  })
}

async function openFederation(
  createSites: (dir: string, daemons: Set<ChildProcess>) => Promise<FederatedSite[]>,
): Promise<PackagedFederation> {
  const dir = fs.mkdtempSync(path.join(tmpdir(), 'sites-'))
  const daemons = new Set<ChildProcess>()
  const halt = async () => {
    await Promise.all([...daemons].map((child) => endProcess(child, 'SIGKILL')))
  }
  const end = async () => {
    await halt()
    fs.rmSync(dir, { recursive: true, force: true })
  }
  try {
    const made = await createSites(dir, daemons)
    return { dir, sites: Object.fromEntries(made.map((site) => [site.name, site])), stopAll: halt, end }
  } catch (error) {
    await end()
    throw error
  }
}

/** Pins `peer` at `site`, by the fingerprints that two people would have compared; with more words of `peers add`. */
export async function pinFederatedPeer(
  site: FederatedSite,
  peer: FederatedSite,
  level = pinnedCeiling,
  more: readonly string[] = [],
): Promise<void> {
  const { keys } = JSON.parse(fs.readFileSync(peer.keys, 'utf8')) as { keys: Record<string, string>[] }
  const own = keys.filter(({ platform_use }) => platform_use === 'message' || platform_use === 'root')
  const fingerprints = own.map(({ platform_fingerprint }) => String(platform_fingerprint)).join(',')
  const words = ['peers', 'add', peer.name, '--keys', peer.keys, '--tenant', peer.name, '--ceiling', level]
  await site.runJson([...words, '--fingerprint', fingerprints, ...more])
}

/** Lays these fields over those of the site's profile, section by section. */
export function editProfile(
  { dir }: Pick<FederatedSite, 'dir'>,
  sections: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): void {
  const file = path.join(dir, 'profile.yaml')
  const profile = parse(fs.readFileSync(file, 'utf8')) as Record<string, Record<string, unknown>>
  for (const [name, fields] of Object.entries(sections)) profile[name] = { ...profile[name], ...fields }
  fs.writeFileSync(file, stringify(profile, { aliasDuplicateObjects: false }))
}

async function createSite(
  base: string,
  name: string,
  daemons: Set<ChildProcess>,
  program?: string,
): Promise<FederatedSite> {
  const site = openSite(base, name, daemons, program)
  await site.runJson(['init', '--name', name, '--profile', 'demo', '--port-base', '0', '--yes'])
  const exported = await site.run(['keys', 'export', '--out', site.keys])
  if (exported.exit !== 0) throw new Error(exported.stderr)
  return site
}

/** Of a folder that may have been made, or will be. */
function openSite(base: string, name: string, daemons: Set<ChildProcess>, program?: string): FederatedSite {
  const dir = path.join(base, name)
  const keys = path.join(base, `${name}.keys.json`)
  let starts = 0
  const platform: FederatedSite['run'] = (words, input = '') =>
    runExecutable([...words, '--site', dir], { cwd: base, input, ...(program ? { program } : {}) })
  const serves = new Map<string, { url: string; daemon: RunningDaemon }>()
  // The port of one that is gone may be another site's by now; nobody answers at no URL.
  const urlOf = (role: string) => {
    const found = serves.get(role)
    return found && !found.daemon.hasEnded() ? found.url : ''
  }
  const serving = async (
    roles: readonly string[],
    options: Pick<DaemonOptions, 'user' | 'env'> & { program?: string; under?: readonly string[] } = {},
  ) => {
    const log = path.join(base, `${name}-${++starts}.log`)
    const served = options.program ?? program ?? (options.user ? copyExecutable(base) : findExecutable())
    const [first = served, ...words] = [...(options.under ?? []), served, 'serve', ...roles, '--site', dir]
    const begun = await startDaemon({ ...options, program: first, words, log }, daemons)
    for (const [role, urls] of Object.entries(begun.urls))
      serves.set(role, { url: urls.find((url) => url.startsWith('http')) ?? '', daemon: begun.daemon })
    return begun.daemon
  }
  const site: FederatedSite = {
    name,
    dir,
    keys,
    run: platform,
    async runJson(words, input) {
      const { exit, stdout, stderr } = await platform([...words, '--json'], input)
      if (exit !== 0) throw new Error(`platform ${words.join(' ')} ended with ${exit}: ${stderr}`)
      return JSON.parse(stdout)
    },
    runAs: (user, words) => runExecutable([...words, '--site', dir], { cwd: base, user }),
    start: (...roles) => serving(roles),
    startOf: (release) => serving([], { program: release }),
    startAs: (user, ...roles) => serving(roles, { user }),
    startUnder: (under) => serving([], { under, env: { PATH: process.env.PATH ?? '' } }),
    startUntil: (faultPoint) => serving([], buildFaultPointOptions(faultPoint)),
    runUntil: (faultPoint, words) =>
      runExecutable([...words, '--site', dir], { cwd: base, ...buildFaultPointOptions(faultPoint) }),
    async as(subject, roles, clearance = 'SECRET') {
      const words = ['token', 'mint', '--subject', subject, '--roles', roles.join(','), '--clearance', clearance]
      const { token } = await site.runJson(words)
      return site.withToken(token)
    },
    withToken: (token) =>
      createCheckedClient({ call: (role, ...args) => sendHttpRequest(urlOf(role), ...args) }, token, findOperationRole),
  }
  return site
}

function buildFaultPointOptions(faultPoint: string) {
  return { program: findFaultPointExecutable(), env: { PLATFORM_FAULT_POINT: faultPoint } }
}

const roleNames = new Map<AnyOperation, string>(everyOperation.map(({ operation, role }) => [operation, role]))

function findOperationRole(operation: AnyOperation): string {
  return roleNames.get(operation) ?? 'site'
}
