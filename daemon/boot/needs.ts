// How the things are that a role needs besides its own store: other roles of the site, and the carriers.
import * as http from 'node:http'
import type { DependencyHealth } from '../kernel/builtin.ts'
import type { Role } from '../kernel/role.ts'
import type { Transport } from '../kernel/transport.ts'
import { type Service, timed } from './service.ts'
import { type SiteFolder, socketOf } from './site-folder.ts'

export function needsOf(
  role: Role,
  folder: SiteFolder,
  services: readonly Service[],
  transports: readonly Transport[],
) {
  return async (): Promise<DependencyHealth[]> => {
    const others = role.needs.map((name) => timed(name, () => roleHealth(name, folder, services)))
    const carriers = transports.map((transport) => timed(`transport ${transport.name}`, () => transport.health()))
    return Promise.all([...others, ...carriers])
  }
}

async function roleHealth(name: string, folder: SiteFolder, services: readonly Service[]) {
  const here = services.find((service) => service.role.name === name)
  if (here) return { ok: here.phase() === 'ready', detail: here.phase() }
  const status = await answerOf(socketOf(folder, name))
  return { ok: status === 200, detail: status === 200 ? 'ready in another process' : 'does not answer' }
}

function answerOf(socketPath: string): Promise<number> {
  return new Promise((resolve) => {
    const request = http.get({ socketPath, path: '/health', timeout: 2_000 }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(0))
  })
}
