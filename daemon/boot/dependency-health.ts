// Health of the dependencies of a role besides its own store: other roles, carriers, key-value store, identity provider.
import type { DependencyHealth } from '../kernel/role/built-in-operations.ts'
import type { Role } from '../kernel/role/role.ts'
import { keyValueSettings } from '../kernel/settings/backing-service-settings.ts'
import { type Trace, traceHeaders } from '../kernel/telemetry/trace.ts'
import { requestOverSocket } from './host/socket-request.ts'
import type { SiteIdentity } from './identity/offline-identity.ts'
import type { RoleService } from './service.ts'
import { roleSocketFile, type SiteFolder } from './storage/site-folder.ts'

type HealthSource = { readonly name: string; health(): Promise<{ ok: boolean; detail: string }> }

/** Dependencies that the roles of a process share. */
type DependencySources = {
  readonly transports: readonly HealthSource[]
  readonly carriers: readonly HealthSource[]
  readonly keyValue: HealthSource
  readonly identity: Pick<SiteIdentity, 'health'>
}

const timeout_ms = 2_000

export function dependencyHealthCheck(
  role: Role,
  folder: SiteFolder,
  services: readonly RoleService[],
  sources: DependencySources,
) {
  return async (trace: Trace): Promise<DependencyHealth[]> => {
    const roleChecks = role.needs.map((name) =>
      measureHealth(name, () => checkRoleHealth(name, folder, services, trace)),
    )
    const messageSources = [...sources.transports, ...sources.carriers]
    const carriers = messageSources.map((source) => measureHealth(`transport ${source.name}`, () => source.health()))
    const keyValueChecks = usesKeyValueServer(role, sources)
      ? [measureHealth('key-value store', () => sources.keyValue.health())]
      : []
    const provider = sources.identity.health
    const providerChecks = provider ? [measureHealth('identity provider', async () => provider())] : []
    return Promise.all([...roleChecks, ...carriers, ...keyValueChecks, ...providerChecks])
  }
}

/** Whether the role uses a key-value server; the memory of the process needs no check. */
function usesKeyValueServer(role: Role, { keyValue }: DependencySources): boolean {
  return keyValue.name !== 'memory' && role.settings.some(({ name }) => name === keyValueSettings.name)
}

async function checkRoleHealth(name: string, folder: SiteFolder, services: readonly RoleService[], trace: Trace) {
  const localService = services.find((service) => service.role.name === name)
  if (localService) return { ok: localService.phase() === 'ready', detail: localService.phase() }
  const status = await requestHealthStatus(roleSocketFile(folder, name), trace)
  return { ok: status === 200, detail: status === 200 ? 'ready in another process' : 'does not answer' }
}

async function requestHealthStatus(socketPath: string, trace: Trace): Promise<number> {
  const request = { method: 'GET', path: '/health', headers: traceHeaders(trace), timeout_ms }
  const response = await requestOverSocket(socketPath, request).catch(() => undefined)
  return response?.status ?? 0
}

/** Runs a health check and measures its latency. A check that throws has failed. */
export async function measureHealth(
  name: string,
  check: () => Promise<{ ok: boolean; detail: string }>,
): Promise<DependencyHealth> {
  const began = performance.now()
  const found = await check().catch(() => ({ ok: false, detail: 'cannot be reached' }))
  return { name, ...found, latency_ms: Math.round((performance.now() - began) * 1_000) / 1_000 }
}
