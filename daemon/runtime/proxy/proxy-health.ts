// Health of the proxy: its threads, and its dependencies as the requests of callers last found them.

import {
  type Dependency,
  type DependencyFinding,
  type DependencyObservation,
  findingOfObservation,
} from '../../kernel/role/dependency.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { ProxyDependency } from '../../roles/proxy/serving/thread-report.ts'
import { settings } from '../../roles/proxy/settings.ts'
import type { PublicListenerState } from './public-listener-state.ts'

const dependencies: readonly ProxyDependency[] = ['upstream', 'token endpoint']
/** A failure that is older, with no request since, does not count any longer. */
const failure_memory_ms = 300_000

/** `now`: epoch milliseconds. */
export function proxyDependencies(state: PublicListenerState, now: () => number): Dependency[] {
  return [
    { name: 'threads', probe: async () => findThreadsState(state) },
    ...dependencies.map((name) => ({ name, probe: async () => findDependencyState(name, state, now()) })),
  ]
}

/** Whether the settings name the client that obtains service tokens. */
export function hasTokenClient(resolved: ResolvedSettings): boolean {
  const { public_sso_client_id, public_sso_client_secret } = getSettings(resolved, settings)
  return public_sso_client_id !== undefined && public_sso_client_secret !== undefined
}

function findThreadsState({ supervisor, threads }: PublicListenerState): DependencyFinding {
  const alive = supervisor?.alive ?? 0
  const impaired = alive === 0 ? 'down' : 'degraded'
  return { state: alive >= threads ? 'ok' : impaired, detail: `${alive} of ${threads} threads` }
}

function findDependencyState(
  name: ProxyDependency,
  { observations, resolved }: PublicListenerState,
  now: number,
): DependencyFinding {
  if (name === 'upstream' || hasTokenClient(resolved)) return findLastState(observations[name], now)
  return { state: 'down', detail: 'no client for service tokens is configured' }
}

function findLastState(observation: DependencyObservation | undefined, now: number): DependencyFinding {
  const finding = findingOfObservation(observation)
  const isOld = observation !== undefined && Math.abs(now - observation.at) > failure_memory_ms
  return isOld ? { ...finding, state: 'ok' } : finding
}
