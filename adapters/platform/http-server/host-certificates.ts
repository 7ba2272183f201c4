// Certificates of a listener by the host name that a client requests (SNI).
import { createSecureContext, type SecureContext } from 'node:tls'
import type { ListenerTls } from './listener-tls.ts'

export class HostCertificates {
  #contexts: ReadonlyMap<string, SecureContext> = new Map()

  constructor(tls: ListenerTls | undefined) {
    if (tls) this.replace(tls)
  }

  /** Applies to the connections that follow. Throws for a certificate that cannot be used. */
  replace({ hosts = [], cert: _, key: __, ...common }: ListenerTls): void {
    const { ca, minVersion } = common
    const entries = hosts.map(({ names, cert, key }) => {
      const context = createSecureContext({ cert, key, ...(ca ? { ca } : {}), ...(minVersion ? { minVersion } : {}) })
      return names.map((name) => [name, context] as const)
    })
    this.#contexts = new Map(entries.flat())
  }

  /** Undefined: the listener presents its own. A name goes before the wildcard of its domain. */
  find(name: string): SecureContext | undefined {
    const host = name.toLowerCase()
    return this.#contexts.get(host) ?? this.#contexts.get(`*${host.slice(Math.max(0, host.indexOf('.')))}`)
  }
}
