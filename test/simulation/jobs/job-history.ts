// One seeded history: processes run jobs, die, pause and lose their store, and the jobs must come through all of it.
import { expect } from 'vitest'
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import type { Leases } from '../../../daemon/kernel/job/lease.ts'
import { endJob, isJobOver, wakeJob } from '../../../daemon/kernel/job/rules.ts'
import type { Store } from '../../../daemon/kernel/store/store.ts'
import { type SeededRandom, seededRandom } from '../../support/random/seeded-random.ts'
import { findWorker, JobProcess, type JobWorld } from './job-process.ts'
import { type SimulatedTime, simulatedTime } from './simulated-time.ts'
import { buildWork, type StoredWork, works } from './work-job.ts'

export type JobHistoryOptions = {
  readonly seed: number
  readonly events: number
  readonly store: Store
  readonly leases: (time: Pick<SimulatedTime, 'now'>) => Leases
  /** No process dies or stands still, and answers are lost more often: no job may count a crash. */
  readonly isCrashFree?: boolean
}

/** As the runner has it: after this time without renewal another process may take a job over. */
const lease_life_ms = 15_000
/** Enough for every job to end once nothing disturbs it. */
const quiet_ms = 600_000

/** What happened, so that a test can hold a history to have tried something. */
export type JobHistoryCounts = Record<
  'kills' | 'pauses' | 'takeovers' | 'cuts' | 'losses' | 'cancelled' | 'completed' | 'failed',
  number
>

export async function runJobHistory(options: JobHistoryOptions): Promise<JobHistoryCounts> {
  return await new JobHistory(options).run()
}

