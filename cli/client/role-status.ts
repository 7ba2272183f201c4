// The state of a role: its health where it runs, or why it is not ready.
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import type { ServiceClient } from './client.ts'

type RoleDependencyStatus = {
  readonly name: string
  readonly state: string
  readonly detail: string
  readonly latency_ms: number
}
export type RoleRunStatus = {
  readonly state: string
  readonly version?: unknown
  readonly dependencies: readonly RoleDependencyStatus[]
  readonly listens?: readonly string[]
}

/** Health of a role. Throws if the role runs but refuses the token. */
export async function fetchRoleStatus(api: Pick<ServiceClient, 'call'>, role: string): Promise<RoleRunStatus> {
  try {
    const health = await api.call(`${role}.service.health`, {})
    const { version } = await api.call(`${role}.service.info`, {})
    const { status, dependencies = [], listens = [] } = health as { [field: string]: unknown } & Partial<RoleRunStatus>
    return { state: String(status), version, dependencies, ...(listens.length > 0 ? { listens } : {}) }
  } catch (error) {
    if (!isRefusal(error) || error.row.exit !== 4) throw error
    return await api.call(`${role}.service.info`, {}).then(
      // It runs, and waits for a dependency.
      ({ version }) => ({ state: `not ready: ${error.message}`, version, dependencies: [] }),
      () => ({ state: 'not running', dependencies: [] }),
    )
  }
}
