// Health of the proxy: its threads, and its dependencies as the requests of callers last found them.

import type { DependencyHealth } from '../../kernel/role/built-in-operations.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { DependencyObservation, ProxyDependency } from '../../roles/proxy/serving/thread-report.ts'
import { settings } from '../../roles/proxy/settings.ts'
import type { PublicListenerState } from './public-listener-state.ts'

const dependencies: readonly ProxyDependency[] = ['upstream', 'token endpoint']
/** A failure that is older, with no request since, does not count any longer. */
const failure_memory_ms = 300_000

/** `now`: epoch milliseconds. */
export function reportProxyHealth(state: PublicListenerState, now: number): DependencyHealth[] {
  return [reportThreadsHealth(state), ...dependencies.map((name) => reportDependencyHealth(name, state, now))]
}

/** Whether the settings name the client that obtains service tokens. */
export function hasTokenClient(resolved: ResolvedSettings): boolean {
  const { public_sso_client_id, public_sso_client_secret } = getSettings(resolved, settings)
  return public_sso_client_id !== undefined && public_sso_client_secret !== undefined
}

function reportThreadsHealth({ supervisor, threads }: PublicListenerState): DependencyHealth {
  const alive = supervisor?.alive ?? 0
  return { name: 'threads', ok: alive >= threads, detail: `${alive} of ${threads} threads`, latency_ms: 0 }
}

function reportDependencyHealth(
  name: ProxyDependency,
  { observations, resolved }: PublicListenerState,
  now: number,
): DependencyHealth {
  if (name === 'upstream' || hasTokenClient(resolved)) return reportLastHealth(name, observations[name], now)
  return { name, ok: false, detail: 'no client for service tokens is configured', latency_ms: 0 }
}

/** A health check sends no request: otherwise anyone who reaches the port could cause requests to the dependencies. */
function reportLastHealth(
  name: ProxyDependency,
  observation: DependencyObservation | undefined,
  now: number,
): DependencyHealth {
  if (!observation) return { name, ok: true, detail: 'not used yet', latency_ms: 0 }
  const { ok, detail, latency_ms, at } = observation
  return {
    name,
    ok: ok || Math.abs(now - at) > failure_memory_ms,
    detail: `${detail}, ${new Date(at).toISOString()}`,
    latency_ms,
  }
}
