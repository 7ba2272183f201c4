// Starts the configured number of threads on one address, and replaces a thread that dies or hangs.
import { Worker } from 'node:worker_threads'
import type { ThreadScript } from '../../../../adapters/compute/threads/start-worker.ts'
import type { KeyValue } from '../../../kernel/store/key-value.ts'
import type { Log } from '../../../kernel/telemetry/log.ts'
import type { TraceSpan } from '../../../kernel/telemetry/spans.ts'
import type { ProxyServiceEndpoint } from '../../../roles/proxy/serving/request-dispatcher.ts'
import type { CounterDelta, DependencyObservations } from '../../../roles/proxy/serving/thread-report.ts'
import { ThreadHandle } from './thread-handle.ts'
import type { MessageFromThread, ThreadStatus } from './thread-messages.ts'

export type ListenAddress = { readonly host: string; readonly port: number }

/** Data that a thread starts with. `name` is never used again. `isShared`: other threads listen on the same address. */
export type ThreadStartData<C> = {
  readonly name: string
  readonly listen: ListenAddress
  readonly isShared: boolean
  readonly config: C
}

export type ThreadSupervisorOptions<C> = {
  readonly script: () => ThreadScript
  readonly threads: number
  readonly config: C
  readonly listen: ListenAddress
  /** A name that no thread of this site ever had. */
  readonly newName: () => string
  readonly log: Log
  /** Counts for the threads where no key-value server is configured. */
  readonly counters: Pick<KeyValue, 'increment'>
  readonly performServiceRequest: (
    endpoint: ProxyServiceEndpoint,
  ) => Promise<{ readonly status: number; readonly body: string }>
  readonly deltas: (deltas: readonly CounterDelta[]) => void
  readonly observations: (observations: DependencyObservations) => void
  readonly spans: (spans: readonly TraceSpan[]) => void
  /** Called when a thread has ended for any reason, so that its open segment can be sealed. */
  readonly onThreadEnded: (name: string) => void
  /** Interval of the liveness check, and the time without an answer after which a thread counts as hung. */
  readonly watch: { readonly every_ms: number; readonly hung_ms: number }
}

const min_restart_delay_ms = 200
const max_restart_delay_ms = 30_000
/** A thread that ran this long did not fail because of its start. */
const stable_after_ms = 60_000

export class ThreadSupervisor<C> {
  readonly #options: ThreadSupervisorOptions<C>
  #config: C
  #address: ListenAddress
  readonly #running = new Map<Worker, ThreadHandle<C>>()
  readonly #pauses = new Set<NodeJS.Timeout>()
  #isFull = false
  #isEnding = false
  #deaths = 0

  constructor(options: ThreadSupervisorOptions<C>) {
    this.#options = options
    this.#config = options.config
    this.#address = options.listen
  }

