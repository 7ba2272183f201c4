// One look at the site through the client: what each part tells, or why it does not.
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import type { ApiObject, ServiceClient } from '../client/client.ts'
import { identifyRole } from '../client/identify-role.ts'
import { formatInstant } from './tables.ts'
import type { PaneName } from './view.ts'

/** Where the screens look: a site on this machine, or whatever answers at one URL. */
export type AdminSource = {
  /** What the head line calls it. */
  readonly place: string
  /** Those that the profile runs; undefined where only a URL is known, and the one role behind it has to be asked. */
  readonly roles: readonly AdminRoleAddress[] | undefined
  /** A client with a token that is good for the next minutes. */
  connect(): Promise<ServiceClient>
  /** Text of others without anything that moves a cursor or hides a line. */
  sanitize(text: string): string
}

type AdminRoleAddress = { readonly name: string; readonly url: string }

/** What was found, and why it is not all; a fault is one line. `of`: what the rows are the most frequent or newest of. */
export type PaneContent = { readonly items: readonly ApiObject[]; readonly of?: string; readonly fault?: string }

/** What each pane shows; those whose role is not here are absent. */
export type AdminSnapshot = Readonly<Partial<Record<PaneName, PaneContent>>>

/** Somebody watches: what takes longer is as good as down, and is asked again soon. */
const timeout_ms = 4_000
/** As many as a person scrolls through; the filter by state narrows what is listed, not what was. */
const max_sessions = 200
const max_denials = 100

/** Never throws: each part has its own fault. `state` keeps only the sessions in it. */
export async function fetchAdminSnapshot(source: AdminSource, state: string | undefined): Promise<AdminSnapshot> {
  const ask: OperationCall = async (address, input) => (await source.connect()).call(address, input, { timeout_ms })
  const items = async (address: string, input: ApiObject) => (await ask(address, input)).items as readonly ApiObject[]
  const roles = source.roles ?? [{ name: await identifyRole(ask).catch(() => unknown_role), url: source.place }]
  const shown: readonly (readonly [PaneName, role: string, () => Promise<PaneContent>])[] = [
    [
      'sessions',
      'consensus',
      async () => ({ items: await items('consensus.session.list', { limit: max_sessions, state }) }),
    ],
    ['channels', 'site', async () => ({ items: await items('site.channel.list', {}) })],
    ['denials', 'proxy', () => fetchDenials(ask)],
  ]
  const here = shown.filter(([, name]) => roles.some((role) => role.name === name))
  const [states, ...all] = await Promise.all([
    Promise.all(roles.map(async (role) => addRoleAddress(role, await fetchRoleState(ask, role.name)))),
    ...here.map(
      async ([pane, role, asked]) => [pane, await asked().catch((error) => describeMissingPane(role, error))] as const,
    ),
  ])
  return sanitizeTexts({ roles: { items: states }, ...Object.fromEntries(all) }, source.sanitize)
}

/** The explanation of a dissent record as prose; a fault is told in its place. */
export async function fetchExplanation(source: AdminSource, dissent: string): Promise<string> {
  try {
    const api = await source.connect()
    const { text } = await api.call('consensus.dissent.explain', { id: dissent }, { timeout_ms })
    // Its lines are wanted: each is neutralised alone.
    return String(text).split('\n').map(source.sanitize).join('\n')
  } catch (error) {
    return source.sanitize(describeFault(error))
  }
}

type OperationCall = (address: string, input: ApiObject) => Promise<ApiObject>

const unknown_role = 'unknown'

/** A role that answers only the public question runs as well: then the token is at fault, and the fault says so. */
async function fetchRoleState(ask: OperationCall, role: string): Promise<ApiObject> {
  const of = role === unknown_role ? 'site' : role
  try {
    const { version } = await ask(`${of}.service.info`, {})
    const health: ApiObject = await ask(`${of}.service.health`, {}).catch(async (error) => ({
      ...(await ask(`${of}.service.live`, {})),
      fault: describeFault(error),
    }))
    return { version, state: health.status, ...health }
  } catch (error) {
    return { state: isNotRunning(error) ? 'not running' : 'in trouble', fault: describeFault(error) }
  }
}

/** Where the profile leaves the port open, a role that runs knows it. */
function addRoleAddress(role: AdminRoleAddress, state: ApiObject): ApiObject {
  const [bound] = (state.listens ?? []) as readonly string[]
  return { ...role, ...state, url: role.url.startsWith('unix:') ? (bound ?? role.url) : role.url }
}

/** What the door refused most often since it runs. */
async function fetchDenials(ask: OperationCall): Promise<PaneContent> {
  const { since, total, items } = await ask('proxy.denial.list', { limit: max_denials })
  return { items: items as readonly ApiObject[], of: `${total} since ${formatInstant(since)}` }
}

function describeMissingPane(role: string, error: unknown): PaneContent {
  return { items: [], fault: isNotRunning(error) ? `the role ${role} does not answer` : describeFault(error) }
}

function isNotRunning(error: unknown): boolean {
  return isRefusal(error) && error.row.exit === 4
}

function describeFault(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The same, with every text in it made harmless and one line long. */
function sanitizeTexts<T>(given: T, neutral: (text: string) => string): T {
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return neutral(value).replaceAll('\n', '\\n')
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, walk(part)]))
  }
  return walk(given) as T
}
