// Checks that each listener's port is free, or in use by the role itself.
import { createServer } from 'node:net'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../../kernel/settings/settings.ts'
import { mtlsSettings } from '../../../roles/site/carrier-settings.ts'
import { listRunningRoles } from '../../site/running-roles.ts'
import { listProfileRoles, readSiteSettings } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportOk, reportProblem } from '../finding.ts'

type ConfiguredListener = { readonly role: string; readonly host: string; readonly port: number }

export async function checkPorts({ folder, env }: DoctorContext): Promise<DoctorFinding[]> {
  const { resolved } = readSiteSettings(folder, env)
  const running = await listRunningRoles(folder)
  const names = listProfileRoles(folder, env).map(({ name }) => name)
  const listeners = [
    ...names.flatMap((name) => listRoleListeners(name, resolved.values.get(name) ?? {})),
    ...(names.includes('site') ? listNetworkListeners(resolved) : []),
  ]
  const asked = await Promise.all(listeners.map((listener) => checkPort(listener, running.includes(listener.role))))
  return [...reportDuplicatePorts(listeners), ...asked]
}

function listRoleListeners(role: string, values: Readonly<Record<string, unknown>>): ConfiguredListener[] {
  const { listen, port, metrics_listen } = values
  const inside = /^(.*):(\d+)$/.exec(String(metrics_listen ?? ''))
  return [
    { role, host: String(listen), port: Number(port) },
    ...(inside ? [{ role, host: inside[1] ?? '', port: Number(inside[2]) }] : []),
  ]
}

/** The site role listens for peers on a network. */
function listNetworkListeners(resolved: ResolvedSettings): ConfiguredListener[] {
  const { listen, port, peers } = getSettings(resolved, mtlsSettings)
  return Object.keys(peers).length > 0 ? [{ role: 'site', host: listen, port }] : []
}

function reportDuplicatePorts(listeners: readonly ConfiguredListener[]): DoctorFinding[] {
  return listeners
    .filter(
      ({ host, port }, at) =>
        port !== 0 && listeners.findIndex((other) => other.host === host && other.port === port) < at,
    )
    .map(({ role, host, port }) =>
      reportProblem(
        'ports',
        `${host}:${port} is set twice, here for ${role}`,
        `give ${role} a port of its own in the profile`,
      ),
    )
}

async function checkPort({ role, host, port }: ConfiguredListener, isRunning: boolean): Promise<DoctorFinding> {
  const place = `${host}:${port}`
  if (port === 0) return reportOk('ports', `${role} takes a free port`)
  const why = await probeBindError(host, port)
  if (why === undefined) return reportOk('ports', `${role}: ${place} is free`)
  if (why === 'EADDRINUSE' && isRunning) return reportOk('ports', `${role} runs, and has ${place}`)
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `${place} is taken by another program`,
    EACCES: `this user may not listen on ${place}`,
    EADDRNOTAVAIL: `this machine has no address ${host}`,
  }
  const remedy = `set ${role}.listen and ${role}.port to what is free, or stop the other program (ss -ltnp)`
  return reportProblem('ports', `${role}: ${reasons[why] ?? `${place} cannot be used (${why})`}`, remedy)
}

function probeBindError(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}
