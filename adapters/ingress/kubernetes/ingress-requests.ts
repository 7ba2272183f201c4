// Requests about ingresses to the API server of a cluster: built by its client library, sent and read within limits of this project.
import { NetworkingV1ApiRequestFactory } from '@kubernetes/client-node/dist/gen/apis/NetworkingV1Api.js'
import type { RequestContext } from '@kubernetes/client-node/dist/gen/http/http.js'
import { ServerConfiguration } from '@kubernetes/client-node/dist/gen/servers.js'
import type { ObservedIngress } from '../../../daemon/shared/routing/cluster-ingresses.ts'
import type { KubernetesObject } from '../../../daemon/shared/routing/render/kubernetes/kubernetes-object.ts'
import { anyAddress } from '../../platform/address-rule/address-rule.ts'
import { HttpClient, type HttpTimeLimits } from '../../platform/http-client/http-client.ts'
import type { HttpResponse } from '../../platform/http-client/http-response.ts'
import { ClusterAnswerError, describeRefusal, readIngress, readIngressPage } from './ingress-answers.ts'
import { splitLines } from './split-lines.ts'

/** Recorded by the API server as the author of the fields. */
const field_manager = 'platform-gateway'
/** An ingress with the most objects of one service has some 300 kB. */
const page_items = 10
const max_answer_bytes = 16_777_216
const max_event_bytes = 4_194_304
const answer_ms = 15_000
/** The server ends a watch by then, and sends bookmarks each minute before. */
const watch_s = 300
const watch_idle_ms = 150_000
/** Of writes at once, and the watch. */
const connections = 16

export type ClusterAccess = {
  /** Of the API server: https, with a path where a proxy has one. */
  readonly server: string
  readonly namespace: string
  /** Read before each request, since both are replaced while the process runs. PEM; undefined: the authorities of the machine. */
  readonly readCredentials: () => Promise<{ readonly ca: string | undefined; readonly token: string }>
}

export type IngressRequestOptions = ClusterAccess & {
  /** Labels of those that are listed and watched. */
  readonly mark: Readonly<Record<string, string>>
  /** Value of untrusted JSON; undefined for anything else. */
  readonly parse: (bytes: Buffer) => Promise<unknown>
}

export class IngressRequests {
  readonly #options: IngressRequestOptions
  readonly #factory: NetworkingV1ApiRequestFactory
  readonly #selector: string
  #client: { readonly ca: string | undefined; readonly http: HttpClient } | undefined

  constructor(options: IngressRequestOptions) {
    this.#options = options
    const baseServer = new ServerConfiguration(options.server, {})
    // Nothing is sent by the library: its own client has no limits, and its watch none for a line.
    const httpApi = { send: () => Promise.reject(new TypeError('requests are sent by the site’s own client')) }
    this.#factory = new NetworkingV1ApiRequestFactory({
      ...{ baseServer, middleware: [], authMethods: {} },
      httpApi: httpApi as never,
    })
    this.#selector = Object.entries(options.mark)
      .map(([name, value]) => `${name}=${value}`)
      .join(',')
  }

  /** One page. Throws `ClusterAnswerError` 410 for a page that begins too late. */
  async list(from: string | undefined, signal: AbortSignal) {
    const request = await this.#factory.listNamespacedIngress(
      ...[this.#options.namespace, undefined, undefined, from, undefined, this.#selector, page_items],
    )
    return readIngressPage(await this.#receive(request, signal))
  }

  async get(name: string, signal: AbortSignal) {
    return readIngress(
      await this.#receive(await this.#factory.readNamespacedIngress(name, this.#options.namespace), signal),
    )
  }

  async create(object: KubernetesObject, signal: AbortSignal) {
    const request = await this.#factory.createNamespacedIngress(
      ...([this.#options.namespace, object as never, undefined, undefined, field_manager, 'Strict'] as const),
    )
    return readIngress(await this.#receive(request, signal))
  }

  /** Replaces what the gateway decides, in the version that was seen; further labels and annotations stay. */
  async patch({ metadata, spec }: KubernetesObject, seen: ObservedIngress, signal: AbortSignal) {
    const { labels, annotations } = metadata
    const { uid, resource_version: resourceVersion } = seen
    const body = { metadata: { uid, resourceVersion, labels, annotations }, spec }
    const request = await this.#factory.patchNamespacedIngress(
      ...([seen.name, this.#options.namespace, body, undefined, undefined, field_manager, 'Strict'] as const),
    )
    request.setHeaderParam('Content-Type', 'application/merge-patch+json')
    return readIngress(await this.#receive(request, signal))
  }

  async remove({ name, uid, resource_version: resourceVersion }: ObservedIngress, signal: AbortSignal): Promise<void> {
    const nothing = undefined
    const request = await this.#factory.deleteNamespacedIngress(
      ...([name, this.#options.namespace, nothing, nothing, nothing, nothing, nothing, 'Background'] as const),
      { preconditions: { uid, resourceVersion } },
    )
    await this.#receive(request, signal)
  }

  /** Values of events after this version, until the server ends the watch. Its head has arrived when this resolves. */
  async watch(resource_version: string, signal: AbortSignal): Promise<AsyncIterable<unknown>> {
    const nothing = undefined
    const request = await this.#factory.listNamespacedIngress(
      ...([
        this.#options.namespace,
        nothing,
        true,
        nothing,
        nothing,
        this.#selector,
        nothing,
        resource_version,
      ] as const),
      ...([nothing, nothing, nothing, watch_s, true] as const),
    )
    const limits = { head_ms: answer_ms, idle_ms: watch_idle_ms, total_ms: (watch_s + 60) * 1_000 }
    const response = await this.#send(request, signal, limits)
    return this.#readEvents(response)
  }

  close(): void {
    this.#client?.http.close()
  }

  async *#readEvents(response: HttpResponse): AsyncGenerator<unknown> {
    for await (const line of splitLines(response.chunks(), max_event_bytes)) yield await this.#parse(line)
  }

  async #receive(request: RequestContext, signal: AbortSignal): Promise<unknown> {
    const response = await this.#send(request, signal, { total_ms: answer_ms })
    return await this.#parse(await response.readBytes(max_answer_bytes))
  }

  async #send(request: RequestContext, signal: AbortSignal, limits: HttpTimeLimits) {
    const { ca, token } = await this.#options.readCredentials()
    const body = request.getBody()
    const response = await this.#connect(ca).send(request.getUrl(), {
      method: request.getHttpMethod(),
      headers: { ...request.getHeaders(), accept: 'application/json', authorization: `Bearer ${token}` },
      body: typeof body === 'string' ? body : undefined,
      ...{ signal, limits },
    })
    if (response.status >= 200 && response.status < 300) return response
    const bytes = await response.readBytes(max_answer_bytes)
    const value = await this.#options.parse(bytes)
    throw new ClusterAnswerError(response.status, describeRefusal(response.status, value))
  }

  async #parse(bytes: Buffer): Promise<unknown> {
    const value = await this.#options.parse(bytes)
    if (value === undefined) throw new ClusterAnswerError(0, 'the API server sent something else than sound JSON')
    return value
  }

  /** Another one once the authorities were replaced. */
  #connect(ca: string | undefined): HttpClient {
    if (this.#client && this.#client.ca === ca) return this.#client.http
    this.#client?.http.close()
    this.#client = { ca, http: new HttpClient({ rule: anyAddress, ca, max_connections: connections }) }
    return this.#client.http
  }
}
