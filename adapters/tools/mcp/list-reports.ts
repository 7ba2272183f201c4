// The reports of a service that its lists have changed: on the stream of a session, or by a subscription.
import type { Client } from '@modelcontextprotocol/client'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { ToolServiceLimits } from '../../../daemon/kernel/tools/tool-service.ts'
import { type SessionStream, streamEndOfRequest } from './bounded-fetch.ts'
import { ChangeWatch } from './change-watch.ts'
import type { StreamEnd } from './filter-events.ts'
import { toRefusal } from './to-refusal.ts'

const notifications = ['notifications/tools/list_changed', 'notifications/resources/list_changed'] as const

/** The answer of a service whose sessions have no stream. */
const no_stream_status = 405

export class ListReports {
  readonly #client: Client
  readonly #limits: ToolServiceLimits
  readonly #name: string
  readonly #watch = new ChangeWatch()
  #subscription: Promise<void> | undefined
  #opening: NodeJS.Timeout | undefined
  readonly #ending = new AbortController()
  readonly sessionStream: SessionStream

  /** `name`: how refusals name the service. */
  constructor(client: Client, name: string, limits: ToolServiceLimits) {
    this.#client = client
    this.#limits = limits
    this.#name = name
    this.sessionStream = {
      onBegin: () => {
        clearTimeout(this.#opening)
        this.#watch.report('changed')
      },
      onRefused: (status) => this.#watch.report(status === no_stream_status ? 'unsupported' : this.#unopened(status)),
      onEnd: (end) => this.#endReports(end),
    }
    for (const notification of notifications)
      client.setNotificationHandler(notification, () => this.#watch.report('changed'))
  }

  /** Whether each list of the service reports its changes. */
  get areOfAllLists(): boolean {
    const { tools, resources } = this.#capabilities
    return (!tools || tools.listChanged === true) && (!resources || resources.listChanged === true)
  }

  async waitForChange(signal: AbortSignal): Promise<'changed' | 'ended' | 'unsupported'> {
    const { tools, resources } = this.#capabilities
    if (!tools?.listChanged && !resources?.listChanged) return 'unsupported'
    if (!this.#hasSessionStream) this.#subscription ??= this.#subscribe()
    return await this.#watch.wait(signal)
  }

  /** The library requests the stream of a session by itself. A stream that never begins would look like a list that never changes. */
  limitOpening(): void {
    const { answer_ms } = this.#limits
    const late = () => this.#watch.report(this.#unopened(`nothing within ${answer_ms} ms`))
    if (this.#hasSessionStream) this.#opening = setTimeout(late, answer_ms).unref()
  }

  end(): void {
    this.#watch.report('ended')
    clearTimeout(this.#opening)
    this.#ending.abort()
  }

  get #capabilities() {
    return this.#client.getServerCapabilities() ?? {}
  }

  /** The revision without sessions has subscriptions instead. */
  get #hasSessionStream(): boolean {
    return this.#client.getProtocolEra() !== 'modern'
  }

  #unopened(answer: number | string): Refusal {
    return refuse('unavailable', `${this.#name} opens no stream of notifications: it answered ${answer}`)
  }

  /** Subscribes until the connection ends: a change between two waits is not lost. A failure ends the reports. */
  async #subscribe(): Promise<void> {
    try {
      const options = { signal: this.#ending.signal, timeout: this.#limits.answer_ms }
      const { tools, resources } = this.#capabilities
      const wanted = {
        ...(tools?.listChanged ? { toolsListChanged: true } : {}),
        ...(resources?.listChanged ? { resourcesListChanged: true } : {}),
      }
      const listen = () => this.#client.listen(wanted, options)
      const { honoredFilter, closed } = await streamEndOfRequest.run((end) => this.#endReports(end), listen)
      const isHonoured = Object.keys(wanted).every((each) => honoredFilter[each as keyof typeof wanted])
      this.#watch.report(isHonoured ? 'changed' : 'unsupported')
      void closed.then(() => this.#watch.report('ended'))
    } catch (error) {
      this.#watch.report(toRefusal(this.#name, error))
    }
  }

  #endReports({ cause }: StreamEnd): void {
    this.#watch.report(cause === undefined ? 'ended' : toRefusal(this.#name, cause))
  }
}
