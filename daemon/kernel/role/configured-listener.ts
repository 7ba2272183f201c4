// The TCP listeners of a role by its declaration and its settings: the one list that start checks, boot and commands read.
import type { ListenerDeclaration } from '../settings/listener-settings.ts'
import type { ResolvedSettings } from '../settings/settings.ts'

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

type DeclaredRole = {
  readonly name: string
  readonly listeners: readonly [ListenerDeclaration, ...ListenerDeclaration[]]
}

/** In the order of declaration, the internal one last. Requires settings that parsed. */
export function listListeners(
  { name, listeners: [first, ...further] }: DeclaredRole,
  { values }: ResolvedSettings,
): [ConfiguredListener, ...ConfiguredListener[]] {
  const section = values.get(name) ?? {}
  const read = ({ prefix }: ListenerDeclaration) => readListener(name, prefix, section)
  const internal = readInternalListener(name, section)
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

function readInternalListener(role: string, { metrics_listen }: SectionValues): ConfiguredListener | undefined {
  const [, host, port] = /^(.*):(\d+)$/.exec(String(metrics_listen ?? '')) ?? []
  if (host === undefined || port === undefined) return undefined
  const settings = [`${role}.metrics_listen`]
  return { role, name: 'internal', prefix: undefined, host, port: Number(port), settings, tls: undefined }
}
