// A process that runs jobs: it can be killed at any call, and paused for longer than its leases live.
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import type { DelegatingCredential, Principal } from '../../../daemon/kernel/identity/delegation.ts'
import type { AnyJobKind } from '../../../daemon/kernel/job/job.ts'
import { jobsWorker } from '../../../daemon/kernel/job/jobs-worker.ts'
import type { Leases } from '../../../daemon/kernel/job/lease.ts'
import { createServiceCall } from '../../../daemon/kernel/operation/perform-operation.ts'
import type { RoleContext } from '../../../daemon/kernel/operation/role-context.ts'
import type { RoleEnvironment } from '../../../daemon/kernel/operation/role-environment.ts'
import type { Store } from '../../../daemon/kernel/store/store.ts'
import { newTrace } from '../../../daemon/kernel/telemetry/trace.ts'
import type { SimulatedTime } from './simulated-time.ts'
import { type StepHooks, type WorkRules, workJob } from './work-job.ts'

export class ProcessKilledError extends Error {}

export type JobWorld = {
  /** What the processes run; `workJob` by default. */
  readonly kind?: AnyJobKind
  /** What calls find besides: parts and settings of a kind that needs them. */
  readonly environment?: Partial<RoleEnvironment>
  readonly time: SimulatedTime
  readonly store: Store
  readonly leases: (time: Pick<SimulatedTime, 'now'>) => Leases
  /** The principal of a grant as it is now. */
  readonly findPrincipal: (grant: string) => Promise<Principal | Refusal>
  readonly random: (bytes: number) => string
  /** Whether calls of leases and of the store find no answer now. */
  readonly isCut: () => boolean
  /** Whether the answer of a call is lost that reached the lease or the store; never by default. */
  readonly losesAnswer?: () => boolean | Promise<boolean>
  /** A step began at a process, and ended or was aborted there. */
  readonly onStep: (process: JobProcess, id: string, claim: number, phase: 'begins' | 'ends') => void
  readonly onError?: (event: string) => void
  readonly onWarning?: (event: string) => void
  /** Milliseconds for which the network holds a call back; mostly none. */
  readonly decideStall_ms: () => number
  readonly rules?: WorkRules
  /** Milliseconds that a step takes, and what becomes of it. One that does not obey goes on after its abort. */
  readonly decideStep: () => {
    readonly takes_ms: number
    readonly answer: Awaited<ReturnType<StepHooks['perform']>>
    readonly isObedient?: boolean
  }
}

const labels = { policy: 'SITE', levels: ['UNCLASSIFIED'] }

export class JobProcess {
  readonly name: string
  readonly #world: JobWorld
  readonly #stopping = new AbortController()
  #isKilled = false
  /** Calls that the network holds back. */
  #stalled = 0
  #paused: Promise<void> | undefined
  #resume: () => void = () => undefined
  /** When the process was last not running, in simulated milliseconds. */
  paused_until_ms = Number.NEGATIVE_INFINITY

  constructor(name: string, world: JobWorld) {
    this.name = name
    this.#world = world
    void this.#run()
  }

  get isKilled(): boolean {
    return this.#isKilled
  }

  get isPaused(): boolean {
    return this.#paused !== undefined || this.#stalled > 0
  }

  /** From now on every call of the process fails, as nothing that a dead process computes has an effect. */
  kill(): void {
    this.#isKilled = true
    this.resume()
    this.#stopping.abort()
  }

  /** An orderly stop: the process may still write. */
  stop(): void {
    this.#stopping.abort()
  }

