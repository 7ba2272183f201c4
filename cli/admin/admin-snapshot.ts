// Fetches the rows of each pane of the admin screens through the client, or the fault that explains their absence.
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import type { DocumentTotal } from '../../daemon/kernel/store/store.ts'
import type { ApiObject, ServiceClient } from '../client/client.ts'
import { fetchItems } from '../client/fetch-items.ts'
import { identifyRole } from '../client/identify-role.ts'
import { formatInstant } from './cells.ts'
import { listGatewayReaders } from './gateway-panes.ts'
import { awaiting_filter, type PaneName } from './view.ts'

/** The service that the screens read: a site on this machine, or the role behind one URL. */
export type AdminSource = {
  /** Name in the head line: the site, or the URL. */
  readonly siteName: string
  /** Roles that the profile runs; undefined if only a URL is known, since the role behind it must identify itself. */
  readonly roles: readonly AdminRoleAddress[] | undefined
  /** A client whose token stays valid for the next minutes. */
  connect(): Promise<ServiceClient>
}

type AdminRoleAddress = { readonly name: string; readonly url: string }

/** Rows of a pane. `fault`, one line, explains missing rows; `range` describes the set that the rows are taken from. */
export type PaneContent = {
  readonly items: readonly ApiObject[]
  /** Number of rows in the whole list, of which these are the first. */
  readonly total?: DocumentTotal
  readonly range?: string
  readonly fault?: string
}

/** Content of each pane; a pane whose role this site does not run is absent. */
export type AdminSnapshot = Readonly<Partial<Record<PaneName, PaneContent>>>

/** A person watches: a slower role counts as down, and the next poll tries it again. */
const timeout_ms = 4_000
/** About as many as a person scrolls through. The service applies the filter by state, so it finds older sessions too. */
const max_sessions = 500
const max_denials = 100
const max_pipelines = 100

/** Reads every pane. Never throws: each pane has its own fault. `filter` selects sessions. */
export async function fetchAdminSnapshot(source: AdminSource, filter: string | undefined): Promise<AdminSnapshot> {
  const call: OperationCall = async (address, input) => (await source.connect()).call(address, input, { timeout_ms })
  const list = async (address: string, input: ApiObject) => (await call(address, input)).items as readonly ApiObject[]
  const roles = source.roles ?? [{ name: await identifyRole(call).catch(() => unknown_role), url: source.siteName }]
  const readers: readonly (readonly [PaneName, role: string, () => Promise<PaneContent>])[] = [
    [
      'sessions',
      'consensus',
      async () => {
        const page = await fetchItems({ call }, 'consensus.session.list', sessionFilterOf(filter), {
          limit: max_sessions,
        })
        return { items: page.items, total: page }
      },
    ],
    ['pipelines', 'ingest', () => fetchPipelines(call)],
    ['channels', 'site', async () => ({ items: await list('site.channel.list', {}) })],
    ['denials', 'proxy', () => fetchDenials(call)],
    ...listGatewayReaders(call),
  ]
  const available = readers.filter(([, name]) => roles.some((role) => role.name === name))
  const [states, ...contents] = await Promise.all([
    Promise.all(roles.map(async (role) => addRoleAddress(role, await fetchRoleState(call, role.name)))),
    ...available.map(
      async ([pane, role, read]) => [pane, await read().catch((error) => describeMissingPane(role, error))] as const,
    ),
  ])
  return { roles: { items: states }, ...Object.fromEntries(contents) }
}

const sessionFilterOf = (filter: string | undefined): ApiObject =>
  filter === awaiting_filter ? { awaiting_me: true } : { state: filter }

/** The object that explains a row. */
export type ExplainingObject = { readonly kind: 'dissent' | 'run'; readonly id: string; readonly dag_id?: string }

/** Undefined for a row that its fields explain. */
export function findExplainingObject(pane: PaneName, row: ApiObject): ExplainingObject | undefined {
  if (pane === 'sessions' && row.open_dissent_id !== undefined)
    return { kind: 'dissent', id: String(row.open_dissent_id) }
  const { dag_run_id, state } = (row.last_run ?? {}) as ApiObject
  if (pane !== 'pipelines' || state !== 'failed') return undefined
  return { kind: 'run', id: String(dag_run_id), dag_id: String(row.dag_id) }
}

/** Lines of prose, or the fault in their place. */
export async function fetchExplanation(
  source: AdminSource,
  { kind, id, dag_id }: ExplainingObject,
): Promise<readonly string[]> {
  try {
    const api = await source.connect()
    if (kind === 'run') {
      const { items } = await api.call('ingest.dag-run.errors', { dag_id, dag_run_id: id }, { timeout_ms })
      return (items as readonly ApiObject[]).flatMap(({ task_id, log }) => [`${task_id}:`, ...splitLines(log)])
    }
    const { text } = await api.call('consensus.dissent.explain', { id }, { timeout_ms })
    return splitLines(text)
  } catch (error) {
    return [describeFault(error)]
  }
}

function splitLines(text: unknown): string[] {
  return String(text).trimEnd().split('\n')
}

export type OperationCall = (address: string, input: ApiObject) => Promise<ApiObject>

const unknown_role = 'unknown'

/** Reads health with the token, else the public liveness: then the role runs, and the fault describes the token. */
async function fetchRoleState(call: OperationCall, role: string): Promise<ApiObject> {
  const addressable = role === unknown_role ? 'site' : role
  try {
    const { version } = await call(`${addressable}.service.info`, {})
    const health: ApiObject = await call(`${addressable}.service.health`, {}).catch(async (error) => ({
      ...(await call(`${addressable}.service.live`, {})),
      fault: describeFault(error),
    }))
    return { version, state: health.status, ...health }
  } catch (error) {
    return { state: isNotRunning(error) ? 'not running' : 'in trouble', fault: describeFault(error) }
  }
}

/** Adds the URL. Only the running role knows it if the profile leaves the port open. */
function addRoleAddress(role: AdminRoleAddress, state: ApiObject): ApiObject {
  const [boundUrl] = (state.listens ?? []) as readonly string[]
  return { ...role, ...state, url: role.url.startsWith('unix:') ? (boundUrl ?? role.url) : role.url }
}

/** The newest pipelines; the service reads the state of each from its scheduler. */
async function fetchPipelines(call: OperationCall): Promise<PaneContent> {
  const page = await fetchItems({ call }, 'ingest.datapipeline.list', {}, { limit: max_pipelines })
  return { items: page.items, total: page }
}

/** The most frequent denials since the proxy started. */
async function fetchDenials(call: OperationCall): Promise<PaneContent> {
  const { since, total, items } = await call('proxy.denial.list', { limit: max_denials })
  return { items: items as readonly ApiObject[], range: `${total} since ${formatInstant(since)}` }
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
