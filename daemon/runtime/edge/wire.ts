// Connects the edge role to its adapters: a pool for each service, and the routes of both listeners.
import type { RoleWire } from '../../boot/role-wire.ts'

export const wire: RoleWire = {
  async findStartProblems({ resolved }) {
    const { findEdgeStartProblems } = await import('./start-checks.ts')
    return findEdgeStartProblems(resolved)
  },

  async open({ role, resources: { resolved, accessLogOf } }) {
    const { openEdge } = await import('./open-edge.ts')
    return openEdge(resolved, accessLogOf(role.name))
  },
}