class JobHistory {
  readonly #options: JobHistoryOptions
  readonly #chance: SeededRandom
  readonly #time = simulatedTime(Date.parse('2026-03-02T12:00:00Z'))
  readonly #counts: JobHistoryCounts = {
    ...{ kills: 0, pauses: 0, takeovers: 0, cuts: 0, losses: 0 },
    ...{ cancelled: 0, completed: 0, failed: 0 },
  }
  readonly #revoked = new Set<string>()
  readonly #working = new Map<string, { readonly process: JobProcess; readonly claim: number }>()
  readonly #violations: string[] = []
  readonly #ids: string[] = []
  readonly #seen = new Map<string, StoredWork>()
  #isCut = false
  #isCalm = false
  #cut_until_ms = Number.NEGATIVE_INFINITY
  #started = 0
  #processes: JobProcess[]

  constructor(options: JobHistoryOptions) {
    this.#options = options
    this.#chance = seededRandom(options.seed)
    this.#processes = Array.from({ length: 3 }, () => this.#startProcess())
  }

  async run(): Promise<JobHistoryCounts> {
    const { events, isCrashFree = false } = this.#options
    const crashes = isCrashFree ? { kill: 0, pause: 0 } : { kill: 3, pause: 3 }
    const weights = { create: 6, stop: 1, cut: 1, cancel: 0.5, wake: 1, revoke: 0.05, ...crashes }
    for (let event = 0; event < events; event++) {
      await this.#events[this.#chance.weighted(weights)]()
      await this.#pass(this.#chance.below(20_000))
    }
    this.#isCalm = true
    await this.#pass(quiet_ms)
    await this.#events.wake()
    await this.#pass(quiet_ms)
    for (const process of this.#processes) process.stop()
    await this.#time.pass(60_000)
    expect(this.#violations).toEqual([])
    judge(this.#seen, this.#counts, this.#revoked)
    if (isCrashFree)
      for (const { job } of this.#seen.values()) expect(job.failure?.reason ?? '').not.toContain('crashed')
    return this.#counts
  }

  readonly #events = {
    create: async () => {
      const id = `job_${this.#ids.length}`
      this.#ids.push(id)
      const work = buildWork(1 + this.#chance.below(5), this.#chance.pick(['ann', 'bob', 'eve']), this.#time.now())
      await this.#options.store.create(works, id, work)
    },
    kill: async () => {
      this.#counts.kills += 1
      this.#replace((process) => process.kill())
    },
    stop: async () => this.#replace((process) => process.stop()),
    pause: async () => {
      const process = this.#chance.pick(this.#processes)
      process.pause()
      this.#counts.pauses += 1
      this.#time.after(this.#chance.below(90_000), () => process.resume())
    },
    cut: async () => {
      this.#isCut = true
      this.#counts.cuts += 1
      this.#time.after(this.#chance.below(40_000), () => {
        this.#isCut = false
        this.#cut_until_ms = this.#time.now()
      })
    },
    cancel: async () => {
      if (this.#ids.length > 0)
        await this.#change(this.#chance.pick(this.#ids), (value) => endJob(value, 'cancelled', {}))
    },
    wake: async () => {
      for (const id of this.#ids) await this.#change(id, (value) => wakeJob(value, this.#time.now()))
    },
    revoke: async () => void this.#revoked.add('eve'),
  }

  async #change(id: string, rule: (value: StoredWork) => StoredWork): Promise<void> {
    await this.#options.store.update(works, id, ({ value }) => ({ next: rule(value), answer: undefined }))
  }

  #startProcess(): JobProcess {
    const { store, leases } = this.#options
    return new JobProcess(`process-${this.#started++}`, {
      ...{ time: this.#time, store, leases },
      isCut: () => this.#isCut,
      random: (bytes) =>
        Array.from({ length: bytes }, () => this.#chance.below(256).toString(16).padStart(2, '0')).join(''),
      findPrincipal: async (subject) =>
        this.#revoked.has(subject) ? refuse('forbidden', `${subject} was revoked`) : findWorker(subject),
      decideStep: () => this.#decideStep(),
      losesAnswer: () => this.#losesAnswer(),
      decideStall_ms: () => this.#decideStall_ms(),
      onStep: (process, id, claim, phase) => this.#noteStep(process, id, claim, phase),
    })
  }

  #losesAnswer(): boolean {
    if (this.#isCalm || !this.#chance.happens(this.#options.isCrashFree ? 0.15 : 0.02)) return false
    this.#counts.losses += 1
    return true
  }

  #decideStall_ms(): number {
    if (this.#isCalm || this.#options.isCrashFree) return 0
    return this.#chance.happens(0.02) ? this.#chance.below(60_000) : 0
  }

  #decideStep(): ReturnType<JobWorld['decideStep']> {
    if (this.#isCalm) return { takes_ms: 1_000, answer: 'done' }
    const answer = this.#chance.weighted({ done: 12, delayed: 3, broken: 0.2, rests: 1 })
    return { takes_ms: this.#chance.below(40_000), answer, isObedient: this.#chance.happens(0.5) }
  }

  /** A process that runs and renews keeps its jobs: one that loses a job is dead, or was away for as long as a lease lives. */
  #noteStep(process: JobProcess, id: string, claim: number, phase: 'begins' | 'ends'): void {
    const former = this.#working.get(id)
    if (phase === 'ends') {
      if (former?.process === process && former.claim === claim) this.#working.delete(id)
      return
    }
    if (former && claim <= former.claim && former.process !== process) {
      // A process that was away may begin a step before it learns that its claim is void: it can write nothing.
      if (!this.#wasAway(process)) this.#violations.push(`${id}: the claim ${claim} follows ${former.claim}`)
      return
    }
    if (former && former.process !== process) {
      this.#counts.takeovers += 1
      if (!this.#wasAway(former.process))
        this.#violations.push(`${process.name} took ${id} from ${former.process.name}`)
    }
    this.#working.set(id, { process, claim })
  }

  #wasAway({ isKilled, isPaused, paused_until_ms }: JobProcess): boolean {
    const now_ms = this.#time.now()
    const isStoreBack = !this.#isCut && now_ms - this.#cut_until_ms >= lease_life_ms
    return isKilled || isPaused || now_ms - paused_until_ms < lease_life_ms || !isStoreBack
  }

  #replace(end: (process: JobProcess) => void): void {
    const victim = this.#chance.pick(this.#processes)
    end(victim)
    this.#processes = this.#processes.map((each) => (each === victim ? this.#startProcess() : each))
  }

  async #pass(ms: number): Promise<void> {
    await this.#time.pass(ms)
    await observe(this.#options.store, this.#ids, this.#seen)
  }
}

/** Holds each job to its earlier state: steps never fall, what was done stays, and an end is final. */
async function observe(store: Store, ids: readonly string[], seen: Map<string, StoredWork>): Promise<void> {
  for (const id of ids) {
    const value = (await store.get(works, id))?.value
    if (!value) throw new Error(`the job ${id} was lost`)
    const before = seen.get(id)
    if (before) {
      expect(value.job.step).toBeGreaterThanOrEqual(before.job.step)
      expect(value.job.claims).toBeGreaterThanOrEqual(before.job.claims)
      expect(value.done.slice(0, before.done.length)).toEqual(before.done)
      if (isJobOver(before)) expect(value).toEqual(before)
    }
    seen.set(id, value)
  }
}

/** At the end every job is over, and its steps were written once, in order, by claims that only rise. */
function judge(seen: ReadonlyMap<string, StoredWork>, counts: JobHistoryCounts, revoked: ReadonlySet<string>): void {
  for (const [id, { job, done, steps }] of seen) {
    expect(done.map(({ step }) => step)).toEqual(done.map((_, at) => at))
    const claims = done.map(({ claim }) => claim)
    expect(claims).toEqual(claims.toSorted((a, b) => a - b))
    expect(['completed', 'failed', 'cancelled'], `the job ${id} is ${job.state}`).toContain(job.state)
    if (job.state === 'completed') expect(done).toHaveLength(steps)
    if (job.state === 'failed') {
      const reasons = /internal error|crashed 3 times|may run for/
      const isRevoked = job.principal !== undefined && revoked.has(job.principal.subject)
      expect(job.failure?.reason).toMatch(isRevoked ? /revoked|internal error|crashed|may run/ : reasons)
    }
    if (job.state === 'completed' || job.state === 'failed' || job.state === 'cancelled') counts[job.state] += 1
  }
}
