// Address and credentials of an AMQP broker, for carriers between sites and for sinks.
import * as z from 'zod'

/** Beyond this machine by TLS alone. What opens the door does not stand in the address, which is printed and logged. */
export const brokerUrl = z
  .url({ protocol: /^amqps?$/ })
  .refine((url) => urlSatisfies(url, ({ protocol, hostname }) => protocol === 'amqps:' || isLoopbackHost(hostname)), {
    message: 'must begin with amqps: where the broker is not on this machine',
  })
  .refine((url) => urlSatisfies(url, ({ username, password }) => username === '' && password === ''), {
    message: 'must hold neither user nor password',
  })

/** True for text that is not a URL: its schema reports that fault. */
function urlSatisfies(text: string, holds: (url: URL) => boolean): boolean {
  return !URL.canParse(text) || holds(new URL(text))
}

function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (host.startsWith('127.') && z.ipv4().safeParse(host).success)
}

/** Paths of PEM files; read at each connection, so that renewed ones count from the next on. */
export type BrokerTls = {
  readonly ca_file?: string | undefined
  readonly cert_file?: string | undefined
  readonly key_file?: string | undefined
}

export type BrokerEndpoint = {
  readonly url: string
  /** User of this site at the broker, which checks the user that a message names against it. */
  readonly user?: string | undefined
  readonly tls: BrokerTls
}
