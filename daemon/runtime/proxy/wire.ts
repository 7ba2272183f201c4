// Connects the proxy role to its adapters: the public listener, and the start check of its URLs.
import type { RoleWire } from '../../boot/role-wire.ts'

export const wire: RoleWire = {
  async findStartProblems({ resolved }) {
    const { findProxyStartProblems } = await import('./start-checks.ts')
    return findProxyStartProblems(resolved)
  },

  async open({ resources, metrics, log }) {
    const { openPublicListener } = await import('./public-listener.ts')
    const { parts, dependencies, ...publicListener } = openPublicListener({ ...resources, metrics, log })
    return { parts, dependencies, listeners: { '': publicListener } }
  },
}
