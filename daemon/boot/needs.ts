// How the things are that a role needs besides its own store: other roles of the site, the carriers, the identity provider.
import type { DependencyHealth } from '../kernel/builtin.ts'
import type { Role } from '../kernel/role.ts'
import { type Trace, traceHeaders } from '../kernel/trace.ts'
import type { Transport } from '../kernel/transport.ts'
import type { Identity } from './issuer.ts'
import { type Service, timed } from './service.ts'
import { type SiteFolder, socketOf } from './site-folder.ts'
import { askSocket } from './socket-request.ts'

const patience_ms = 2_000

export function needsOf(
  role: Role,
  folder: SiteFolder,
  services: readonly Service[],
  transports: readonly Transport[],
  provider: Identity['health'],
) {
  return async (trace: Trace): Promise<DependencyHealth[]> => {
    const others = role.needs.map((name) => timed(name, () => roleHealth(name, folder, services, trace)))
    const carriers = transports.map((transport) => timed(`transport ${transport.name}`, () => transport.health()))
    const known = provider ? [timed('identity provider', async () => provider())] : []
    return Promise.all([...others, ...carriers, ...known])
  }
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
