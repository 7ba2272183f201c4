// Shows what of the site runs, as the roles themselves tell it over their local sockets, or the one behind a URL.
import { offline } from '../../daemon/boot/offline.ts'
import { isRefused } from '../../daemon/kernel/errors.ts'
import type { Client } from '../client/client.ts'
import { roleBehind } from '../client/role-behind.ts'
import { command } from '../command.ts'
import { paint, type Row, show, table } from '../output.ts'
import { service, serviceOptions } from '../service.ts'
import { requireSite } from '../site.ts'
import type { Terminal } from '../terminal.ts'

export const definition = command({
  words: 'status',
  summary: 'which roles run, their health and where they listen; exit code 4 when one is not ready or does not answer',
  notes: 'With --url it tells of the one role that answers there.',
  options: { ...serviceOptions },
  example: 'platform status',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const places = given.url === undefined ? await placesHere(given.site, terminal) : [await placeThere(api, given.url)]
    const items = await Promise.all(places.map(async (place) => ({ ...place, ...(await stateOf(api, place.role)) })))
    show(terminal, given.json, { items }, () => shown(terminal, items))
    return items.every(({ state }) => !state.startsWith('not ')) ? 0 : 4
  },
})

/** `listens`: what the profile says, until the role itself says where. */
type Place = { readonly role: string; readonly listens: readonly string[]; readonly socket?: string }

async function placesHere(site: string | undefined, terminal: Terminal): Promise<Place[]> {
  const folder = requireSite({ site }, terminal)
  const profile = await offline.profile()
  const { resolved } = profile.siteSettings(folder, terminal.env)
  return profile.rolesOf(folder, terminal.env).map(({ name: role }) => {
    const { listen, port } = (resolved.values.get(role) ?? {}) as Row
    const listens = [port === 0 ? `${listen}, any free port` : `${listen}:${port}`]
    return { role, listens, socket: offline.socketOf(folder, role) }
  })
}

async function placeThere(api: Client, url: string): Promise<Place> {
  return { role: await roleBehind(api.call), listens: [url] }
}

type Dependency = { readonly name: string; readonly ok: boolean; readonly detail: string; readonly latency_ms: number }
type State = {
  readonly state: string
  readonly version?: unknown
  readonly dependencies: readonly Dependency[]
  readonly listens?: readonly string[]
}

/** A role that answers only the public question runs as well: then the token is at fault, and that is an error. */
async function stateOf(api: Client, role: string): Promise<State> {
  try {
    const health = await api.call(`${role}.service.health`, {})
    const { version } = await api.call(`${role}.service.info`, {})
    const { status, dependencies = [], listens = [] } = health as { [field: string]: unknown } & Partial<State>
    return { state: String(status), version, dependencies, ...(listens.length > 0 ? { listens } : {}) }
  } catch (error) {
    if (!isRefused(error) || error.row.exit !== 4) throw error
    return await api.call(`${role}.service.info`, {}).then(
      // It runs, and waits for something that it needs.
      ({ version }) => ({ state: `not ready: ${error.message}`, version, dependencies: [] }),
      () => ({ state: 'not running', dependencies: [] }),
    )
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