  pause(): void {
    if (this.#paused) return
    this.#paused = new Promise((resolve) => {
      this.#resume = resolve
    })
  }

  resume(): void {
    this.#paused = undefined
    this.paused_until_ms = this.#world.time.now()
    this.#resume()
  }

  async #run(): Promise<void> {
    const { time, leases, random, rules } = this.#world
    const context = this.#buildContext()
    const shared = leases(time)
    const guarded: Leases = {
      take: (key, life_ms) => this.#reach(() => shared.take(key, life_ms)),
      renew: (lease, life_ms) => this.#reach(() => shared.renew(lease, life_ms)),
      release: (lease) => this.#reach(() => shared.release(lease)),
    }
    const kind = workJob({ perform: (id, claim, signal) => this.#performStep(id, claim, signal) }, rules)
    const worker = jobsWorker([this.#world.kind ?? kind], { role: 'test', leases: guarded, context })
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const call = createServiceCall(context, 'test', 'test.worker.jobs', newTrace(random), signal)
      await worker.run(call).catch(() => undefined)
      await this.#sleep(5_000)
    }
  }

  async #performStep(id: string, claim: number, signal: AbortSignal) {
    const { onStep, decideStep } = this.#world
    onStep(this, id, claim, 'begins')
    const { takes_ms, answer, isObedient = false } = decideStep()
    const aborted = new Promise<void>((resolve) => void signal.addEventListener('abort', () => resolve()))
    void aborted.then(() => this.#isKilled || onStep(this, id, claim, 'ends'))
    await (isObedient ? Promise.race([this.#sleep(takes_ms), aborted]) : this.#sleep(takes_ms))
    await this.#paused
    if (isObedient) signal.throwIfAborted()
    onStep(this, id, claim, 'ends')
    return answer
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#world.time.after(ms, resolve))
  }

  /** A call from the process to the outside: it waits while the process is paused, and fails once it is dead. */
  async #reach<T>(act: () => Promise<T>): Promise<T> {
    while (this.#paused) await this.#paused
    if (this.#isKilled) throw new ProcessKilledError(`${this.name} was killed`)
    if (this.#world.isCut()) throw new Refusal('unavailable', 'no answer')
    await this.#stall()
    const answer = await this.#world.time.track(act())
    // The outcome of a call that was under way reaches no dead process, although it may have had its effect.
    if (this.#isKilled) throw new ProcessKilledError(`${this.name} was killed`)
    while (this.#paused) await this.#paused
    if (await this.#world.losesAnswer?.()) throw new Refusal('unavailable', 'the answer was lost')
    return answer
  }

  /** A call that the network holds back still reaches the store, perhaps after another process has taken the job over. */
  async #stall(): Promise<void> {
    const stall_ms = this.#world.decideStall_ms()
    if (stall_ms === 0) return
    this.#stalled += 1
    await this.#sleep(stall_ms)
    this.#stalled -= 1
    this.paused_until_ms = this.#world.time.now()
  }

  #buildContext(): RoleContext {
    const { store, findPrincipal } = this.#world
    const reach = this.#reach.bind(this)
    const guarded = new Proxy(store, {
      get(target, name: keyof Store) {
        const method = target[name] as (...given: unknown[]) => Promise<unknown>
        return typeof method === 'function' ? (...given: unknown[]) => reach(() => method.apply(target, given)) : method
      },
    })
    const context: Partial<RoleContext> = {
      environment: this.#buildEnvironment(),
      store: guarded,
      roles: () => ({}) as ReturnType<RoleContext['roles']>,
      delegation: (_trace, credential) =>
        ({
          principal: () => findPrincipal(readGrant(credential)),
          store: async () => ({ ...(await findPrincipal(readGrant(credential))), grant: readGrant(credential) }),
        }) as unknown as ReturnType<RoleContext['delegation']>,
      role_table: { worker: ['work:do', 'intelligence:review', 'ingest:run', 'ingest:write'] },
      record: async () => undefined,
    }
    return context as RoleContext
  }

  #buildEnvironment(): RoleEnvironment {
    const { time, random } = this.#world
    const ignore = () => undefined
    const environment: Partial<RoleEnvironment> = {
      site: { tenant_id: 'alpha', labels } as unknown as RoleEnvironment['site'],
      log: {
        ...{ debug: ignore, info: ignore },
        warn: (event) => this.#world.onWarning?.(event),
        error: (event) => this.#world.onError?.(event),
      },
      now: time.now,
      monotonic: time.now,
      random,
      announce: ignore,
      wake: ignore,
      count: ignore,
      changes: (_topic, signal, at_least_every_ms) => this.#ticks(signal, at_least_every_ms),
      ...this.#world.environment,
    }
    return environment as RoleEnvironment
  }

  /** Nothing is announced between processes, so that only polling counts. */
  async *#ticks(signal: AbortSignal, every_ms: number): AsyncIterable<void> {
    while (!signal.aborted) {
      yield
      await new Promise<void>((resolve) => {
        const end = () => {
          cancel()
          signal.removeEventListener('abort', end)
          resolve()
        }
        const cancel = this.#world.time.after(every_ms, end)
        signal.addEventListener('abort', end)
      })
      while (this.#paused) await this.#paused
    }
  }
}

function readGrant(credential: DelegatingCredential | undefined): string {
  if (credential && 'grant' in credential) return credential.grant
  throw new Error('a job acts by the grant of its principal alone')
}

/** What a principal of these histories is now. */
export function findWorker(subject: string): Principal {
  return { subject, tenant_id: 'alpha', roles: ['worker'] }
}
