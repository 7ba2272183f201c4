// Pipelines of a process that dies by SIGKILL at chosen steps and at any moment: every run that was requested or due is there once.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { triggerIdOf } from '../../daemon/roles/ingest/datapipeline-schedule/rules.ts'
import { set as setSchedule } from '../../daemon/roles/ingest/datapipeline-schedule/set.ts'
import { ingestFaultPoints } from '../../daemon/roles/ingest/fault-points.ts'
import { judgeSite, KilledPipeline } from '../support/ingest/killed-pipelines.ts'
import { createKilledSite, type KilledSite } from '../support/ingest/killed-site.ts'
import { type SeededRandom, seededRandom } from '../support/random/seeded-random.ts'
import { waitUntil } from '../support/site/test-site.ts'

const rounds = 3
/** Between two recoveries: a third death within one step would fail its job. */
const deaths_per_round = 2
/** How far the clock goes on between two processes: a lease is over, and a time of the schedule, or several, passed. */
const pauses_ms = [20_000, 61_000, 185_000]
/** The longest time until a process is killed that has not reached its step. */
const max_life_ms = 2_000

export const usual_seeds = 200

/** The events, counted. Throws when anything was lost, done twice or left half done; the folders stay then. */
export async function soak(seed: number): Promise<Record<string, number>> {
  const site = await createKilledSite()
  try {
    const counts = await new IngestSoak(site, seededRandom(seed)).toItsEnd()
    await site.end()
    return counts
  } catch (error) {
    await site.stop()
    throw new Error(`seed ${seed} failed; its folders are ${site.dir}`, { cause: error })
  }
}

class IngestSoak {
  readonly #site: KilledSite
  readonly #chance: SeededRandom
  readonly #pipelines: KilledPipeline[] = []
  /** Requests that have had no answer yet: a person repeats them. */
  readonly #requests: (() => Promise<unknown>)[] = []
  /** Times that the schedule showed as its next ones. */
  readonly #announced = new Set<string>()
  #requested = 0
  #deaths = { 'at a step': 0, 'at any moment': 0 }

  constructor(site: KilledSite, by: SeededRandom) {
    this.#site = site
    this.#chance = by
  }

  async toItsEnd(): Promise<Record<string, number>> {
    const daemon = await this.#site.start()
    for (const name of ['busy', 'scheduled']) this.#pipelines.push(await KilledPipeline.prepare(this.#site, name))
    await daemon.kill()
    for (const pipeline of this.#pipelines) this.#requests.push(() => pipeline.deploy())
    this.#requests.push(() => this.#schedule())
    for (let round = 0; round < rounds; round++) {
      for (let death = 0; death < deaths_per_round; death++) await this.#die()
      await this.#recover()
    }
    return { ...(await this.#judge()), ...this.#deaths }
  }

  async #schedule(): Promise<void> {
    const { uid } = this.#scheduled()
    await this.#site.olga.ok(setSchedule, { uid, schedule: '* * * * *' })
  }

  #busy = () => this.#pipelines[0] as KilledPipeline
  #scheduled = () => this.#pipelines[1] as KilledPipeline

  async #die(): Promise<void> {
    const later_ms = pauses_ms[this.#chance.below(pauses_ms.length)]
    const point = ingestFaultPoints[this.#chance.below(2 * ingestFaultPoints.length)]
    const doomed = await this.#site.start(point, later_ms)
    if (this.#requests.length === 0) this.#requestRun()
    const work = this.#answerRequests().catch(ignoreConnectionFailure)
    const life_ms = point === undefined ? this.#chance.below(max_life_ms) : max_life_ms
    await Promise.race([pause(life_ms), waitUntil(() => doomed.hasEnded())])
    this.#deaths[doomed.hasEnded() ? 'at a step' : 'at any moment'] += 1
    await doomed.kill()
    await work
  }

  #requestRun(): void {
    const name = `run${++this.#requested}`
    this.#requests.push(() => this.#busy().trigger(name))
  }

  /** In their order: one that breaks off is first the next time. */
  async #answerRequests(): Promise<void> {
    for (let next = this.#requests[0]; next; next = this.#requests[0]) {
      await this.#waitUntilDeployed()
      await next()
      this.#requests.shift()
    }
  }

  /** A run is requested of a DAG that is live. */
  async #waitUntilDeployed(): Promise<void> {
    for (const pipeline of this.#pipelines) if (pipeline.uid !== '') await pipeline.waitUntilDeployed()
  }

  async #recover(): Promise<void> {
    const daemon = await this.#site.start()
    await this.#answerRequests()
    for (const pipeline of this.#pipelines) await pipeline.waitUntilQuiet()
    this.#announced.add(triggerIdOf(Date.parse(await this.#readNextTime())))
    await daemon.kill()
  }

  /** Of a schedule whose former run is over: a time that comes while that run is in flight is left out. */
  async #readNextTime(): Promise<string> {
    for (;;) {
      const next = await this.#readSchedule()
      await this.#scheduled().waitUntilQuiet()
      // The same as before: none was triggered in between.
      if (next === (await this.#readSchedule())) return next
    }
  }

  async #readSchedule(): Promise<string> {
    const { next_scheduled_run } = await this.#scheduled().readSchedule()
    assert.ok(next_scheduled_run, 'the schedule goes on')
    return next_scheduled_run
  }

  async #judge(): Promise<Record<string, number>> {
    // Past every time that was announced.
    const daemon = await this.#site.start(undefined, 61_000)
    const isThere = async (id: string) =>
      (await this.#scheduled().listRuns()).some(({ dag_run_id }) => dag_run_id === id)
    for (const id of this.#announced) await waitUntil(() => isThere(id))
    for (const pipeline of this.#pipelines) await pipeline.waitUntilQuiet()
    // A time that comes meanwhile has its run in the last list.
    await this.#site.olga.ok(setSchedule, { uid: this.#scheduled().uid, schedule: null })
    for (const pipeline of this.#pipelines) await pipeline.waitUntilQuiet()
    const datasets = await judgeSite(this.#site)
    const runs = await this.#busy().judge(datasets)
    assert.equal(runs.length, 1 + this.#requested, 'each requested run is there once')
    const scheduled = await this.#scheduled().judge(datasets)
    await daemon.kill()
    return { runs: runs.length + scheduled.length }
  }
}

/** No connection, or one that broke off. A refusal is an answer. */
function ignoreConnectionFailure(error: unknown): undefined {
  if (!(error instanceof TypeError)) throw error
}
