// Shows the health of each role, queried over its local socket or over a URL, and the figures of a gateway.

import { listListeners } from '../../daemon/kernel/role/configured-listener.ts'
import { offline } from '../../daemon/offline/offline.ts'
import type { ServiceClient } from '../client/client.ts'
import { fetchGatewaySummary } from '../client/gateway-summary.ts'
import { identifyRole } from '../client/identify-role.ts'
import { fetchRoleStatus, type RoleRunStatus } from '../client/role-status.ts'
import { formatGatewaySummary } from '../format/gateway-summary.ts'
import { connectService, serviceOptions } from '../options/service-options.ts'
import { requireOwnSite } from '../options/site-options.ts'
import { command } from '../program/command.ts'
import {
  colourText,
  formatTable,
  line_break,
  type OutputRow,
  paragraph_break,
  printResult,
} from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

export const definition = command({
  words: 'status',
  summary: 'Show which roles run, their health and their listeners, and what the gateway does',
  notes: 'Exit code 4: a role is not ready or does not answer. With --url, shows the one role that answers there.',
  options: { ...serviceOptions },
  example: 'platform status',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const listeners =
      params.url === undefined
        ? await listLocalRoles(params.site, terminal)
        : [await identifyRemoteRole(api, params.url)]
    const items = await Promise.all(
      listeners.map(async (listener) => ({ ...listener, ...(await fetchRoleStatus(api, listener.role)) })),
    )
    const isGatewayRunning = items.some(({ role, state }) => role === 'gateway' && !state.startsWith('not '))
    const gateway = isGatewayRunning ? await fetchGatewaySummary(api) : undefined
    printResult(terminal, params.json, { items, ...(gateway ? { gateway } : {}) }, () =>
      [
        formatRoleStatuses(terminal, items),
        ...(gateway ? [formatGatewaySummary(terminal, gateway).join(line_break)] : []),
      ].join(paragraph_break),
    )
    return items.every(({ state }) => !state.startsWith('not ')) ? 0 : 4
  },
})

/** `listens`: the addresses of the profile; those that the running role reports replace them. */
type RoleListenPlace = { readonly role: string; readonly listens: readonly string[]; readonly socket?: string }

async function listLocalRoles(site: string | undefined, terminal: Terminal): Promise<RoleListenPlace[]> {
  const folder = requireOwnSite({ site }, terminal)
  const profile = await offline.profile()
  const { resolved } = profile.readSiteSettings(folder, terminal.env)
  return profile.listProfileRoles(folder, terminal.env).map((role) => {
    const listens = listListeners(role, resolved)
      .filter(({ name }) => name !== 'internal')
      .map(({ host, port }) => (port === 0 ? `${host}, any free port` : `${host}:${port}`))
    return { role: role.name, listens, socket: offline.socketOf(folder, role.name) }
  })
}

async function identifyRemoteRole(api: ServiceClient, url: string): Promise<RoleListenPlace> {
  return { role: await identifyRole(api.call), listens: [url] }
}

function formatRoleStatuses(terminal: Terminal, items: readonly (OutputRow & RoleRunStatus)[]): string {
  const columns = ['role', 'state', 'version', 'listens', 'socket']
  const faults = items.flatMap(({ role, dependencies }) =>
    dependencies
      .filter(({ state }) => state !== 'ok')
      .map(
        ({ name, state, detail }) =>
          `${colourText(terminal, state === 'degraded' ? 'yellow' : 'red', `${role}: ${name}`)}: ${detail}`,
      ),
  )
  return [formatTable(terminal, items, columns, 'the profile runs no roles'), ...faults].join(line_break)
}
