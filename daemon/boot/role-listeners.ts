// The listeners of a role: which operations are served where, under which TLS and trace policy.
import { readFileSync } from 'node:fs'
import type { ListenerTls } from '../../adapters/platform/http-server/listener-tls.ts'
import type { ListenTarget } from '../../adapters/serve/http/serve-http.ts'
import type { Surface } from '../kernel/api/surface.ts'
import type { AddressedOperation } from '../kernel/operation/operation.ts'
import { areMetricsInternal, type ConfiguredTls, listListeners } from '../kernel/role/configured-listener.ts'
import type { Role, RoleDeployment } from '../kernel/role/role.ts'
import { getSettings } from '../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../kernel/settings/settings.ts'
import { x509Settings } from '../kernel/settings/sso-settings.ts'
import { type TracePolicy, traceModes } from '../kernel/telemetry/trace-policy.ts'
import { resolveDivision } from './host/site-division.ts'
import { roleSocketFile, type SiteFolder } from './storage/site-folder.ts'

export type ListenerOptions = {
  readonly role: Role
  readonly deployment: RoleDeployment
  readonly folder: SiteFolder
}

export type ServiceListener = {
  name: string
  /** Of a declared listener. */
  prefix?: string | undefined
  operations: readonly AddressedOperation[]
  restricted: boolean
  listen: ListenTarget
  tls?: ListenerTls | undefined
  /** Reads its files again. Throws where they cannot be read. */
  readTls?: () => ListenerTls | undefined
  surface?: Surface | undefined
  trace_policy?: TracePolicy | undefined
}

/** The local socket, the declared TCP listeners, and the internal listener if the role has one. */
export function buildListeners(
  { role, deployment, folder }: ListenerOptions,
  operations: readonly AddressedOperation[],
  toolSurface: Surface | undefined,
): ServiceListener[] {
  const roleSettings = deployment.settings.values.get(role.name) ?? {}
  const [socket, group] = [roleSocketFile(folder, role.name), resolveDivision(deployment.settings)?.group]
  const internal = operations.filter(({ address }) => /\.service\.(live|info|metrics)$/.test(address))
  const listeners = listListeners(role, deployment.settings)
  return [
    { name: `${role.name}:socket`, operations, restricted: false, listen: { socket, group } },
    ...listeners.map(({ name, prefix, host, port, tls }) => ({
      name: `${role.name}:${name}`,
      prefix,
      operations: prefix === '' ? operations : prefix === undefined ? internal : [],
      restricted: prefix !== undefined && areMetricsInternal(deployment.deployment_profile),
      listen: { host, port },
      tls: tls && readTls(tls, deployment.settings),
      readTls: () => tls && readTls(tls, deployment.settings),
      surface: prefix === '' ? toolSurface : undefined,
      trace_policy: prefix === undefined ? undefined : readTracePolicy(roleSettings),
    })),
  ]
}

/** For logs, health and clients. */
export function formatListenerUrl({ host, port }: { host: string; port: number }, isTls: boolean): string {
  return `${isTls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Undefined for a role whose listener has a policy of its own. */
function readTracePolicy({ trace_mode, trace_header }: Readonly<Record<string, unknown>>): TracePolicy | undefined {
  const mode = traceModes.find((each) => each === trace_mode)
  return mode && typeof trace_header === 'string' ? { mode, header: trace_header } : undefined
}

/** Undefined for a listener without TLS. */
function readTls({ cert_file, key_file, client_auth }: ConfiguredTls, settings: ResolvedSettings) {
  if (!cert_file || !key_file) return undefined
  const keyPair: ListenerTls = { cert: readFileSync(cert_file, 'utf8'), key: readFileSync(key_file, 'utf8') }
  const { ca_file } = getSettings(settings, x509Settings)
  if (client_auth === 'none' || ca_file === undefined) return keyPair
  return { ...keyPair, ca: readFileSync(ca_file, 'utf8'), isCertificateOptional: client_auth === 'request' }
}
