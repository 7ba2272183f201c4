// Starts the roles of a site in this process, in the order that they need each other, and stops them in reverse.
import { type Clock, systemClock } from '../../adapters/host/clock/system-clock.ts'
import { systemdNotifier } from '../../adapters/host/systemd/systemd-notify.ts'
import { listKeys } from '../../adapters/keys/jose/key-life.ts'
import { peerFiles } from '../../adapters/peers/files/peer-files.ts'
import type { Log } from '../kernel/call.ts'
import type { PublicKey } from '../kernel/keys.ts'
import { identitySettings, platformSettings } from '../kernel/platform-settings.ts'
import type { RoleOutline } from '../kernel/role.ts'
import type { Resolved, Sources } from '../kernel/settings.ts'
import { roles } from '../roles.ts'
import { divisionOf, divisionProblems, ownershipProblems } from './division.ts'
import { type House, openHouse } from './house.ts'
import { lockedKeys } from './locked-keys.ts'
import { type Standing, startProblems } from './may-start.ts'
import { networkProblems } from './network-carriers.ts'
import { loadRole } from './operations.ts'
import { ProfileError, type ProfileProblem, readProfile, StartRefused, settle, valuesOf } from './profile.ts'
import type { Service } from './service.ts'
import type { SiteFolder } from './site-folder.ts'

export type ServeOptions = {
  readonly folder: SiteFolder
  /** Those of the profile when absent. */
  readonly roles?: readonly string[]
  readonly env: Sources['env']
  readonly flags?: Sources['flags']
  /** Where time comes from; the machine's clock unless a test brings its own. */
  readonly clock?: Clock
  readonly log?: Log
}

export type Running = {
  /** Role to the URLs that it answers at. */
  readonly urls: Readonly<Record<string, readonly string[]>>
  readonly services: readonly Service[]
  /** In order, once: a repeat is the same promise. */
  stop(): Promise<void>
}

/** Throws `ProfileError` with every problem of the profile, or whatever keeps the first role from starting. */
export async function serve(options: ServeOptions): Promise<Running> {
  const clock = options.clock ?? systemClock()
  const resolved = settledOrThrow(options)
  const starting = await Promise.all(inOrder(options.roles ?? valuesOf(resolved, platformSettings).roles).map(loadRole))
  refuseFor(
    divisionProblems(
      resolved,
      starting.map(({ name }) => name),
    ),
  )
  refuseFor(ownershipProblems(options.folder, starting, divisionOf(resolved)))
  const hasSite = starting.some(({ name }) => name === 'site')
  const peers = hasSite ? (await peerFiles(options.folder.peers).list()).map((peer) => peer.name) : []
  const keys = hasSite ? keysAtHand(options.folder) : undefined
  const standing = { all: roles, starting, named: options.roles, peers, keys }
  await mayStart({ ...standing, resolved, now: clock.now() })
  if (hasSite && keys) refuseFor(await lockProblems(options.folder, resolved))
  if (hasSite) refuseFor(await networkProblems(options.folder, resolved, options.env))
  const resettle = async () => {
    const again = settledOrThrow(options)
    await mayStart({ ...standing, resolved: again, now: clock.now() })
    return again
  }
  const house = await openHouse({ folder: options.folder, resolved, starting, clock, log: options.log, resettle })
  try {
    await house.open()
  } catch (error) {
    await house.close(0)
    throw error
  }
  return running(house, resolved, options)
}

async function mayStart(given: Standing): Promise<void> {
  refuseFor(startProblems(given))
  if (!given.starting.some(({ name }) => name === 'proxy')) return
  const { proxyProblems } = await import('./proxy/start-problems.ts')
  refuseFor(await proxyProblems(given.resolved))
}

/** Keys that cannot be read keep the site role alone from starting, which then says why. */
function keysAtHand(folder: SiteFolder): PublicKey[] | undefined {
  try {
    return listKeys(folder.keys)
  } catch {
    return undefined
  }
}

async function lockProblems(folder: SiteFolder, resolved: Resolved): Promise<ProfileProblem[]> {
  const locked = await lockedKeys(folder, valuesOf(resolved, identitySettings).keys_passphrase_file)
  return locked === undefined ? [] : [{ path: 'identity.keys_passphrase_file', message: locked }]
}

function refuseFor(problems: readonly ProfileProblem[]): void {
  if (problems.length > 0) throw new StartRefused(problems)
}

function settledOrThrow({ folder, env, flags = {}, roles: named }: ServeOptions): Resolved {
  const resolved = settle(roles, readProfile(folder.profile), env, flags, named)
  if (resolved.problems.length > 0) throw new ProfileError(resolved.problems)
  return resolved
}

/** Each role after those that it needs. */
function inOrder(names: readonly string[]): RoleOutline[] {
  const wanted = roles.filter((role) => names.includes(role.name))
  return wanted.toSorted((a, b) => Number(a.needs.includes(b.name)) - Number(b.needs.includes(a.name)))
}

async function running(house: House, resolved: Resolved, { env }: ServeOptions): Promise<Running> {
  const { drain_ms } = valuesOf(resolved, platformSettings)
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
