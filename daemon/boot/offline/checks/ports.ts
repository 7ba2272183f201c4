// Whether each listener's port is free, or taken by the role itself.
import { createServer } from 'node:net'
import type { Resolved } from '../../../kernel/settings.ts'
import { mtlsSettings } from '../../../roles/site/carrier-settings.ts'
import { valuesOf } from '../../profile.ts'
import type { Examined } from '../examination.ts'
import { type Finding, fine, problem } from '../finding.ts'
import { runningRoles } from '../running-roles.ts'
import { rolesOf, siteSettings } from '../site-profile.ts'

type Listener = { readonly role: string; readonly host: string; readonly port: number }

export async function portFindings({ folder, env }: Examined): Promise<Finding[]> {
  const { resolved } = siteSettings(folder, env)
  const running = await runningRoles(folder)
  const names = rolesOf(folder, env).map(({ name }) => name)
  const listeners = [
    ...names.flatMap((name) => listenersOf(name, resolved.values.get(name) ?? {})),
    ...(names.includes('site') ? networkListeners(resolved) : []),
  ]
  const asked = await Promise.all(listeners.map((listener) => judge(listener, running.includes(listener.role))))
  return [...twice(listeners), ...asked]
}

function listenersOf(role: string, values: Readonly<Record<string, unknown>>): Listener[] {
  const { listen, port, metrics_listen } = values
  const inside = /^(.*):(\d+)$/.exec(String(metrics_listen ?? ''))
  return [
    { role, host: String(listen), port: Number(port) },
    ...(inside ? [{ role, host: inside[1] ?? '', port: Number(inside[2]) }] : []),
  ]
}

/** Where peers come over a network: the site role listens. */
function networkListeners(resolved: Resolved): Listener[] {
  const { listen, port, peers } = valuesOf(resolved, mtlsSettings)
  return Object.keys(peers).length > 0 ? [{ role: 'site', host: listen, port }] : []
}

function twice(listeners: readonly Listener[]): Finding[] {
  return listeners
    .filter(
      ({ host, port }, at) =>
        port !== 0 && listeners.findIndex((other) => other.host === host && other.port === port) < at,
    )
    .map(({ role, host, port }) =>
      problem(
        'ports',
        `${host}:${port} is set twice, here for ${role}`,
        `give ${role} a port of its own in the profile`,
      ),
    )
}

async function judge({ role, host, port }: Listener, isRunning: boolean): Promise<Finding> {
  const place = `${host}:${port}`
  if (port === 0) return fine('ports', `${role} takes a free port`)
  const why = await bindError(host, port)
  if (why === undefined) return fine('ports', `${role}: ${place} is free`)
  if (why === 'EADDRINUSE' && isRunning) return fine('ports', `${role} runs, and has ${place}`)
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `${place} is taken by another program`,
    EACCES: `this user may not listen on ${place}`,
    EADDRNOTAVAIL: `this machine has no address ${host}`,
  }
  const remedy = `set ${role}.listen and ${role}.port to what is free, or stop the other program (ss -ltnp)`
  return problem('ports', `${role}: ${reasons[why] ?? `${place} cannot be used (${why})`}`, remedy)
}

function bindError(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}
