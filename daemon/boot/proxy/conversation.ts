// What is said between the main thread and one thread of the public proxy, and what becomes of it when the thread ends.
import type { Worker } from 'node:worker_threads'
import type { FromThread, Standing, ToThread } from './messages.ts'
import type { Address } from './supervisor.ts'

type Answer = (standing: Standing | undefined) => void

export class Conversation<C> {
  readonly #worker: Worker
  readonly #hear: (message: FromThread) => void
  readonly #waiting = new Map<number, Answer>()
  #id = 0
  #failure: Error | undefined
  #isOver = false
  hasListened = false
  /** Rejects when the thread ends before. */
  readonly listening: Promise<Address>
  /** Why it ended; undefined for one that ended of itself. Never rejects. */
  readonly ended: Promise<Error | undefined>

  /** `hear` is told what needs another answer than the questions of this class have. */
  constructor(worker: Worker, hear: (message: FromThread) => void) {
    this.#worker = worker
    this.#hear = hear
    this.ended = new Promise((resolve) => {
      worker.on('error', (error: Error) => {
        this.#failure = error
      })
      worker.on('exit', () => {
        this.#isOver = true
        for (const answer of this.#waiting.values()) answer(undefined)
        this.#waiting.clear()
        resolve(this.#failure)
      })
    })
    this.listening = new Promise((resolve, reject) => {
      worker.on('message', (message: FromThread) => {
        if (message.kind === 'listening') {
          this.hasListened = true
          resolve({ host: message.host, port: message.port })
        } else this.#take(message)
      })
      void this.ended.then((why) => reject(why ?? new Error('the thread ended before it listened')))
    })
    // Whoever replaces a thread looks at how it ended.
    this.listening.catch(() => undefined)
  }

  say(message: ToThread<C>): void {
    this.#worker.postMessage(message)
  }

  async configure(config: C): Promise<void> {
    await this.#asked((id) => ({ kind: 'configure', id, config }))
  }

  /** Undefined when it ends before it answers. */
  report(): Promise<Standing | undefined> {
    return this.#asked((id) => ({ kind: 'report', id }))
  }

  #asked(question: (id: number) => ToThread<C>): Promise<Standing | undefined> {
    if (this.#isOver) return Promise.resolve(undefined)
    this.#id += 1
    const id = this.#id
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve)
      this.say(question(id))
    })
  }

  #take(message: FromThread): void {
    this.#hear(message)
    if (message.kind !== 'configured' && message.kind !== 'reported') return
    const answer = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    answer?.(message.kind === 'reported' ? message.standing : undefined)
  }
}
