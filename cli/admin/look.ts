// One look at the site through the client: what each part tells, or why it does not.
import { isRefused } from '../../daemon/kernel/errors.ts'
import type { Answered, Client } from '../client/client.ts'
import { roleBehind } from '../client/role-behind.ts'
import { instant } from './tables.ts'
import type { Pane } from './view.ts'

/** Where the screens look: a site on this machine, or whatever answers at one URL. */
export type Source = {
  /** What the head line calls it. */
  readonly place: string
  /** Those that the profile runs; undefined where only a URL is known, and the one role behind it has to be asked. */
  readonly roles: readonly Place[] | undefined
  /** A client with a token that is good for the next minutes. */
  connect(): Promise<Client>
  /** Text of others without anything that moves a cursor or hides a line. */
  neutral(text: string): string
}

type Place = { readonly name: string; readonly url: string }

/** What was found, and why it is not all; a fault is one line. `of`: what the rows are the most frequent or newest of. */
export type Found = { readonly items: readonly Answered[]; readonly of?: string; readonly fault?: string }

/** What each pane shows; those whose role is not here are absent. */
export type Look = Readonly<Partial<Record<Pane, Found>>>

/** Somebody watches: what takes longer is as good as down, and is asked again soon. */
const timeout_ms = 4_000
/** As many as a person scrolls through; the filter by state narrows what is listed, not what was. */
const sessionsMax = 200
const denialsMax = 100

/** Never throws: each part has its own fault. `state` keeps only the sessions in it. */
export async function look(source: Source, state: string | undefined): Promise<Look> {
  const ask: Ask = async (address, input) => (await source.connect()).call(address, input, { timeout_ms })
  const items = async (address: string, input: Answered) => (await ask(address, input)).items as readonly Answered[]
  const roles = source.roles ?? [{ name: await roleBehind(ask).catch(() => unknownRole), url: source.place }]
  const shown: readonly (readonly [Pane, role: string, () => Promise<Found>])[] = [
    [
      'sessions',
      'consensus',
      async () => ({ items: await items('consensus.session.list', { limit: sessionsMax, state }) }),
    ],
    ['channels', 'site', async () => ({ items: await items('site.channel.list', {}) })],
    ['denials', 'proxy', () => denials(ask)],
  ]
  const here = shown.filter(([, name]) => roles.some((role) => role.name === name))
  const [states, ...all] = await Promise.all([
    Promise.all(roles.map(async (role) => placed(role, await roleState(ask, role.name)))),
    ...here.map(async ([pane, role, asked]) => [pane, await asked().catch((error) => missing(role, error))] as const),
  ])
  return neutralised({ roles: { items: states }, ...Object.fromEntries(all) }, source.neutral)
}

/** The explanation of a dissent record as prose; a fault is told in its place. */
export async function explanation(source: Source, dissent: string): Promise<string> {
  try {
    const api = await source.connect()
    const { text } = await api.call('consensus.dissent.explain', { id: dissent }, { timeout_ms })
    // Its lines are wanted: each is neutralised alone.
    return String(text).split('\n').map(source.neutral).join('\n')
  } catch (error) {
    return source.neutral(faultOf(error))
  }
}

type Ask = (address: string, input: Answered) => Promise<Answered>

const unknownRole = 'unknown'

/** A role that answers only the public question runs as well: then the token is at fault, and the fault says so. */
async function roleState(ask: Ask, role: string): Promise<Answered> {
  const of = role === unknownRole ? 'site' : role
  try {
    const { version } = await ask(`${of}.service.info`, {})
    const health: Answered = await ask(`${of}.service.health`, {}).catch(async (error) => ({
      ...(await ask(`${of}.service.live`, {})),
      fault: faultOf(error),
    }))
    return { version, state: health.status, ...health }
  } catch (error) {
    return { state: isAbsent(error) ? 'not running' : 'in trouble', fault: faultOf(error) }
  }
}

/** Where the profile leaves the port open, a role that runs knows it. */
function placed(role: Place, state: Answered): Answered {
  const [bound] = (state.listens ?? []) as readonly string[]
  return { ...role, ...state, url: role.url.startsWith('unix:') ? (bound ?? role.url) : role.url }
}

/** What the door refused most often since it runs. */
async function denials(ask: Ask): Promise<Found> {
  const { since, total, items } = await ask('proxy.denial.list', { limit: denialsMax })
  return { items: items as readonly Answered[], of: `${total} since ${instant(since)}` }
}

function missing(role: string, error: unknown): Found {
  return { items: [], fault: isAbsent(error) ? `the role ${role} does not answer` : faultOf(error) }
}

function isAbsent(error: unknown): boolean {
  return isRefused(error) && error.row.exit === 4
}

function faultOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The same, with every text in it made harmless and one line long. */
function neutralised<T>(given: T, neutral: (text: string) => string): T {
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return neutral(value).replaceAll('\n', '\\n')
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, walk(part)]))
  }
  return walk(given) as T
}