  /** Resolves once all threads listen; the first one selects the port if it is 0. Rejects if one cannot listen. */
  async start(): Promise<ListenAddress> {
    this.#address = await this.#begin()
    await Promise.all(Array.from({ length: this.#options.threads - 1 }, () => this.#begin()))
    return this.#address
  }

  get alive(): number {
    return this.#running.size
  }

  /** Resolves when every thread applies it. A thread that starts meanwhile starts with it. */
  async reconfigure(change: (config: C) => C): Promise<void> {
    const config = change(this.#config)
    this.#config = config
    await Promise.all([...this.#running.values()].map((handle) => handle.configure(config)))
  }

  /** Collects the counts so far and the status of all threads. */
  async report(): Promise<ThreadStatus> {
    const reports = await Promise.all([...this.#running.values()].map((handle) => handle.report()))
    const statuses = reports.filter((status) => status !== undefined)
    const sum = (read: (status: ThreadStatus) => number) => statuses.reduce((total, status) => total + read(status), 0)
    return {
      connections: sum(({ connections }) => connections),
      cache_bytes: sum(({ cache_bytes }) => cache_bytes),
      cache_entries: sum(({ cache_entries }) => cache_entries),
    }
  }

  /** Notifies the threads whether the journal is full; false where nothing changed. */
  setJournalFull(isFull: boolean): boolean {
    if (isFull === this.#isFull) return false
    this.#isFull = isFull
    for (const handle of this.#running.values()) handle.send({ kind: 'journal', isFull })
    return true
  }

  /** Accepts no new connection, finishes active requests, and resolves when no thread is left. */
  async drain(drain_ms: number): Promise<void> {
    this.#isEnding = true
    for (const pause of this.#pauses) clearTimeout(pause)
    await Promise.all(
      [...this.#running].map(async ([worker, handle]) => {
        const killTimer = setTimeout(() => void worker.terminate(), drain_ms + kill_grace_ms)
        await handle.report()
        handle.send({ kind: 'drain', drain_ms })
        await handle.ended
        clearTimeout(killTimer)
      }),
    )
  }

  #begin(): Promise<ListenAddress> {
    const { log, threads, newName, script } = this.#options
    const name = newName()
    const start_ms = performance.now()
    const data: ThreadStartData<C> = { name, listen: this.#address, isShared: threads > 1, config: this.#config }
    const worker = startThread(script(), data)
    const handle = new ThreadHandle<C>(worker, (message) => this.#receive(handle, message))
    this.#running.set(worker, handle)
    if (this.#isFull) handle.send({ kind: 'journal', isFull: true })
    const watch = setInterval(() => this.#watch(worker, handle, name), this.#options.watch.every_ms).unref()
    void handle.ended.then((failure) => {
      clearInterval(watch)
      this.#running.delete(worker)
      this.#options.onThreadEnded(name)
      if (this.#isEnding || !handle.hasListened) return
      log.error('proxy.thread.died', { thread: name, error: failure?.stack })
      this.#replace(performance.now() - start_ms)
    })
    return handle.listening
  }

  /** Terminates a hanging thread, whose callers would wait forever; another one replaces it. */
  #watch(worker: Worker, handle: ThreadHandle<C>, name: string): void {
    const hung = setTimeout(() => {
      this.#options.log.error('proxy.thread.hung', { thread: name })
      void worker.terminate()
    }, this.#options.watch.hung_ms)
    void handle.report().finally(() => clearTimeout(hung))
  }

  /** Replaces a thread with increasing delay, since the cause may end the next one too. */
  #replace(lived_ms: number): void {
    this.#deaths = lived_ms > stable_after_ms ? 0 : this.#deaths + 1
    const pause_ms = Math.min(max_restart_delay_ms, min_restart_delay_ms * 2 ** Math.min(this.#deaths, 10))
    const pause = setTimeout(() => {
      this.#pauses.delete(pause)
      this.#begin().catch((error: unknown) => {
        this.#options.log.error('proxy.thread.failed', { error: (error as Error).message })
        if (!this.#isEnding) this.#replace(0)
      })
    }, pause_ms)
    this.#pauses.add(pause)
  }

  #receive(handle: ThreadHandle<C>, message: MessageFromThread): void {
    if (message.kind === 'count') void this.#count(handle, message)
    else if (message.kind === 'service_request') void this.#performServiceRequest(handle, message)
    else if (message.kind === 'reported') {
      this.#options.deltas(message.deltas)
      this.#options.observations(message.observations)
      this.#options.spans(message.spans)
    } else if (message.kind === 'log') this.#options.log[message.level](message.event, message.fields)
  }

  async #count(handle: ThreadHandle<C>, { id, steps }: Extract<MessageFromThread, { kind: 'count' }>): Promise<void> {
    const { counters } = this.#options
    const counts = steps.map(([key, by, life_ms]) => counters.increment(key, by, life_ms).catch(() => undefined))
    handle.send({ kind: 'counted', id, counts: await Promise.all(counts) })
  }

  async #performServiceRequest(
    handle: ThreadHandle<C>,
    { id, endpoint }: Extract<MessageFromThread, { kind: 'service_request' }>,
  ): Promise<void> {
    handle.send({ kind: 'service_response', id, ...(await this.#options.performServiceRequest(endpoint)) })
  }
}

/** Extra time for a thread to end, after the time for its requests. */
const kill_grace_ms = 2_000

/** Starts a thread without the environment, which may hold secrets; its start data has everything it needs. */
function startThread<C>(script: ThreadScript, workerData: ThreadStartData<C>): Worker {
  const options = { workerData, env: {}, execArgv: [] }
  return 'module' in script ? new Worker(script.module, options) : new Worker(script.source, { ...options, eval: true })
}
