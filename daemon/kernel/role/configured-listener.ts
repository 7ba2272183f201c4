// The TCP listeners of a role by its declaration and its settings: the one list that start checks, boot and commands read.
import { getSettings } from '../settings/get-settings.ts'
import type { ListenerDeclaration } from '../settings/listener-settings.ts'
import { platformSettings } from '../settings/platform-settings.ts'
import type { ResolvedSettings } from '../settings/settings.ts'
import type { DeploymentProfile } from './site.ts'

export type ConfiguredListener = {
  readonly role: string
  /** For logs, metrics and commands: `tcp` serves the operations, `internal` the metrics, others have their prefix. */
  readonly name: string
  /** Undefined for the internal listener, which boot opens for every role. */
  readonly prefix: string | undefined
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** The settings that move it, such as `edge.http_listen` and `edge.http_port`. */
  readonly settings: readonly string[]
  /** Undefined for the internal listener, which has none. */
  readonly tls: ConfiguredTls | undefined
}

export type ConfiguredTls = {
  readonly cert_file: string | undefined
  readonly key_file: string | undefined
  readonly client_auth: string
  readonly settings: { readonly cert_file: string; readonly key_file: string; readonly client_auth: string }
}

export type DeclaredRole = {
  readonly name: string
  readonly listeners: readonly [ListenerDeclaration, ...ListenerDeclaration[]]
  readonly has_public_listener?: true
}

/** The internal listener of a role is this far above its port, unless `metrics_listen` places it. */
export const internal_port_offset = 1_000
const max_port = 65_535

/** In profiles C and D listeners for other machines serve no metrics. */
export function areMetricsInternal(deployment_profile: DeploymentProfile): boolean {
  return deployment_profile === 'coalition_federated' || deployment_profile === 'classified_airgapped'
}

/** In the order of declaration, the internal one last. Requires settings that parsed. */
export function listListeners(
  role: DeclaredRole,
  resolved: ResolvedSettings,
): [ConfiguredListener, ...ConfiguredListener[]] {
  const {
    name,
    listeners: [first, ...further],
  } = role
  const section = resolved.values.get(name) ?? {}
  const read = ({ prefix }: ListenerDeclaration) => readListener(name, prefix, section)
  const isInternal =
    role.has_public_listener === true || areMetricsInternal(getSettings(resolved, platformSettings).deployment_profile)
  const internal = readInternalListener(name, section, isInternal)
  return [read(first), ...further.map(read), ...(internal ? [internal] : [])]
}

type SectionValues = Readonly<Record<string, unknown>>

function readListener(role: string, prefix: string, section: SectionValues): ConfiguredListener {
  const read = (field: string) => section[`${prefix}${field}`]
  const nameSetting = (field: string) => `${role}.${prefix}${field}`
  return {
    role,
    name: prefix === '' ? 'tcp' : prefix.replace(/_$/, ''),
    prefix,
    host: String(read('listen')),
    port: Number(read('port')),
    settings: [nameSetting('listen'), nameSetting('port')],
    tls: {
      cert_file: read('tls_cert_file') as string | undefined,
      key_file: read('tls_key_file') as string | undefined,
      client_auth: String(read('tls_client_auth')),
      settings: {
        cert_file: nameSetting('tls_cert_file'),
        key_file: nameSetting('tls_key_file'),
        client_auth: nameSetting('tls_client_auth'),
      },
    },
  }
}

function readInternalListener(
  role: string,
  section: SectionValues,
  isByDefault: boolean,
): ConfiguredListener | undefined {
  const address = section.metrics_listen ?? (isByDefault ? findInternalAddress(Number(section.port)) : undefined)
  const [, host, port] = /^(.*):(\d+)$/.exec(String(address ?? '')) ?? []
  if (host === undefined || port === undefined) return undefined
  const settings = [`${role}.metrics_listen`]
  return { role, name: 'internal', prefix: undefined, host, port: Number(port), settings, tls: undefined }
}

/** A role on a free port has none: nobody would know its number beforehand. */
function findInternalAddress(port: number): string | undefined {
  const internal = port + internal_port_offset
  return port === 0 || internal > max_port ? undefined : `127.0.0.1:${internal}`
}
