// The threads of the public proxy: as many as are wanted, all on one address; one that dies is replaced, and missed by nobody.
import { Worker } from 'node:worker_threads'
import type { Script } from '../../../adapters/compute/threads/threads.ts'
import type { Log } from '../../kernel/call.ts'
import type { KeyValue } from '../../kernel/keyvalue.ts'
import { Conversation } from './conversation.ts'
import type { Added, AllLastAsked, FromThread, Pod, Standing } from './messages.ts'

export type Address = { readonly host: string; readonly port: number }

/** What a thread is started with. `name` is its own for ever. `isShared`: others listen on the same address. */
export type ThreadStart<C> = {
  readonly name: string
  readonly listen: Address
  readonly isShared: boolean
  readonly config: C
}

export type Supervising<C> = {
  readonly script: () => Script
  readonly threads: number
  readonly config: C
  readonly listen: Address
  /** A name that no thread of this site ever had. */
  readonly newName: () => string
  readonly log: Log
  /** Counts for the threads where no server does. */
  readonly counters: Pick<KeyValue, 'increment'>
  readonly tell: (about: Pod) => Promise<{ readonly status: number; readonly body: string }>
  readonly added: (added: readonly Added[]) => void
  readonly asked: (asked: AllLastAsked) => void
  /** Of a thread that is over, however it ended: what it left is nobody's now. */
  readonly ended: (name: string) => void
  /** How often a thread is asked whether it lives, and after how long without an answer it is taken for hung. */
  readonly watch: { readonly every_ms: number; readonly hung_ms: number }
}

const first_pause_ms = 200
const longest_pause_ms = 30_000
/** A thread that lived so long did not die of how it was started. */
const settled_ms = 60_000

export class Supervisor<C> {
  readonly #given: Supervising<C>
  #config: C
  #address: Address
  readonly #running = new Map<Worker, Conversation<C>>()
  readonly #pauses = new Set<NodeJS.Timeout>()
  #isFull = false
  #isEnding = false
  #deaths = 0

  constructor(given: Supervising<C>) {
    this.#given = given
    this.#config = given.config
    this.#address = given.listen
  }

  /** Resolves when all listen: the first one finds the port where the choice is open. Rejects when one cannot. */
  async start(): Promise<Address> {
    this.#address = await this.#begin()
    await Promise.all(Array.from({ length: this.#given.threads - 1 }, () => this.#begin()))
    return this.#address
  }

  get alive(): number {
    return this.#running.size
  }

  /** Resolves when every thread goes by it. One that begins meanwhile begins with it. */
  async reconfigure(change: (config: C) => C): Promise<void> {
    const config = change(this.#config)
    this.#config = config
    await Promise.all([...this.#running.values()].map((each) => each.configure(config)))
  }

  /** Brings what was counted up to now into the metrics. */
  async report(): Promise<Standing> {
    const all = await Promise.all([...this.#running.values()].map((each) => each.report()))
    const found = all.filter((each) => each !== undefined)
    const sum = (of: (standing: Standing) => number) => found.reduce((total, each) => total + of(each), 0)
    return {
      connections: sum(({ connections }) => connections),
      cache_bytes: sum(({ cache_bytes }) => cache_bytes),
      cache_entries: sum(({ cache_entries }) => cache_entries),
    }
  }

  /** Tells the threads whether the journal is full; false where they know. */
  journal(isFull: boolean): boolean {
    if (isFull === this.#isFull) return false
    this.#isFull = isFull
    for (const each of this.#running.values()) each.say({ kind: 'journal', isFull })
    return true
  }

  /** Takes no new connection, answers what has begun, and resolves when no thread is left. */
  async drain(drain_ms: number): Promise<void> {
    this.#isEnding = true
    for (const pause of this.#pauses) clearTimeout(pause)
    await Promise.all(
      [...this.#running].map(async ([worker, each]) => {
        const cut = setTimeout(() => void worker.terminate(), drain_ms + kill_after_ms)
        await each.report()
        each.say({ kind: 'drain', drain_ms })
        await each.ended
        clearTimeout(cut)
      }),
    )
  }

  #begin(): Promise<Address> {
    const { log, threads, newName, script } = this.#given
    const name = newName()
    const began = performance.now()
    const data: ThreadStart<C> = { name, listen: this.#address, isShared: threads > 1, config: this.#config }
    const worker = started(script(), data)
    const each = new Conversation<C>(worker, (message) => this.#hear(each, message))
    this.#running.set(worker, each)
    if (this.#isFull) each.say({ kind: 'journal', isFull: true })
    const watch = setInterval(() => this.#watch(worker, each, name), this.#given.watch.every_ms).unref()
    void each.ended.then((why) => {
      clearInterval(watch)
      this.#running.delete(worker)
      this.#given.ended(name)
      if (this.#isEnding || !each.hasListened) return
      log.error('proxy.thread.died', { thread: name, error: why?.stack })
      this.#replace(performance.now() - began)
    })
    return each.listening
  }

  /** One that hangs holds up its callers for ever: it goes, and another takes its place. */
  #watch(worker: Worker, each: Conversation<C>, name: string): void {
    const hung = setTimeout(() => {
      this.#given.log.error('proxy.thread.hung', { thread: name })
      void worker.terminate()
    }, this.#given.watch.hung_ms)
    void each.report().finally(() => clearTimeout(hung))
  }

  /** At once the first time, then more and more slowly: what kills a thread may kill the next one too. */
  #replace(lived_ms: number): void {
    this.#deaths = lived_ms > settled_ms ? 0 : this.#deaths + 1
    const pause_ms = Math.min(longest_pause_ms, first_pause_ms * 2 ** Math.min(this.#deaths, 10))
    const pause = setTimeout(() => {
      this.#pauses.delete(pause)
      this.#begin().catch((error: unknown) => {
        this.#given.log.error('proxy.thread.failed', { error: (error as Error).message })
        if (!this.#isEnding) this.#replace(0)
      })
    }, pause_ms)
    this.#pauses.add(pause)
  }

  #hear(each: Conversation<C>, message: FromThread): void {
    if (message.kind === 'count') void this.#count(each, message)
    else if (message.kind === 'ask') void this.#tell(each, message)
    else if (message.kind === 'reported') {
      this.#given.added(message.added)
      this.#given.asked(message.asked)
    } else if (message.kind === 'log') this.#given.log[message.level](message.event, message.fields)
  }

  async #count(each: Conversation<C>, { id, steps }: Extract<FromThread, { kind: 'count' }>): Promise<void> {
    const { counters } = this.#given
    const counts = steps.map(([key, by, life_ms]) => counters.increment(key, by, life_ms).catch(() => undefined))
    each.say({ kind: 'counted', id, counts: await Promise.all(counts) })
  }

  async #tell(each: Conversation<C>, { id, about }: Extract<FromThread, { kind: 'ask' }>): Promise<void> {
    each.say({ kind: 'told', id, ...(await this.#given.tell(about)) })
  }
}

/** What a thread has over the time that its requests are given. */
const kill_after_ms = 2_000

/** Without the environment: it may hold secrets, and all that a thread needs is in what it is started with. */
function started<C>(script: Script, workerData: ThreadStart<C>): Worker {
  const options = { workerData, env: {}, execArgv: [] }
  return 'module' in script ? new Worker(script.module, options) : new Worker(script.source, { ...options, eval: true })
}
