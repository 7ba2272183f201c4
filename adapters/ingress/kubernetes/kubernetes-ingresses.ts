// The ingresses of a cluster with the mark of the gateway: listed, then watched, and changed under the version that was seen.
import { setImmediate as pause, setTimeout as wait } from 'node:timers/promises'
import { computeBackoff_ms } from '../../../daemon/kernel/network/backoff.ts'
import type {
  ClusterIngresses,
  IngressView,
  IngressWrite,
  ObservedIngress,
} from '../../../daemon/shared/routing/cluster-ingresses.ts'
import { HttpClientError } from '../../platform/http-client/http-client-error.ts'
import { ClusterAnswerError, type IngressAnswer, observeIngress, readWatchEvent } from './ingress-answers.ts'
import { type IngressRequestOptions, IngressRequests } from './ingress-requests.ts'
import { isNewerVersion } from './resource-version.ts'

/** Of one namespace; more with the mark of this gateway cannot be its own. */
const max_ingresses = 4_000
/** Of what is listed again when a watch ends at once. */
const shortest_watch_ms = 1_000
/** The longest wait for an API server is some 8 s: services that it has not written are not reached. */
const backoff_steps = 4

export type KubernetesIngressOptions = IngressRequestOptions & {
  /** Of what the gateway decides about an ingress. */
  readonly digest: (answer: IngressAnswer) => string
  /** A uniform random number from 0 to 1. */
  readonly chance: () => number
  readonly monotonic: () => number
  /** After each list; `cause`: of the first one, or why the watch could not go on. */
  readonly onListed: (about: { readonly count: number; readonly cause: 'start' | 'expired' | 'broken' }) => void
}

export class KubernetesIngresses implements ClusterIngresses {
  readonly #options: KubernetesIngressOptions
  readonly #requests: IngressRequests
  readonly #stopping = new AbortController()
  #ingresses: Map<string, ObservedIngress> | undefined
  #fault: string | undefined
  #revision = 0
  /** After which the next watch goes on; undefined where the ingresses must be listed first. */
  #version: string | undefined
  #followed: Promise<void> | undefined

  constructor(options: KubernetesIngressOptions) {
    this.#options = options
    this.#requests = new IngressRequests(options)
  }

  start(): void {
    this.#followed ??= this.#follow(this.#stopping.signal)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#followed
    this.#requests.close()
  }

