// Declares the TCP listeners of a role, and derives their settings.
import * as z from 'zod'
import type { SettingsShape } from './settings.ts'

export const logLevel = z.enum(['debug', 'info', 'warn', 'error'])

export type ListenerDeclaration<P extends string = string> = {
  /** Of its settings in the section of the role: empty for the listener that serves the operations. */
  readonly prefix: P
  /** Of its environment variables: `EDGE` for `EDGE_HOST` and `EDGE_PORT`. */
  readonly env: string
  /** Default port. */
  readonly port: number
}

/** Settings of the listener that serves the operations; the block of each role spreads them in. */
export function serviceListenerFields(listener: ListenerDeclaration<''>) {
  const { env } = listener
  return {
    ...addressFields(listener),
    metrics_listen: z
      .string()
      .regex(/^(none|[^:]+:\d{1,5})$/, 'must be host:port, or none')
      .optional()
      .meta({
        env: `${env}_METRICS_LISTEN`,
        doc: 'host:port of the internal listener, which serves metrics; `none` opens none. Default in profiles C and D, and for role proxy, where no other TCP listener serves them: 127.0.0.1, and `port` plus 1,000; none where that is no port, or `port` is 0.',
      }),
    log_level: logLevel.optional().meta({
      env: `${env}_LOG_LEVEL`,
      doc: 'Lowest severity that the role logs; absent: that of platform.log_level.',
    }),
    streams_per_caller: z
      .int()
      .min(1)
      .max(1_000)
      .default(32)
      .meta({ doc: 'Maximum number of event streams of one caller on a listener; a further one gets 429.' }),
    ...tlsFields(listener),
  }
}

/** Settings of a further listener, under its prefix. */
export function listenerFields<const P extends string>(listener: ListenerDeclaration<P>) {
  return addPrefix(listener.prefix, { ...addressFields(listener), ...tlsFields(listener) })
}

function addressFields({ env, port }: ListenerDeclaration) {
  return {
    listen: z
      .string()
      .min(1)
      .default('127.0.0.1')
      .meta({ env: [`${env}_HOST`, `${env}_LISTEN`], doc: 'Address on which the listener accepts connections.' }),
    port: z
      .int()
      .min(0)
      .max(65_535)
      .default(port)
      .meta({ env: `${env}_PORT`, doc: 'Port of the listener; 0 selects a free port.' }),
  }
}

function tlsFields({ env }: ListenerDeclaration) {
  return {
    tls_cert_file: z
      .string()
      .optional()
      .meta({ env: `${env}_TLS_CERT_FILE`, doc: 'Certificate chain (PEM); with it the listener uses TLS.' }),
    tls_key_file: z
      .string()
      .optional()
      .meta({ env: `${env}_TLS_KEY_FILE`, doc: 'Private key of the certificate (PEM).' }),
    tls_client_auth: z
      .enum(['none', 'request', 'require'])
      .default('none')
      .meta({
        env: `${env}_TLS_CLIENT_AUTH`,
        doc: 'Whether clients may (request) or must (require) present a certificate of x509.ca_file; see x509.',
      }),
  }
}

type Prefixed<P extends string, S> = { [K in keyof S & string as `${P}${K}`]: S[K] }

function addPrefix<P extends string, S extends SettingsShape>(prefix: P, shape: S): Prefixed<P, S> {
  return Object.fromEntries(Object.entries(shape).map(([name, field]) => [`${prefix}${name}`, field])) as Prefixed<P, S>
}
