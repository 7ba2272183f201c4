// The main thread's end of the messages with one thread of the public proxy, also when the thread ends.
import type { Worker } from 'node:worker_threads'
import type { MessageFromThread, MessageToThread, ThreadStatus } from './thread-messages.ts'
import type { ListenAddress } from './thread-supervisor.ts'

type ThreadReportCallback = (status: ThreadStatus | undefined) => void

export class ThreadHandle<C> {
  readonly #worker: Worker
  readonly #onMessage: (message: MessageFromThread) => void
  readonly #pending = new Map<number, ThreadReportCallback>()
  #id = 0
  #failure: Error | undefined
  #isOver = false
  hasListened = false
  /** Rejects when the thread ends before. */
  readonly listening: Promise<ListenAddress>
  /** The error that ended the thread; undefined when it ended normally. Never rejects. */
  readonly ended: Promise<Error | undefined>

  /** `onMessage` receives every message but `listening`. */
  constructor(worker: Worker, onMessage: (message: MessageFromThread) => void) {
    this.#worker = worker
    this.#onMessage = onMessage
    this.ended = new Promise((resolve) => {
      worker.on('error', (error: Error) => {
        this.#failure = error
      })
      worker.on('exit', () => {
        this.#isOver = true
        for (const respond of this.#pending.values()) respond(undefined)
        this.#pending.clear()
        resolve(this.#failure)
      })
    })
    this.listening = new Promise((resolve, reject) => {
      worker.on('message', (message: MessageFromThread) => {
        if (message.kind === 'listening') {
          this.hasListened = true
          resolve({ host: message.host, port: message.port })
        } else this.#receive(message)
      })
      void this.ended.then((reason) => reject(reason ?? new Error('the thread ended before it listened')))
    })
    // The supervisor learns of the end by `ended`.
    this.listening.catch(() => undefined)
  }

  send(message: MessageToThread<C>): void {
    this.#worker.postMessage(message)
  }

  async configure(config: C): Promise<void> {
    await this.#request((id) => ({ kind: 'configure', id, config }))
  }

  /** Undefined when it ends before it answers. */
  report(): Promise<ThreadStatus | undefined> {
    return this.#request((id) => ({ kind: 'report', id }))
  }

  #request(build: (id: number) => MessageToThread<C>): Promise<ThreadStatus | undefined> {
    if (this.#isOver) return Promise.resolve(undefined)
    this.#id += 1
    const id = this.#id
    return new Promise((resolve) => {
      this.#pending.set(id, resolve)
      this.send(build(id))
    })
  }

  #receive(message: MessageFromThread): void {
    this.#onMessage(message)
    if (message.kind !== 'configured' && message.kind !== 'reported') return
    const respond = this.#pending.get(message.id)
    this.#pending.delete(message.id)
    respond?.(message.kind === 'reported' ? message.status : undefined)
  }
}
