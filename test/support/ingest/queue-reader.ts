// Runs of one task that takes messages of a queue, each in a thread of its own, as the runner of the site performs them.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type LandedDataset, landedDataset } from '../../../daemon/kernel/data/landed-dataset.ts'
import type { OpenConnection, TaskCursor, TaskOutcome, TaskWork } from '../../../daemon/roles/ingest/parts.ts'
import { performTry } from '../../../daemon/runtime/ingest/perform-try.ts'
import type { SourceSettings } from '../../../daemon/runtime/ingest/thread-job.ts'
import { readLanded } from '../../roles/ingest/ingest-site.ts'

type Params = Readonly<Record<string, unknown>>

export type QueueRun = {
  readonly outcome: TaskOutcome
  readonly failure?: { readonly reason: string; readonly isFinal: boolean }
  readonly dataset: LandedDataset
  /** One object for each row. */
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly rejects: readonly Readonly<Record<string, unknown>>[]
  readonly isSettled: boolean
}

const max_memory_mb = 256

export class QueueReader {
  readonly #root = mkdtempSync(path.join(tmpdir(), 'queue-'))
  connection: OpenConnection
  readonly #settings: SourceSettings
  readonly #operator: string
  #base: TaskCursor['base']
  #runs = 0
  memory_mb = max_memory_mb
  time_limit_s = 60

  constructor(connection: OpenConnection, settings: SourceSettings, operator = 'ingest_queue') {
    this.#operator = operator
    this.connection = connection
    this.#settings = settings
  }

  /** Of the run; `begin` counts another one. */
  get #run(): string {
    return `run${this.#runs}`
  }

  /** A run whose cursor moves as the runner moves it. */
  async run(params: Params = {}): Promise<QueueRun> {
    this.#runs++
    const outcome = await this.try(params)
    if ('failure' in outcome) return describeFailure(outcome)
    const { dataset, cursor } = outcome
    if (!dataset) throw new Error('a run has a dataset')
    const settled = cursor?.settled
    this.#base = { dataset: dataset.dataset, digest: dataset.digest, ...(settled && { settled }) }
    return await this.#describe(outcome, settled === true)
  }

  /** Another try of the newest run. */
  async try(params: Params = {}, signal = new AbortController().signal): Promise<TaskOutcome> {
    const isQueue = this.#operator === 'ingest_queue'
    const idle = isQueue ? { idle_s: 1 } : {}
    const task = {
      ...{ name: 'read', operator: this.#operator, params: { connection_id: 'conn_1', ...idle, ...params } },
      ...{ after: [], retries: 0, retry_delay_s: 1, time_limit_s: this.time_limit_s },
    }
    const cursor = { of: 'a'.repeat(64), ...(this.#base && { base: this.#base }) }
    const { connection } = this
    const place = { tenant_id: 'acme', pipeline: 'p', run: this.#run, inputs: [], connection }
    const work = { ...place, task, ...(isQueue && { cursor }) } as TaskWork
    const folders = ['datasets', 'drafts', 'outputs'].map((name) => [name, path.join(this.#root, name)])
    return await performTry(work, {
      ...{ sources: this.#settings, max_memory_mb: this.memory_mb, signal, report: () => undefined },
      ...(Object.fromEntries(folders) as { datasets: string; drafts: string; outputs: string }),
    })
  }

  async #describe(outcome: TaskOutcome, isSettled: boolean): Promise<QueueRun> {
    const folder = path.join(this.#root, 'datasets', 'acme', this.#run, 'read')
    const dataset = landedDataset.parse(JSON.parse(readFileSync(path.join(folder, 'dataset.json'), 'utf8')))
    const names = dataset.columns.map(({ name }) => name)
    const rows = (await readLanded(folder)).map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]])))
    const file = dataset.rejects.file && readFileSync(path.join(folder, dataset.rejects.file.name), 'utf8')
    const rejects = (file ?? '').split('\n').filter((line) => line !== '')
    return { outcome, dataset, rows, rejects: rejects.map((line) => JSON.parse(line)), isSettled }
  }

  [Symbol.dispose](): void {
    rmSync(this.#root, { recursive: true, force: true })
  }
}

function describeFailure(outcome: TaskOutcome): QueueRun {
  const failure = 'failure' in outcome ? outcome.failure : { reason: '', isFinal: false }
  const empty = { of: 'a'.repeat(64) }
  const counts = { format: 1 as const, columns: [], rows: 0, files: [], inputs: [], rejects: { rows: 0 }, widened: [] }
  return { outcome, failure, dataset: { ...counts, cursor: empty }, rows: [], rejects: [], isSettled: false }
}
