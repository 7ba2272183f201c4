// How the things are that a role needs besides its own store: other roles of the site, the carriers, the identity provider.
import type { DependencyHealth } from '../kernel/builtin.ts'
import { keyValueSettings } from '../kernel/engine-settings.ts'
import type { Role } from '../kernel/role.ts'
import { type Trace, traceHeaders } from '../kernel/trace.ts'
import type { Identity } from './issuer.ts'
import { type Service, timed } from './service.ts'
import { type SiteFolder, socketOf } from './site-folder.ts'
import { askSocket } from './socket-request.ts'

type Well = { readonly name: string; health(): Promise<{ ok: boolean; detail: string }> }

/** What moves messages between sites, and what processes share. */
type Around = {
  readonly transports: readonly Well[]
  readonly carriers: readonly Well[]
  readonly keyValue: Well
  readonly identity: Pick<Identity, 'health'>
}

const patience_ms = 2_000

export function needsOf(role: Role, folder: SiteFolder, services: readonly Service[], around: Around) {
  return async (trace: Trace): Promise<DependencyHealth[]> => {
    const others = role.needs.map((name) => timed(name, () => roleHealth(name, folder, services, trace)))
    const moving = [...around.transports, ...around.carriers]
    const carriers = moving.map((each) => timed(`transport ${each.name}`, () => each.health()))
    const shared = isServer(role, around) ? [timed('key-value store', () => around.keyValue.health())] : []
    const provider = around.identity.health
    const known = provider ? [timed('identity provider', async () => provider())] : []
    return Promise.all([...others, ...carriers, ...shared, ...known])
  }
}

/** The process's own memory is always well. */
function isServer(role: Role, { keyValue }: Around): boolean {
  return keyValue.name !== 'memory' && role.settings.some(({ name }) => name === keyValueSettings.name)
}

async function roleHealth(name: string, folder: SiteFolder, services: readonly Service[], trace: Trace) {
  const here = services.find((service) => service.role.name === name)
  if (here) return { ok: here.phase() === 'ready', detail: here.phase() }
  const status = await answerOf(socketOf(folder, name), trace)
  return { ok: status === 200, detail: status === 200 ? 'ready in another process' : 'does not answer' }
}

async function answerOf(socketPath: string, trace: Trace): Promise<number> {
  const question = { method: 'GET', path: '/health', headers: traceHeaders(trace), timeout_ms: patience_ms }
  const answer = await askSocket(socketPath, question).catch(() => undefined)
  return answer?.status ?? 0
}
