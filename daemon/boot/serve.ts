// Starts the roles of a site in this process in the order of their dependencies, and stops them in reverse.
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { type SystemClock, systemClock } from '../../adapters/host/clock/system-clock.ts'
import { systemdNotifier } from '../../adapters/host/systemd/systemd-notify.ts'
import type { RoleOutline } from '../kernel/role/role.ts'
import { cryptographySettings } from '../kernel/settings/cryptography-settings.ts'
import { getSettings } from '../kernel/settings/get-settings.ts'
import { platformSettings } from '../kernel/settings/platform-settings.ts'
import { ProfileError, type ProfileProblem, StartRefusal } from '../kernel/settings/profile-error.ts'
import type { ResolvedSettings, SettingSources } from '../kernel/settings/settings.ts'
import type { Log } from '../kernel/telemetry/log.ts'
import { roles } from '../roles.ts'
import { loadWire } from '../runtime/wires.ts'
import { applyCryptographyPolicy } from './host/cryptography-policy.ts'
import { reportFaults } from './host/fault-report.ts'
import { findDivisionProblems, findOwnershipProblems, resolveDivision } from './host/site-division.ts'
import { loadRole } from './loaded-roles.ts'
import { readProfile, resolveProfileSettings } from './profile.ts'
import { findRoleCertificateProblems } from './role-call-problems.ts'
import type { RoleService } from './service.ts'
import { openSiteRuntime, type SiteRuntime } from './site-runtime.ts'
import { findStartProblems, type StartCheckInput } from './start-checks.ts'
import { exchangeRecordFile, type SiteFolder } from './storage/site-folder.ts'
import { findNewerStores } from './storage/store-versions.ts'

export type ServeOptions = {
  readonly folder: SiteFolder
  /** Roles to run (default: those of the profile). */
  readonly roles?: readonly string[]
  readonly env: SettingSources['env']
  readonly flags?: SettingSources['flags']
  /** Clock (default: that of the machine); tests pass their own. */
  readonly clock?: SystemClock
  readonly log?: Log
}

export type RunningSite = {
  /** URLs of each role. */
  readonly urls: Readonly<Record<string, readonly string[]>>
  readonly services: readonly RoleService[]
  /** Stops the roles in order; a repeat returns the same promise. */
  stop(): Promise<void>
}

/** Throws `ProfileError` with every problem of the profile, or the error of the first role that cannot start. */
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
  throwIfProblems(findInterruptedRestore(options.folder))
  throwIfProblems(await findNewerStores(options.folder, starting))
  await requireStartable(
    { known_roles: roles, starting, requested: options.roles, resolved },
    options.folder,
    options.env,
    clock.now(),
  )
  const resolveSettingsAgain = async () => {
    const reloaded = resolveSettingsOrThrow(options)
    const input = { known_roles: roles, starting, requested: options.roles, resolved: reloaded }
    await requireStartable(input, options.folder, options.env, clock.now())
    return reloaded
  }
  applyCryptographyPolicy(getSettings(resolved, cryptographySettings).policy)
  const runtime = await openSiteRuntime({
    folder: options.folder,
    resolved,
    starting,
    clock,
    log: options.log,
    resolveSettingsAgain,
  })
  const stopReporting = reportFaults(runtime.log)
  try {
    await runtime.open()
  } catch (error) {
    await runtime.close(0)
    stopReporting()
    throw error
  }
  return buildRunningSite(
    { ...runtime, close: (drain_ms) => runtime.close(drain_ms).finally(stopReporting) },
    resolved,
    options,
  )
}

/** Checks the settings first, then by the wires folders and networks. */
async function requireStartable(
  input: StartCheckInput,
  folder: SiteFolder,
  env: SettingSources['env'],
  now: number,
): Promise<void> {
  throwIfProblems(findStartProblems(input))
  const { resolved, starting } = input
  throwIfProblems(findRoleCertificateProblems(folder, input, now))
  const wires = await Promise.all(starting.map(({ name }) => loadWire(name)))
  const problemLists = wires.map((wire) => wire?.findStartProblems?.({ folder, resolved, env, now }))
  throwIfProblems((await Promise.all(problemLists)).flatMap((problems) => problems ?? []))
}

function throwIfProblems(problems: readonly ProfileProblem[]): void {
  if (problems.length > 0) throw new StartRefusal(problems)
}

function resolveSettingsOrThrow({ folder, env, flags = {}, roles: requested }: ServeOptions): ResolvedSettings {
  const resolved = resolveProfileSettings(
    roles,
    readProfile(folder.profile),
    env,
    flags,
    dirname(folder.profile),
    requested,
  )
  if (resolved.problems.length > 0) throw new ProfileError(resolved.problems)
  return resolved
}

/** Of the roles some would have the data of the backup, and some their own. */
function findInterruptedRestore(folder: SiteFolder): ProfileProblem[] {
  if (!existsSync(exchangeRecordFile(folder))) return []
  const message = 'a restore was interrupted; `platform store restore --undo` takes it back, or restore again'
  return [{ path: folder.data, message }]
}

/** Sorts each role after the roles that it needs. */
function sortByNeeds(names: readonly string[]): RoleOutline[] {
  const selected = roles.filter((role) => names.includes(role.name))
  return selected.toSorted((a, b) => Number(a.needs.includes(b.name)) - Number(b.needs.includes(a.name)))
}

async function buildRunningSite(
  runtime: SiteRuntime,
  resolved: ResolvedSettings,
  { env }: ServeOptions,
): Promise<RunningSite> {
  const { drain_ms } = getSettings(resolved, platformSettings)
  const notify = systemdNotifier({ socket: env.NOTIFY_SOCKET, pid: process.pid, log: runtime.log })
  const urls = Object.fromEntries(runtime.services.map((service) => [service.role.name, service.urls]))
  runtime.log.info('platform.ready', { urls })
  await notify('ready')
  let stopping: Promise<void> | undefined
  const stop = async () => {
    runtime.log.info('platform.stopping')
    await notify('stopping')
    await runtime.close(drain_ms)
    runtime.log.info('platform.stopped')
  }
  return { urls, services: runtime.services, stop: () => (stopping ??= stop()) }
}
