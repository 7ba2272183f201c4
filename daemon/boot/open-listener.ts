// Opens one listener of a role: for its operations, for what its wire serves, or for both.
import { coarseClock } from '../../adapters/forward/http/coarse-clock.ts'
import { type ConnectionFault, dataListener } from '../../adapters/forward/http/data-listener.ts'
import { defaultHttp2Limits, defaultInboundLimits, type InboundLimits } from '../../adapters/forward/http/limits.ts'
import type { ListenerTls } from '../../adapters/platform/http-server/listener-tls.ts'
import { httpRequests } from '../../adapters/serve/http/http-metrics.ts'
import { serveExchanges } from '../../adapters/serve/http/serve-exchanges.ts'
import {
  type HttpServer,
  type HttpServerOptions,
  type OperationServer,
  serveHttp,
} from '../../adapters/serve/http/serve-http.ts'
import type { ExchangeHandler } from '../kernel/forward/exchange.ts'
import type { Call } from '../kernel/operation/call.ts'
import type { RoleContext } from '../kernel/operation/role-context.ts'
import type { RoleOutline } from '../kernel/role/role.ts'
import { addTlsOptions, followCertificates, type ListenerTlsOptions } from './follow-certificates.ts'
import { reportCertificateEnd } from './listener-certificates.ts'
import { formatListenerUrl, type ServiceListener } from './role-listeners.ts'

/** What the wire of a role serves at a listener, besides its operations at the first one. */
export type WiredListener = ForwardingListener | PublicListener

/** Boot opens the listener; the wire receives the requests that no operation of the role has. */
export type ForwardingListener = {
  /** `context` identifies the callers of what is forwarded: `admitCaller` with what each presents. */
  readonly forward: (context: RoleContext) => ExchangeHandler
  readonly limits?: Partial<InboundLimits>
  /** Several processes may listen on its address (Linux). */
  readonly reusePort?: boolean
  readonly tls?: ListenerTlsOptions
}

/** The wire opens the listener, in threads for example; the role's operations are then only on its local socket. */
export type PublicListener = {
  listen(options: Pick<HttpServerOptions, 'listen' | 'tls'> & { readonly context: RoleContext }): Promise<HttpServer>
  /** Final work after the listener and the workers have stopped. */
  readonly finish: (call: Call) => Promise<void>
}

/** By the prefixes of the declared listeners. */
export type WiredListeners = Readonly<Record<string, WiredListener>>

/** A listener that no rule knows must not open, and none may be declared that nobody serves. */
export function requireDeclaredListeners({ name, listeners }: RoleOutline, wired: WiredListeners): void {
  const prefixes = listeners.map(({ prefix }) => prefix)
  const describe = (prefix: string) => `the listener "${prefix}" of the role ${name}`
  for (const prefix of Object.keys(wired))
    if (!prefixes.includes(prefix)) throw new TypeError(`${describe(prefix)} is not among the listeners of its outline`)
  for (const prefix of prefixes)
    if (prefix !== '' && !Object.hasOwn(wired, prefix)) throw new TypeError(`${describe(prefix)} is not in its wire`)
}

type OpenListenerOptions = HttpServerOptions & Pick<ServiceListener, 'readTls'>

/** Throws when the address is taken, or the certificate is unsound. */
export async function openListener(
  options: OpenListenerOptions,
  wired: WiredListener | undefined,
): Promise<HttpServer> {
  const { name, metrics, roleContext: context, listen, tls } = options
  if (tls) reportCertificateEnd(metrics, name, tls.cert)
  if (!wired) return await openServiceListener(options)
  if ('listen' in wired) return await wired.listen({ listen, tls, context })
  return await openForwardingListener(options, wired)
}

/** Between two looks at the certificate of a listener that has no setting for it. */
const reload_ms = 5_000

async function openServiceListener(options: OpenListenerOptions): Promise<HttpServer> {
  const { tls, readTls } = options
  const server = await serveHttp(options)
  if (!tls || !readTls) return server
  const stopFollowing = followFiles(options, { reload_ms, read: () => readTls() ?? tls }, tls, server)
  return {
    ...server,
    close(deadline_ms) {
      stopFollowing()
      return server.close(deadline_ms)
    },
  }
}

async function openForwardingListener(options: OpenListenerOptions, wired: ForwardingListener): Promise<HttpServer> {
  const { listen } = options
  const tls = options.tls && wired.tls ? addTlsOptions(options.tls, wired.tls) : options.tls
  if (!('host' in listen)) throw new TypeError('requests are forwarded from a TCP listener, not from a local socket')
  const clock = coarseClock(250)
  const service = await serveExchanges({ ...options, forward: wired.forward(options.roleContext) })
  try {
    const listener = await dataListener({
      listen: { ...listen, reusePort: wired.reusePort ?? false },
      tls,
      // Bodies that are forwarded take as long as their pace allows; operations have a time limit of their own.
      limits: { ...defaultInboundLimits, request_ms: 0, ...wired.limits },
      http2: tls && defaultHttp2Limits,
      offersWebSocket: true,
      clock,
      handle: service.handle,
      onConnectionFault: (fault) => countFault(options, fault),
    })
    const stopFollowing = followWiredFiles(options, wired, tls, listener)
    return {
      url: formatListenerUrl({ host: listen.host, port: listener.port }, tls !== undefined),
      port: listener.port,
      async close(deadline_ms) {
        stopFollowing?.()
        await Promise.all([service.close(deadline_ms), listener.close(deadline_ms)])
        clock.stop()
      },
    }
  } catch (error) {
    await service.close(0)
    clock.stop()
    throw error
  }
}

function followWiredFiles(
  options: OpenListenerOptions,
  { tls: wiredTls }: ForwardingListener,
  running: ListenerTls | undefined,
  listener: CertificateTarget,
) {
  if (!running) return undefined
  const readOwn = () => options.readTls?.() ?? running
  const read = wiredTls ? () => addTlsOptions(readOwn(), wiredTls) : readOwn
  return followFiles(options, { reload_ms: wiredTls?.reload_ms ?? reload_ms, read }, running, listener)
}

/** A listener that takes another certificate for the connections that follow. */
type CertificateTarget = Pick<OperationServer, 'replaceCertificate'>

function followFiles(
  { name: listener, log, metrics, roleContext: { environment } }: OpenListenerOptions,
  { reload_ms, read }: { readonly reload_ms: number; readonly read: () => ListenerTls },
  running: ListenerTls,
  target: CertificateTarget,
): () => void {
  const look = followCertificates({
    ...{ listener, running, log, read, now: environment.now },
    replace(tls) {
      target.replaceCertificate(tls)
      reportCertificateEnd(metrics, listener, tls.cert)
    },
  })
  const timer = setInterval(look, reload_ms).unref()
  return () => clearInterval(timer)
}

const statusByFault: Readonly<Partial<Record<ConnectionFault, number>>> = {
  malformed: 400,
  too_slow: 408,
  head_too_large: 431,
}

/** Requests that were answered are counted; the other faults ended a connection. */
function countFault({ name, metrics, log, roleContext }: HttpServerOptions, fault: ConnectionFault): void {
  const status = statusByFault[fault]
  if (status !== undefined) {
    metrics.count(httpRequests, { operation: 'none', status: String(status) })
    return
  }
  const times = roleContext.throttle(`connection fault ${fault} ${name}`)
  if (times !== undefined) log.warn('http.connection.ended', { listener: name, fault, times })
}
