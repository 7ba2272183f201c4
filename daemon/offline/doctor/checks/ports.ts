// Checks that each listener's port is free, or in use by the role itself.
import { createServer } from 'node:net'
import { type ConfiguredListener, listListeners } from '../../../kernel/role/configured-listener.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../../kernel/settings/settings.ts'
import { mtlsSettings } from '../../../roles/site/carrier-settings.ts'
import { listRunningRoles } from '../../site/running-roles.ts'
import { listProfileRoles, readSiteSettings } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportOk, reportProblem } from '../finding.ts'

type ListenerAddress = Pick<ConfiguredListener, 'role' | 'host' | 'port' | 'settings'>

export async function checkPorts({ folder, env }: DoctorContext): Promise<DoctorFinding[]> {
  const { resolved } = readSiteSettings(folder, env)
  const running = await listRunningRoles(folder)
  const roles = listProfileRoles(folder, env)
  const listeners: ListenerAddress[] = [
    ...roles.flatMap((role) => listListeners(role, resolved)),
    ...(roles.some(({ name }) => name === 'site') ? listNetworkListeners(resolved) : []),
  ]
  const portFindings = await Promise.all(
    listeners.map((listener) => checkPort(listener, running.includes(listener.role))),
  )
  return [...reportDuplicatePorts(listeners), ...portFindings]
}

/** The site role listens for peers on a network. */
function listNetworkListeners(resolved: ResolvedSettings): ListenerAddress[] {
  const { listen, port, peers } = getSettings(resolved, mtlsSettings)
  return Object.keys(peers).length > 0
    ? [{ role: 'site', host: listen, port, settings: ['mtls.listen', 'mtls.port'] }]
    : []
}

function reportDuplicatePorts(listeners: readonly ListenerAddress[]): DoctorFinding[] {
  return listeners
    .filter(
      ({ host, port }, index) =>
        port !== 0 && listeners.findIndex((candidate) => candidate.host === host && candidate.port === port) < index,
    )
    .map(({ role, host, port, settings }) =>
      reportProblem(
        'ports.set_twice',
        `${host}:${port} is set twice, one of them for ${role}`,
        `set another port in ${settings.at(-1)}`,
      ),
    )
}

async function checkPort({ role, host, port, settings }: ListenerAddress, isRunning: boolean): Promise<DoctorFinding> {
  const address = `${host}:${port}`
  if (port === 0) return reportOk('ports', `${role} takes a free port`)
  const errorCode = await probeBindError(host, port)
  if (errorCode === undefined) return reportOk('ports', `${role}: ${address} is free`)
  if (errorCode === 'EADDRINUSE' && isRunning) return reportOk('ports', `${role} runs, and has ${address}`)
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `${address} is in use by another program`,
    EACCES: `this user may not listen on ${address}`,
    EADDRNOTAVAIL: `this machine has no address ${host}`,
  }
  const remedy = `set ${settings.join(' and ')} to a free address, or stop the other program (ss -ltnp)`
  return reportProblem(
    'ports.unusable',
    `${role}: ${reasons[errorCode] ?? `${address} cannot be used (${errorCode})`}`,
    remedy,
  )
}

function probeBindError(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}
