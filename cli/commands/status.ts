// Shows what of the site runs, as the roles themselves tell it over their local sockets.
import { offline } from '../../daemon/boot/offline.ts'
import { isRefused } from '../../daemon/kernel/errors.ts'
import type { Client } from '../client/client.ts'
import { command } from '../command.ts'
import { paint, type Row, show, table } from '../output.ts'
import { service, serviceOptions } from '../service.ts'
import { jsonOption, requireSite, siteOption } from '../site.ts'
import type { Terminal } from '../terminal.ts'

export const definition = command({
  words: 'status',
  summary: 'which roles run, their health and where they listen; exit code 4 when one does not answer',
  options: { ...siteOption, token: serviceOptions.token, ...jsonOption },
  example: 'platform status',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const [api, profile] = await Promise.all([service({ ...given, url: undefined }, terminal), offline.profile()])
    const { resolved } = profile.siteSettings(folder, terminal.env)
    const wanted = profile.rolesOf(folder, terminal.env)
    const items = await Promise.all(
      wanted.map(async ({ name }) => {
        const { listen, port } = (resolved.values.get(name) ?? {}) as Row
        return {
          role: name,
          ...(await stateOf(api, name)),
          listens: `${listen}:${port}`,
          socket: offline.socketOf(folder, name),
        }
      }),
    )
    show(terminal, given.json, { items }, () => shown(terminal, items))
    return items.every(({ state }) => state !== 'not running') ? 0 : 4
  },
})

type Dependency = { readonly name: string; readonly ok: boolean; readonly detail: string; readonly latency_ms: number }
type State = { readonly state: string; readonly version?: unknown; readonly dependencies: readonly Dependency[] }

/** A role that answers only the public question runs as well: then the token is at fault, and that is an error. */
async function stateOf(api: Client, role: string): Promise<State> {
  try {
    const health = await api.call(`${role}.service.health`, {})
    const { version } = await api.call(`${role}.service.info`, {})
    return { state: String(health.status), version, dependencies: (health.dependencies ?? []) as readonly Dependency[] }
  } catch (error) {
    if (isRefused(error) && error.row.exit === 4) return { state: 'not running', dependencies: [] }
    throw error
  }
}

function shown(terminal: Terminal, items: readonly (Row & State)[]): string {
  const columns = ['role', 'state', 'version', 'listens', 'socket']
  const faults = items.flatMap(({ role, dependencies }) =>
    dependencies
      .filter(({ ok }) => !ok)
      .map(({ name, detail }) => `${paint(terminal, 'red', `${role}: ${name}`)}: ${detail}`),
  )
  return [table(terminal, items, columns, 'the profile runs no roles'), ...faults].join('\n')
}