  view(): IngressView {
    return { ingresses: this.#ingresses, fault: this.#fault, revision: this.#revision }
  }

  create(object: Parameters<ClusterIngresses['create']>[0], signal: AbortSignal): Promise<IngressWrite> {
    return this.#write(async () => {
      try {
        this.#put(await this.#requests.create(object, signal))
      } catch (error) {
        if (!(error instanceof ClusterAnswerError && error.status === 409)) throw error
        return await this.#findHolder(object.metadata.name, signal)
      }
      return { outcome: 'written' }
    })
  }

  patch(...[object, seen, signal]: Parameters<ClusterIngresses['patch']>): Promise<IngressWrite> {
    return this.#write(async () => {
      this.#put(await this.#requests.patch(object, seen, signal))
      return { outcome: 'written' }
    })
  }

  remove(...[seen, signal]: Parameters<ClusterIngresses['remove']>): Promise<IngressWrite> {
    return this.#write(async () => {
      await this.#requests.remove(seen, signal)
      this.#drop(seen.name)
      return { outcome: 'written' }
    })
  }

  async #write(write: () => Promise<IngressWrite>): Promise<IngressWrite> {
    try {
      return await write()
    } catch (error) {
      const reason = describeFault(error)
      if (!(error instanceof ClusterAnswerError)) return { outcome: 'unavailable', reason }
      if (error.status === 409) return { outcome: 'changed' }
      if (error.status === 404) return { outcome: 'gone' }
      const isTemporary = error.status === 0 || error.status === 401 || error.status === 429 || error.status >= 500
      return { outcome: isTemporary ? 'unavailable' : 'refused', reason }
    }
  }

  /** Of a name that is taken: by the gateway itself before its view shows it, or by somebody else. */
  async #findHolder(name: string, signal: AbortSignal): Promise<IngressWrite> {
    const holder = await this.#requests.get(name, signal)
    if (this.#isMarked(holder)) {
      this.#put(holder)
      return { outcome: 'changed' }
    }
    return { outcome: 'foreign', reason: `an ingress of this name is not the gateway’s: it lacks its labels` }
  }

  #isMarked({ metadata: { labels } }: IngressAnswer): boolean {
    return Object.entries(this.#options.mark).every(([name, value]) => labels?.[name] === value)
  }

  async #follow(signal: AbortSignal): Promise<void> {
    let cause: 'start' | 'expired' | 'broken' = 'start'
    let failures = 0
    while (!signal.aborted) {
      try {
        if (this.#version === undefined) {
          this.#version = await this.#list(signal)
          this.#options.onListed({ count: this.#ingresses?.size ?? 0, cause })
        }
        await this.#watch(this.#version, signal, () => (failures = 0))
      } catch (error) {
        if (signal.aborted) return
        const isExpired = error instanceof ClusterAnswerError && error.status === 410
        if (!mayResume(error)) this.#version = undefined
        cause = isExpired ? 'expired' : 'broken'
        failures += 1
        // Listed again at once; a server that says so each time is waited for.
        if (isExpired && failures === 1) continue
        this.#setFault(describeFault(error))
        await wait(computeBackoff_ms(Math.min(failures, backoff_steps), this.#options.chance()), undefined, {
          signal,
        }).catch(() => undefined)
      }
    }
  }

  async #list(signal: AbortSignal): Promise<string> {
    const listed = new Map<string, ObservedIngress>()
    let from: string | undefined
    for (;;) {
      const { items = [], metadata } = await this.#requests.list(from, signal)
      for (const each of items) {
        listed.set(each.metadata.name, observeIngress(each, this.#options.digest))
        // The digest of one with the most objects takes some milliseconds.
        await pause()
      }
      if (listed.size > max_ingresses)
        throw new ClusterAnswerError(0, `more than ${max_ingresses} ingresses have the labels of the gateway`)
      from = metadata.continue || undefined
      if (from !== undefined) continue
      this.#ingresses = listed
      this.#revision += 1
      return metadata.resourceVersion
    }
  }

  /** Until the server ends it. Throws `ClusterAnswerError` 410 once the version is too old. */
  async #watch(from: string, signal: AbortSignal, onBegun: () => void): Promise<void> {
    const begun_ms = this.#options.monotonic()
    const events = await this.#requests.watch(from, signal)
    this.#setFault(undefined)
    for await (const value of events) {
      const event = readWatchEvent(value)
      if (event.type === 'ERROR')
        throw new ClusterAnswerError(event.object.code ?? 0, event.object.message?.slice(0, 300) ?? 'the watch failed')
      const version = event.object.metadata.resourceVersion
      this.#version = version
      onBegun()
      if (event.type === 'BOOKMARK') continue
      if (event.type === 'DELETED') this.#drop(event.object.metadata.name, version)
      else this.#put(event.object)
    }
    if (this.#version === from && this.#options.monotonic() - begun_ms < shortest_watch_ms)
      throw new ClusterAnswerError(0, 'the API server ended a watch at once')
    onBegun()
  }

  /** An answer to a write and an event of the watch may come in any order. */
  #put(answer: IngressAnswer): void {
    const seen = observeIngress(answer, this.#options.digest)
    const known = this.#ingresses?.get(seen.name)
    if (known && !isNewerVersion(seen.resource_version, known.resource_version)) return
    this.#ingresses?.set(seen.name, seen)
    this.#revision += 1
  }

  /** `at`: the version of the deletion, of one that may have been created again since. */
  #drop(name: string, at?: string): void {
    const known = this.#ingresses?.get(name)
    if (!known || (at !== undefined && !isNewerVersion(at, known.resource_version))) return
    this.#ingresses?.delete(name)
    this.#revision += 1
  }

  #setFault(fault: string | undefined): void {
    if (fault === this.#fault) return
    this.#fault = fault
    this.#revision += 1
  }
}

/** Whether the watch may go on after the last version: it broke, or the server or its authorisation is not ready. */
function mayResume(error: unknown): boolean {
  if (error instanceof ClusterAnswerError) return [401, 403, 429].includes(error.status) || error.status >= 500
  return error instanceof HttpClientError && error.failure !== 'too_large'
}

function describeFault(error: unknown): string {
  if (error instanceof ClusterAnswerError) return error.message
  if (error instanceof HttpClientError) return `the API server did not answer (${error.code ?? error.failure})`
  return error instanceof Error ? error.message : 'the API server could not be reached'
}
