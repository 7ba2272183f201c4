// How an AMQP broker is reached: by carriers between sites, and by whoever emits to one.
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

/** What is no URL has been told of already. */
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
  /** Who this site is to the broker, which holds each message that names a user to it. */
  readonly user?: string | undefined
  readonly tls: BrokerTls
}
