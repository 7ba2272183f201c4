// Starts the roles of a site in this process, in the order that they need each other, and stops them in reverse.
import { type Clock, systemClock } from '../../adapters/host/clock/system-clock.ts'
import { systemdNotifier } from '../../adapters/host/systemd/systemd-notify.ts'
import { listKeys } from '../../adapters/keys/jose/key-life.ts'
import { peerFiles } from '../../adapters/peers/files/peer-files.ts'
import type { PublicKey } from '../kernel/cryptography/signatures.ts'
import type { Log } from '../kernel/operation/call.ts'
import type { RoleOutline } from '../kernel/role/role.ts'
import { identitySettings, platformSettings } from '../kernel/settings/platform-settings.ts'
import type { ResolvedSettings, SettingSources } from '../kernel/settings/settings.ts'
import { roles } from '../roles.ts'
import { findDivisionProblems, findOwnershipProblems, resolveDivision } from './host/site-division.ts'
import { findLockedKeyFault } from './identity/locked-keys.ts'
import { findNetworkProblems } from './links/network-carriers.ts'
import { loadRole } from './loaded-roles.ts'
import {
  getSettings,
  ProfileError,
  type ProfileProblem,
  readProfile,
  resolveProfileSettings,
  StartRefusal,
} from './profile.ts'
import type { RoleService } from './service.ts'
import { openSiteRuntime, type SiteRuntime } from './site-runtime.ts'
import { findStartProblems, type StartCheckInput } from './start-checks.ts'
import type { SiteFolder } from './storage/site-folder.ts'

export type ServeOptions = {
  readonly folder: SiteFolder
  /** Those of the profile when absent. */
  readonly roles?: readonly string[]
  readonly env: SettingSources['env']
  readonly flags?: SettingSources['flags']
  /** Where time comes from; the machine's clock unless a test brings its own. */
  readonly clock?: Clock
  readonly log?: Log
}

export type RunningSite = {
  /** Role to the URLs that it answers at. */
  readonly urls: Readonly<Record<string, readonly string[]>>
  readonly services: readonly RoleService[]
  /** In order, once: a repeat is the same promise. */
  stop(): Promise<void>
}

/** Throws `ProfileError` with every problem of the profile, or whatever keeps the first role from starting. */
export async function serve(options: ServeOptions): Promise<RunningSite> {
  const clock = options.clock ?? systemClock()
  const resolved = resolveSettingsOrThrow(options)
  const starting = await Promise.all(
    sortByNeeds(options.roles ?? getSettings(resolved, platformSettings).roles).map(loadRole),
  )
  throwIfProblems(
    findDivisionProblems(
      resolved,
      starting.map(({ name }) => name),
    ),
  )
  throwIfProblems(findOwnershipProblems(options.folder, starting, resolveDivision(resolved)))
  const hasSite = starting.some(({ name }) => name === 'site')
  const peers = hasSite ? (await peerFiles(options.folder.peers).list()).map((peer) => peer.name) : []
  const keys = hasSite ? readSiteKeys(options.folder) : undefined
  const standing = { all: roles, starting, named: options.roles, peers, keys }
  await requireStartable({ ...standing, resolved, now: clock.now() })
  if (hasSite && keys) throwIfProblems(await findKeyLockProblems(options.folder, resolved))
  if (hasSite) throwIfProblems(await findNetworkProblems(options.folder, resolved, options.env))
  const resettle = async () => {
    const again = resolveSettingsOrThrow(options)
    await requireStartable({ ...standing, resolved: again, now: clock.now() })
    return again
  }
  const house = await openSiteRuntime({
    folder: options.folder,
    resolved,
    starting,
    clock,
    log: options.log,
    resolveSettingsAgain: resettle,
  })
  try {
    await house.open()
  } catch (error) {
    await house.close(0)
    throw error
  }
  return buildRunningSite(house, resolved, options)
}

async function requireStartable(given: StartCheckInput): Promise<void> {
  throwIfProblems(findStartProblems(given))
  if (!given.starting.some(({ name }) => name === 'proxy')) return
  const { findProxyStartProblems } = await import('../runtime/proxy/start-checks.ts')
  throwIfProblems(await findProxyStartProblems(given.resolved))
}

/** Keys that cannot be read keep the site role alone from starting, which then says why. */
function readSiteKeys(folder: SiteFolder): PublicKey[] | undefined {
  try {
    return listKeys(folder.keys)
  } catch {
    return undefined
  }
}

async function findKeyLockProblems(folder: SiteFolder, resolved: ResolvedSettings): Promise<ProfileProblem[]> {
  const locked = await findLockedKeyFault(folder, getSettings(resolved, identitySettings).keys_passphrase_file)
  return locked === undefined ? [] : [{ path: 'identity.keys_passphrase_file', message: locked }]
}

function throwIfProblems(problems: readonly ProfileProblem[]): void {
  if (problems.length > 0) throw new StartRefusal(problems)
}

function resolveSettingsOrThrow({ folder, env, flags = {}, roles: named }: ServeOptions): ResolvedSettings {
  const resolved = resolveProfileSettings(roles, readProfile(folder.profile), env, flags, named)
  if (resolved.problems.length > 0) throw new ProfileError(resolved.problems)
  return resolved
}

/** Each role after those that it needs. */
function sortByNeeds(names: readonly string[]): RoleOutline[] {
  const wanted = roles.filter((role) => names.includes(role.name))
  return wanted.toSorted((a, b) => Number(a.needs.includes(b.name)) - Number(b.needs.includes(a.name)))
}

async function buildRunningSite(
  house: SiteRuntime,
  resolved: ResolvedSettings,
  { env }: ServeOptions,
): Promise<RunningSite> {
  const { drain_ms } = getSettings(resolved, platformSettings)
  const notify = systemdNotifier({ socket: env.NOTIFY_SOCKET, pid: process.pid, log: house.log })
  const urls = Object.fromEntries(house.services.map((service) => [service.role.name, service.urls]))
  house.log.info('platform.ready', { urls })
  await notify('ready')
  let stopping: Promise<void> | undefined
  const stop = async () => {
    house.log.info('platform.stopping')
    await notify('stopping')
    await house.close(drain_ms)
    house.log.info('platform.stopped')
  }
  return { urls, services: house.services, stop: () => (stopping ??= stop()) }
}
