// The listeners of a role: which operations are served where, under which TLS and trace policy.
import { readFileSync } from 'node:fs'
import type { ListenerTls, ListenTarget } from '../../adapters/serve/http/serve-http.ts'
import type { Surface } from '../kernel/api/surface.ts'
import type { AddressedOperation } from '../kernel/operation/operation.ts'
import type { Role, RoleDeployment } from '../kernel/role/role.ts'
import { getSettings } from '../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../kernel/settings/settings.ts'
import { x509Settings } from '../kernel/settings/sso-settings.ts'
import { type TracePolicy, traceModes } from '../kernel/telemetry/trace-policy.ts'
import { resolveDivision } from './host/site-division.ts'
import { roleSocketFile, type SiteFolder } from './storage/site-folder.ts'

/** In profiles C and D metrics stay inside. */
export function areMetricsInternal({ deployment_profile }: RoleDeployment): boolean {
  return deployment_profile === 'coalition_federated' || deployment_profile === 'classified_airgapped'
}

export type ListenerOptions = {
  readonly role: Role
  readonly deployment: RoleDeployment
  readonly folder: SiteFolder
}

export type ServiceListener = {
  name: string
  operations: readonly AddressedOperation[]
  restricted: boolean
  listen: ListenTarget
  tls?: ListenerTls | undefined
  surface?: Surface | undefined
  trace_policy?: TracePolicy | undefined
}

/** The local socket, the TCP listener, and the internal listener if the profile names one. */
export function buildListeners(
  { role, deployment, folder }: ListenerOptions,
  operations: readonly AddressedOperation[],
  toolSurface: Surface | undefined,
): ServiceListener[] {
  const roleSettings = (deployment.settings.values.get(role.name) ?? {}) as Record<string, string | number | undefined>
  const { listen, port, metrics_listen } = roleSettings
  const restricted = areMetricsInternal(deployment)
  const tls = readTls(roleSettings, deployment.settings)
  const [socket, group] = [roleSocketFile(folder, role.name), resolveDivision(deployment.settings)?.group]
  const internal = operations.filter(({ address }) => /\.service\.(live|info|metrics)$/.test(address))
  const [host = '', internalPort = ''] = String(metrics_listen ?? '').split(/:(?=\d+$)/)
  return [
    { name: `${role.name}:socket`, operations, restricted: false, listen: { socket, group } },
    {
      name: `${role.name}:tcp`,
      operations,
      restricted,
      listen: { host: String(listen), port: Number(port) },
      tls,
      surface: toolSurface,
      trace_policy: readTracePolicy(roleSettings),
    },
    ...(metrics_listen
      ? [
          {
            name: `${role.name}:internal`,
            operations: internal,
            restricted: false,
            listen: { host, port: Number(internalPort) },
          },
        ]
      : []),
  ]
}

/** Undefined for a role whose listener has a policy of its own. */
function readTracePolicy({ trace_mode, trace_header }: Readonly<Record<string, unknown>>): TracePolicy | undefined {
  const mode = traceModes.find((each) => each === trace_mode)
  return mode && { mode, header: String(trace_header) }
}

/** Undefined for a listener without TLS. */
function readTls(
  roleSettings: Readonly<Record<string, string | number | undefined>>,
  settings: ResolvedSettings,
): ListenerTls | undefined {
  const { tls_cert_file, tls_key_file, tls_client_auth } = roleSettings
  if (!tls_cert_file || !tls_key_file) return undefined
  const keyPair = { cert: readTextFile(tls_cert_file), key: readTextFile(tls_key_file) }
  const { ca_file } = getSettings(settings, x509Settings)
  if (tls_client_auth === 'none' || ca_file === undefined) return keyPair
  return { ...keyPair, ca: readTextFile(ca_file), isCertificateOptional: tls_client_auth === 'request' }
}

function readTextFile(file: string | number): string {
  return readFileSync(String(file), 'utf8')
}
