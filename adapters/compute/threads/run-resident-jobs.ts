// The jobs of a resident thread: they share its time in slices, and end when they are cancelled or out of computing time.
import { parentPort } from 'node:worker_threads'
import { isRefusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { ResidentContext } from '../../../daemon/kernel/role/compute.ts'
import type { ResidentFailure, ResidentReply, ResidentRequest } from './resident-messages.ts'

/** Computing time after which a job lets others continue. */
const slice_ms = 5

/** Serves jobs until the thread is ended. `work` keeps its data between jobs. */
export function runResidentJobs(work: (input: unknown, context: ResidentContext) => Promise<unknown>): void {
  const jobs = new Map<number, ThreadJob>()
  parentPort?.on('message', (request: ResidentRequest) => {
    if (request.kind === 'ping') return reply({ kind: 'pong' })
    if (request.kind !== 'job') return jobs.get(request.job)?.receive(request)
    const { job, input, max_compute_ms } = request
    const context = new ThreadJob(job, max_compute_ms)
    jobs.set(job, context)
    work(input, context)
      .then(
        (value) => reply({ kind: 'done', job, value }),
        (error: unknown) => reply({ kind: 'failed', job, failure: describeFailure(error) }),
      )
      .finally(() => jobs.delete(job))
  })
}

class ThreadJob implements ResidentContext {
  readonly #job: number
  readonly #max_compute_ms: number
  readonly #answers = new Map<number, (value: unknown) => void>()
  #computed_ms = 0
  #resumed_ms = performance.now()
  #resumed_at_ms = readComputingTime_ms()
  #queries = 0
  #isCancelled = false

  constructor(job: number, max_compute_ms: number) {
    this.#job = job
    this.#max_compute_ms = max_compute_ms
  }

  receive(request: Extract<ResidentRequest, { job: number }>): void {
    if (request.kind === 'answer') this.#answers.get(request.query)?.(request.value)
    if (request.kind !== 'cancel') return
    this.#isCancelled = true
    for (const resolve of this.#answers.values()) resolve(undefined)
  }

  async pause(): Promise<void> {
    const computed_ms = this.#computed_ms + readComputingTime_ms() - this.#resumed_at_ms
    if (computed_ms > this.#max_compute_ms) throw computeTimeRefusal(this.#max_compute_ms)
    if (performance.now() - this.#resumed_ms >= slice_ms)
      await this.#leave(new Promise((resolve) => void setImmediate(resolve)))
    this.#throwIfCancelled()
  }

  async query(value: unknown): Promise<unknown> {
    const query = ++this.#queries
    const answer = new Promise<unknown>((resolve) => void this.#answers.set(query, resolve))
    reply({ kind: 'query', job: this.#job, query, value })
    const received = await this.#leave(answer)
    this.#answers.delete(query)
    this.#throwIfCancelled()
    return received
  }

  #throwIfCancelled(): void {
    if (this.#isCancelled) throw refuse('timeout', 'the work was cancelled')
  }

  /** Stops the clock of this job while others use the thread. */
  async #leave<T>(awaited: Promise<T>): Promise<T> {
    this.#computed_ms += readComputingTime_ms() - this.#resumed_at_ms
    const value = await awaited
    this.#resumed_ms = performance.now()
    this.#resumed_at_ms = readComputingTime_ms()
    return value
  }
}

/** Processor time of this thread: a busy machine does not shorten what a job may compute. */
function readComputingTime_ms(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

function reply(message: ResidentReply): void {
  parentPort?.postMessage(message)
}

function describeFailure(error: unknown): ResidentFailure {
  if (isRefusal(error)) return { refused: error.code, message: error.message }
  return error instanceof Error
    ? { error: error.message, stack: error.stack }
    : { error: String(error), stack: undefined }
}

function computeTimeRefusal(max_compute_ms: number) {
  return refuse('too_large', `the work used its ${max_compute_ms} ms of computing time: use fewer or shorter values`)
}
