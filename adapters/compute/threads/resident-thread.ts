// One thread that keeps data between jobs, and shares its time among the owners of jobs; it starts with the first job.
import type { Worker } from 'node:worker_threads'
import { Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { ResidentCompute, ResidentJob } from '../../../daemon/kernel/role/compute.ts'
import { FairTurns } from '../../../daemon/kernel/role/fair-turns.ts'
import type { ResidentFailure, ResidentReply, ResidentRequest } from './resident-messages.ts'
import { startWorker, type ThreadScript, toJobError } from './start-worker.ts'

export type ResidentLimits = {
  readonly max_memory_bytes: number
  /** Jobs in the thread at a time; the others wait for their turn. */
  readonly max_active: number
  readonly max_waiting: number
  readonly max_waiting_per_owner: number
}

/** A thread that does not answer for this long is ended: its job computes without a pause. */
const stall_ms = 10_000
const ping_interval_ms = 1_000
const retry_after_s = 1

type ScheduledJob = ResidentJob & {
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
}

export class ResidentThread implements ResidentCompute {
  readonly #script: () => ThreadScript
  readonly #limits: ResidentLimits
  readonly #turns = new FairTurns()
  readonly #waiting = new Set<ScheduledJob>()
  readonly #active = new Map<number, ScheduledJob>()
  #worker: Worker | undefined
  #pings: NodeJS.Timeout | undefined
  #answered_ms = 0
  #jobs = 0
  generation = 0

  constructor(script: () => ThreadScript, limits: ResidentLimits) {
    this.#script = script
    this.#limits = limits
  }

  run(job: ResidentJob): Promise<unknown> {
    const refusal = this.#checkQueue(job)
    if (refusal) return Promise.reject(refusal)
    if (job.signal.aborted) return Promise.reject(job.signal.reason)
    const controller = new AbortController()
    const outcome = new Promise((resolve, reject) => {
      const queued: ScheduledJob = { ...job, resolve, reject }
      this.#waiting.add(queued)
      job.signal.addEventListener('abort', () => this.#cancel(queued), { once: true, signal: controller.signal })
    })
    this.#startNext()
    return outcome.finally(() => controller.abort())
  }

  #checkQueue({ owner }: ResidentJob): Refusal | undefined {
    const { max_waiting, max_waiting_per_owner } = this.#limits
    const own = [...this.#waiting].filter(
      (job) => job.owner.subject === owner.subject && job.owner.tenant_id === owner.tenant_id,
    )
    const isFull = this.#waiting.size >= max_waiting || own.length >= max_waiting_per_owner
    if (!isFull) return undefined
    const cause =
      own.length >= max_waiting_per_owner ? `${own.length} lookups of this caller wait` : 'many lookups wait'
    return new Refusal('unavailable', `${cause} for their turn: retry later`, [], retry_after_s)
  }

  #startNext(): void {
    while (this.#active.size < this.#limits.max_active) {
      const next = this.#turns.take(this.#waiting, ({ owner }) => owner)
      if (!next) return
      this.#waiting.delete(next)
      const job = ++this.#jobs
      this.#active.set(job, next)
      this.#send({ kind: 'job', job, input: next.input, max_compute_ms: next.max_compute_ms })
    }
  }

  #send(request: ResidentRequest): void {
    this.#worker ??= this.#start()
    this.#worker.ref()
    this.#worker.postMessage(request)
  }

  #start(): Worker {
    const worker = startWorker(this.#script(), undefined, this.#limits.max_memory_bytes)
    this.#answered_ms = performance.now()
    worker.on('message', (reply: ResidentReply) => this.#receive(reply))
    worker.on('error', (error) => this.#lose(worker, toJobError(error)))
    worker.on('exit', () => this.#lose(worker, refuse('unavailable', 'the thread for lookups ended: retry')))
    this.#pings = setInterval(() => this.#ping(worker), ping_interval_ms).unref()
    return worker
  }

  /** Ends a thread that computes without a pause; nothing in it can end its job. */
  #ping(worker: Worker): void {
    const isStalled = performance.now() - this.#answered_ms > stall_ms && this.#active.size > 0
    if (isStalled) this.#lose(worker, stallRefusal(this.#active.size))
    else worker.postMessage({ kind: 'ping' } satisfies ResidentRequest)
  }

  #receive(reply: ResidentReply): void {
    this.#answered_ms = performance.now()
    if (reply.kind === 'pong') return
    const queued = this.#active.get(reply.job)
    if (reply.kind === 'query') return void (queued && this.#answer(queued, reply))
    this.#active.delete(reply.job)
    if (reply.kind === 'done') queued?.resolve(reply.value)
    else queued?.reject(restoreFailure(reply.failure))
    this.#startNext()
    // An idle thread keeps its data, and does not keep the process.
    if (this.#active.size === 0) this.#worker?.unref()
  }

  async #answer(queued: ScheduledJob, { job, query, value }: Extract<ResidentReply, { kind: 'query' }>): Promise<void> {
    try {
      const answer = await queued.onQuery(value)
      if (this.#active.get(job) === queued) this.#send({ kind: 'answer', job, query, value: answer })
    } catch (error) {
      if (this.#active.get(job) === queued) this.#end(job, queued, error)
    }
  }

  #cancel(queued: ScheduledJob): void {
    if (this.#waiting.delete(queued)) queued.reject(queued.signal.reason)
    for (const [job, active] of this.#active) if (active === queued) this.#end(job, queued, queued.signal.reason)
  }

  /** Rejects at once; the thread ends the work at its next pause, and until then the job occupies its place. */
  #end(job: number, queued: ScheduledJob, reason: unknown): void {
    queued.reject(reason)
    this.#send({ kind: 'cancel', job })
  }

  #lose(worker: Worker, reason: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.generation++
    clearInterval(this.#pings)
    void worker.terminate()
    for (const { reject } of this.#active.values()) reject(reason)
    this.#active.clear()
    this.#startNext()
  }

  async close(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    clearInterval(this.#pings)
    const reason = refuse('unavailable', 'the service is stopping')
    for (const { reject } of [...this.#waiting, ...this.#active.values()]) reject(reason)
    this.#waiting.clear()
    this.#active.clear()
    await worker?.terminate()
  }
}

/** Nobody knows which of several jobs computes: those that do not may succeed, and the one that does ends once it is alone. */
function stallRefusal(active: number): Refusal {
  return active === 1
    ? refuse('too_large', 'the work computed for too long without a pause: use fewer or shorter values')
    : refuse('unavailable', 'the thread for lookups computed for too long without a pause: retry')
}

function restoreFailure(failure: ResidentFailure): unknown {
  if ('refused' in failure) return refuse(failure.refused, failure.message)
  const error = new Error(failure.error)
  if (failure.stack !== undefined) error.stack = failure.stack
  return error
}
