// The listeners of a role: which operations are served where, under which TLS and trace policy.
import { readFileSync } from 'node:fs'
import type { ListenerTls } from '../../adapters/platform/http-server/listener-tls.ts'
import type { ListenTarget } from '../../adapters/serve/http/serve-http.ts'
import type { Surface } from '../kernel/api/surface.ts'
import type { AddressedOperation } from '../kernel/operation/operation.ts'
import { areMetricsInternal, type ConfiguredTls, listListeners } from '../kernel/role/configured-listener.ts'
import type { Role, RoleDeployment } from '../kernel/role/role.ts'
import { getSettings } from '../kernel/settings/get-settings.ts'
import { roleCallSettings } from '../kernel/settings/role-call-settings.ts'
import type { ResolvedSettings } from '../kernel/settings/settings.ts'
import { x509Settings } from '../kernel/settings/sso-settings.ts'
import { type TracePolicy, traceModes } from '../kernel/telemetry/trace-policy.ts'
import { resolveDivision } from './host/site-division.ts'
import { roleAuthoritiesFile, roleSocketFile, type SiteFolder } from './storage/site-folder.ts'

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
    ...listeners.map(({ name, prefix, host, port, tls: configured }) => {
      const authorities_file = findRoleAuthorities(role, prefix, { deployment, folder })
      const readOwnTls = () => configured && readTls(configured, deployment.settings, authorities_file)
      return {
        name: `${role.name}:${name}`,
        prefix,
        operations: prefix === '' ? operations : prefix === undefined ? internal : [],
        restricted: prefix !== undefined && areMetricsInternal(deployment.deployment_profile),
        listen: { host, port },
        tls: readOwnTls(),
        readTls: readOwnTls,
        surface: prefix === '' ? toolSurface : undefined,
        trace_policy: prefix === undefined ? undefined : readTracePolicy(roleSettings),
      }
    }),
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

/** The operations of a role with a public listener are on its local socket alone. */
function findRoleAuthorities(
  { has_public_listener }: Role,
  prefix: string | undefined,
  { deployment, folder }: Omit<ListenerOptions, 'role'>,
): string | undefined {
  const isAccepting = getSettings(deployment.settings, roleCallSettings).accept_certificates
  return isAccepting && prefix === '' && !has_public_listener ? roleAuthoritiesFile(folder) : undefined
}

/** Undefined for a listener without TLS. `authorities_file`: of the certificates of roles, if it admits those. */
function readTls(
  { cert_file, key_file, client_auth }: ConfiguredTls,
  settings: ResolvedSettings,
  authorities_file: string | undefined,
): ListenerTls | undefined {
  if (!cert_file || !key_file) return undefined
  const keyPair: ListenerTls = { cert: readFileSync(cert_file, 'utf8'), key: readFileSync(key_file, 'utf8') }
  const ca_file = client_auth === 'none' ? undefined : getSettings(settings, x509Settings).ca_file
  const files = [ca_file, authorities_file].filter((file) => file !== undefined)
  if (files.length === 0) return keyPair
  const ca = files.map((file) => readFileSync(file, 'utf8')).join('\n')
  const isCertificateOptional = ca_file === undefined || client_auth === 'request'
  const minVersion = authorities_file === undefined ? {} : ({ minVersion: 'TLSv1.3' } as const)
  return { ...keyPair, ca, isCertificateOptional, ...minVersion }
}
