// Sends observations to the gateway: in batches, with repeats, from a bounded buffer. For administration and emitters outside the gateway.
import { type ClientLimits, type DropReason, type GuidanceClientOptions, readLimits } from './client-options.ts'
import { retryDelay } from './retry-delay.ts'

/** An observation, as the interface document has its fields; the gateway checks them. */
export type ObservationEnvelope = {
  readonly event_type: string
  readonly trace_id: string
  readonly service: string
  /** ISO 8601. */
  readonly timestamp: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

export type ClientCounts = {
  /** Taken by the gateway. */
  readonly sent: number
  /** By reason; the sum of sent, dropped and waiting is the number of envelopes that were emitted. */
  readonly dropped: Readonly<Partial<Record<DropReason, number>>>
  readonly waiting: number
}

const path = '/api/v1/guide/observations'

export class GuidanceClient {
  readonly #url: string
  readonly #options: GuidanceClientOptions
  readonly #limits: ClientLimits
  /** JSON of the envelopes: later changes to their objects change nothing. */
  #waiting: { readonly json: string; readonly trace_id: string }[] = []
  #sending: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #sent = 0
  readonly #dropped: Partial<Record<DropReason, number>> = {}
  #isClosed = false

  /** `env`: such as process.env, where the documented variables are to count. Throws RangeError for a limit out of its bounds. */
  constructor(options: GuidanceClientOptions, env: Readonly<Record<string, string | undefined>> = {}) {
    this.#url = new URL(path, options.url).href
    this.#options = options
    this.#limits = readLimits(options, env)
  }

  get counts(): ClientCounts {
    return { sent: this.#sent, dropped: { ...this.#dropped }, waiting: this.#waiting.length }
  }

  /** Never waits for the network. False: the envelope was dropped, since the buffer is full. Throws after `close`, and for what is not JSON. */
  emit(envelope: ObservationEnvelope): boolean {
    if (this.#isClosed) throw new Error('the client is closed')
    if (this.#waiting.length >= this.#limits.queue_maxsize) {
      this.#drop(1, 'queue_full')
      return false
    }
    this.#waiting.push({ json: JSON.stringify(envelope), trace_id: envelope.trace_id })
    if (this.#waiting.length >= this.#limits.batch_size) void this.#send()
    else this.#timer ??= setTimeout(() => void this.#send(), this.#limits.flush_interval_ms)
    return true
  }

  /** Resolves when each envelope that was emitted before is sent or dropped. Never rejects. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0) await this.#send()
  }

  /** Takes no more envelopes, and flushes. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.flush()
  }

  /** One request after the other, so that envelopes arrive in their order. */
  #send(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#sending ??= this.#sendBatches().finally(() => {
      this.#sending = undefined
      if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => void this.#send(), this.#limits.flush_interval_ms)
    })
    return this.#sending
  }

  async #sendBatches(): Promise<void> {
    do {
      const batch = this.#waiting.slice(0, this.#limits.batch_size)
      const failure = await this.#sendBatch(batch)
      // They have their place in the buffer until their fate is known.
      this.#waiting = this.#waiting.slice(batch.length)
      if (failure === undefined) this.#sent += batch.length
      else this.#drop(batch.length, failure)
    } while (this.#waiting.length >= this.#limits.batch_size)
  }

  async #sendBatch(
    batch: readonly { readonly json: string; readonly trace_id: string }[],
  ): Promise<DropReason | undefined> {
    const body = `{"observations":[${batch.map(({ json }) => json).join()}]}`
    const trace_id = batch[0]?.trace_id ?? ''
    for (let attempt = 0; ; attempt += 1) {
      const failure = await this.#post(body, trace_id)
      if (failure === undefined || failure === 'refused' || attempt >= this.#limits.retry_attempts) return failure
      const pause_ms = retryDelay(attempt + 1, this.#limits, Math.random())
      await new Promise((resolve) => setTimeout(resolve, pause_ms))
    }
  }

  /** The reason has nothing of the token, the envelopes or the answer. */
  async #post(body: string, trace_id: string): Promise<DropReason | undefined> {
    const signal = AbortSignal.timeout(this.#limits.post_timeout_s * 1_000)
    let token = ''
    try {
      token = await this.#options.token()
    } catch {
      return 'no_token'
    }
    try {
      const trace = /^[0-9a-f]{32}$/.test(trace_id) ? { traceparent: `00-${trace_id}-${randomSpanId()}-01` } : {}
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...trace }
      const { status, body: answer } = await fetch(this.#url, {
        method: 'POST',
        headers,
        body,
        signal,
        redirect: 'error',
      })
      await answer?.cancel()
      if (status >= 200 && status < 300) return undefined
      if (status === 429) return 'too_many_requests'
      return status >= 500 ? 'server_error' : 'refused'
    } catch {
      return signal.aborted ? 'timeout' : 'connection'
    }
  }

  #drop(count: number, reason: DropReason): void {
    this.#dropped[reason] = (this.#dropped[reason] ?? 0) + count
    try {
      this.#options.onDrop?.(count, reason)
    } catch {
      // The counts are right, whatever the program does with them.
    }
  }
}

/** 16 hexadecimal digits that are not all zero. */
function randomSpanId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8))
  bytes[0] = (bytes[0] ?? 0) | 1
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
