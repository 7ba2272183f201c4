// Health of the dependencies of a role besides its own store: other roles of the site, the carriers, the identity
// provider.
import type { DependencyHealth } from '../kernel/role/built-in-operations.ts'
import type { Role } from '../kernel/role/role.ts'
import { keyValueSettings } from '../kernel/settings/backing-service-settings.ts'
import { type Trace, traceHeaders } from '../kernel/telemetry/trace.ts'
import { requestOverSocket } from './host/socket-request.ts'
import type { SiteIdentity } from './identity/offline-identity.ts'
import { measureHealth } from './lifecycle.ts'
import type { RoleService } from './service.ts'
import { roleSocketFile, type SiteFolder } from './storage/site-folder.ts'

type HealthSource = { readonly name: string; health(): Promise<{ ok: boolean; detail: string }> }

/** Transports and carriers between sites, and the key-value store that processes share. */
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
  around: DependencySources,
) {
  return async (trace: Trace): Promise<DependencyHealth[]> => {
    const others = role.needs.map((name) => measureHealth(name, () => checkRoleHealth(name, folder, services, trace)))
    const moving = [...around.transports, ...around.carriers]
    const carriers = moving.map((each) => measureHealth(`transport ${each.name}`, () => each.health()))
    const shared = usesKeyValueServer(role, around)
      ? [measureHealth('key-value store', () => around.keyValue.health())]
      : []
    const provider = around.identity.health
    const known = provider ? [measureHealth('identity provider', async () => provider())] : []
    return Promise.all([...others, ...carriers, ...shared, ...known])
  }
}

/** The process's own memory is always well. */
function usesKeyValueServer(role: Role, { keyValue }: DependencySources): boolean {
  return keyValue.name !== 'memory' && role.settings.some(({ name }) => name === keyValueSettings.name)
}

async function checkRoleHealth(name: string, folder: SiteFolder, services: readonly RoleService[], trace: Trace) {
  const here = services.find((service) => service.role.name === name)
  if (here) return { ok: here.phase() === 'ready', detail: here.phase() }
  const status = await requestHealthStatus(roleSocketFile(folder, name), trace)
  return { ok: status === 200, detail: status === 200 ? 'ready in another process' : 'does not answer' }
}

async function requestHealthStatus(socketPath: string, trace: Trace): Promise<number> {
  const question = { method: 'GET', path: '/health', headers: traceHeaders(trace), timeout_ms: timeout_ms }
  const answer = await requestOverSocket(socketPath, question).catch(() => undefined)
  return answer?.status ?? 0
}
