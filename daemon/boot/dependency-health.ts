// Health of the dependencies of a role besides its own store: those that roles share, and those that its wire supplies.
import { isRefusal } from '../kernel/error/errors.ts'
import { type Dependency, type DependencyFinding, type DependencyHealth, findingOf } from '../kernel/role/dependency.ts'
import type { Role } from '../kernel/role/role.ts'
import { keyValueSettings } from '../kernel/settings/backing-service-settings.ts'
import { type Trace, traceHeaders } from '../kernel/telemetry/trace.ts'
import type { SiteIdentity } from './identity/offline-identity.ts'
import { type RoleDirectory, sendElsewhere } from './role-caller.ts'
import { findRoleRoute, type RoleRoute } from './role-route.ts'
import type { RoleService } from './service.ts'

type HealthSource = { readonly name: string; health(): Promise<{ ok: boolean; detail: string }> }

/** Dependencies that the roles of a process share. */
type DependencySources = {
  readonly transports: readonly HealthSource[]
  readonly carriers: readonly HealthSource[]
  readonly keyValue: HealthSource
  readonly identity: Pick<SiteIdentity, 'health'>
}

const timeout_ms = 2_000

/** `declared`: the dependencies that the wire of the role supplies. Throws if two dependencies have one name. */
export function dependencyHealthCheck(
  role: Role,
  directory: RoleDirectory,
  services: readonly RoleService[],
  sources: DependencySources,
  declared: readonly Dependency[],
) {
  // Listed again for each report: carriers and roles of the process may end.
  const listShared = () => listSharedDependencies(role, directory, services, sources)
  requireUniqueNames(role, [...listShared(), ...declared])
  const probes = new DependencyProbes()
  return async (trace: Trace): Promise<DependencyHealth[]> => {
    const shared = listShared().map(({ name, check }) => ({ name, probe: () => check(trace) }))
    return Promise.all([...shared, ...declared].map((dependency) => probes.find(dependency)))
  }
}

/** `trace`: of the request whose probe it is. */
type SharedDependency = { readonly name: string; readonly check: (trace: Trace) => Promise<DependencyFinding> }

function listSharedDependencies(
  role: Role,
  directory: RoleDirectory,
  services: readonly RoleService[],
  sources: DependencySources,
): SharedDependency[] {
  const { transports, carriers, keyValue, identity } = sources
  const provider = identity.health
  return [
    ...role.needs.map((name) => ({
      name,
      check: (trace: Trace) => checkRoleHealth(name, { directory, requesting: role.name, services }, trace),
    })),
    ...[...transports, ...carriers].map((source) => ({
      name: `transport ${source.name}`,
      check: async () => findingOf(await source.health(), 'degraded'),
    })),
    ...(usesKeyValueServer(role, sources)
      ? [{ name: 'key-value store', check: async () => findingOf(await keyValue.health(), 'down') }]
      : []),
    ...(provider ? [{ name: 'identity provider', check: async () => findingOf(provider(), 'down') }] : []),
  ]
}

function requireUniqueNames(role: Role, dependencies: readonly { readonly name: string }[]): void {
  const names = ['store', ...dependencies.map(({ name }) => name)]
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) throw new TypeError(`the role ${role.name} has two dependencies named "${repeated}"`)
}

export type ProbeLimits = {
  readonly timeout_ms: number
  /** Age up to which a finding answers further requests. */
  readonly reuse_ms: number
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
}

const defaultLimits: ProbeLimits = { timeout_ms: 3_000, reuse_ms: 1_000, now: () => performance.now() }

type BegunProbe = {
  readonly began_ms: number
  /** Also after its time limit: a probe that ignores its signal is not begun again beside itself. */
  readonly isRunning: () => boolean
  readonly health: Promise<DependencyHealth>
}

/**
 * Probes dependencies, each by its name. Requests that arrive during a probe, or shortly after it began, share its finding:
 * `/health` needs no token, and strangers must not multiply requests to other servers, to a cluster or to the disk.
 */
export class DependencyProbes {
  readonly #limits: ProbeLimits
  readonly #begun = new Map<string, BegunProbe>()

  constructor(limits = defaultLimits) {
    this.#limits = limits
  }

  find({ name, probe }: Dependency): Promise<DependencyHealth> {
    const { timeout_ms, reuse_ms, now } = this.#limits
    const latest = this.#begun.get(name)
    if (latest && (latest.isRunning() || now() - latest.began_ms < reuse_ms)) return latest.health
    let isRunning = true
    const watched: Dependency['probe'] = async (signal) => {
      try {
        return await probe(signal)
      } finally {
        isRunning = false
      }
    }
    const health = measureHealth(name, () => limitTime(watched, timeout_ms))
    this.#begun.set(name, { began_ms: now(), isRunning: () => isRunning, health })
    return health
  }
}

async function limitTime(probe: Dependency['probe'], timeout_ms: number): Promise<DependencyFinding> {
  const limit = AbortSignal.timeout(timeout_ms)
  const late = new Promise<DependencyFinding>((resolve) => {
    const detail = `no answer within ${timeout_ms} ms`
    limit.addEventListener('abort', () => resolve({ state: 'down', detail }), { once: true })
  })
  return Promise.race([probe(limit), late])
}

/** Whether the role uses a key-value server; the memory of the process needs no check. */
function usesKeyValueServer(role: Role, { keyValue }: DependencySources): boolean {
  return keyValue.name !== 'memory' && role.settings.some(({ name }) => name === keyValueSettings.name)
}

type RoleHealthContext = {
  readonly directory: RoleDirectory
  readonly requesting: string
  readonly services: readonly RoleService[]
}

async function checkRoleHealth(name: string, { directory, requesting, services }: RoleHealthContext, trace: Trace) {
  const route = findRoleRoute(directory, name)
  if (route.via === 'process') {
    const phase = services.find((service) => service.role.name === name)?.phase() ?? 'starting'
    return findingOf({ ok: phase === 'ready', detail: phase }, 'down')
  }
  const status = await requestHealthStatus(directory, route, requesting, name, trace)
  const ok = status === 200
  const place = route.via === 'url' ? 'on another machine' : 'in another process'
  return findingOf({ ok, detail: ok ? `ready ${place}` : 'does not answer' }, 'down')
}

async function requestHealthStatus(
  directory: RoleDirectory,
  route: Exclude<RoleRoute, { via: 'process' }>,
  requesting: string,
  name: string,
  trace: Trace,
): Promise<number> {
  const request = { method: 'GET', path: '/health', headers: traceHeaders(trace), timeout_ms }
  const response = await sendElsewhere(directory, route, requesting, name, request).catch(() => undefined)
  return response?.status ?? 0
}

/** Runs a health check and measures its latency. A check that throws has found its dependency down. */
async function measureHealth(name: string, check: () => Promise<DependencyFinding>): Promise<DependencyHealth> {
  const began = performance.now()
  const found = await check().catch((error: unknown): DependencyFinding => {
    return { state: 'down', detail: isRefusal(error) ? error.message : 'cannot be reached' }
  })
  return { name, latency_ms: Math.round((performance.now() - began) * 1_000) / 1_000, ...found }
}
