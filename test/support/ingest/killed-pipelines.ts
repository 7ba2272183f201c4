// Pipelines of a site whose process dies: what a person does with them, and what must be true of them in the end.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { log, readBlob } from 'isomorphic-git'
import { create as createConnection } from '../../../daemon/roles/ingest/connection/create.ts'
import { list as listRuns } from '../../../daemon/roles/ingest/dag-run/list.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import { run as triggerRun } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { get as getSchedule } from '../../../daemon/roles/ingest/datapipeline-schedule/get.ts'
import { list as listSignals } from '../../../daemon/roles/intelligence/signal/list.ts'
import { createDatabase } from '../../roles/ingest/ingest-site.ts'
import { waitUntil } from '../site/test-site.ts'
import { type JudgedDataset, judgeDatasets } from './judge-datasets.ts'
import type { KilledSite } from './killed-site.ts'

/** Rows of the source of a pipeline. */
export const source_rows = 40

type KilledSource = {
  readonly task: { readonly operator: string; readonly params: object }
  /** Whether each run reads the rows that are new. */
  readonly isIncremental: boolean
  /** Adds rows with these ids. */
  addEntries(from: number, to: number): void | Promise<void>
}

export class KilledPipeline {
  readonly #site: KilledSite
  readonly dag_id: string
  readonly #content: string
  readonly #isIncremental: boolean
  readonly #addEntries: KilledSource['addEntries']
  #rows = source_rows
  uid = ''

  private constructor(site: KilledSite, dag_id: string, source: KilledSource) {
    this.#site = site
    this.dag_id = dag_id
    this.#isIncremental = source.isIncremental
    this.#addEntries = source.addEntries
    // Another try follows at once: no try fails but by a death.
    const read = { name: 'read', ...source.task, retries: 0 }
    const announce = { name: 'announce', operator: 'notify', params: { title: `${dag_id} begins` }, retries: 0 }
    this.#content = JSON.stringify({ format: 1, dag_id, tasks: [announce, { ...read, after: ['announce'] }] })
  }

  /** A source and its connection, while a process runs. `isIncremental`: each run reads the rows that are new. */
  static async prepare(site: KilledSite, dag_id: string, isIncremental = false): Promise<KilledPipeline> {
    const file = path.join(site.files, `${dag_id}.db`)
    createDatabase(file, `CREATE TABLE entry (id INTEGER, text TEXT); ${insertEntries(1, source_rows)}`)
    const config = { file: `${dag_id}.db` }
    const { uid } = await site.olga.ok(createConnection, { name: dag_id, conn_type: 'sqlite', config })
    const params = { connection_id: uid, table: 'entry', ...(isIncremental && { cursor_column: 'id' }) }
    const addEntries = (from: number, to: number) => createDatabase(file, insertEntries(from, to))
    return new KilledPipeline(site, dag_id, {
      task: { operator: 'ingest_database', params },
      isIncremental,
      addEntries,
    })
  }

  /** The same of objects of S3, of which each run reads those that are new. */
  static async prepareObjects(
    site: KilledSite,
    dag_id: string,
    config: Record<string, string | boolean>,
    secret: string,
    addEntries: KilledSource['addEntries'],
  ): Promise<KilledPipeline> {
    await addEntries(1, source_rows)
    const { uid } = await site.olga.ok(createConnection, { name: dag_id, conn_type: 'aws_s3', config, secret })
    const task = { operator: 'ingest_objects', params: { connection_id: uid, only_new: true } }
    return new KilledPipeline(site, dag_id, { task, isIncremental: true, addEntries })
  }

  /** More rows in the source. */
  async grow(): Promise<void> {
    await this.#addEntries(this.#rows + 1, this.#rows + source_rows)
    this.#rows += source_rows
  }

  /** The same request each time. */
  async deploy(more: { readonly schedule?: string; readonly run_on_deploy?: boolean } = {}): Promise<void> {
    const { dag_id } = this
    const request = { dag_id, content: this.#content, run_on_deploy: true, ...more }
    this.uid = (await this.#site.olga.ok(deploy, request, { 'idempotency-key': `deploy-of-${dag_id}` })).uid
  }

  /** The same request for the same `name`. */
  async trigger(name: string): Promise<void> {
    await this.#site.olga.ok(triggerRun, { uid: this.uid }, { 'idempotency-key': `run-${name}-of-${this.dag_id}` })
  }

  async listRuns() {
    return (await this.#site.olga.ok(listRuns, { dag_id: this.dag_id, limit: 500 })).items
  }

  async waitUntilDeployed(): Promise<void> {
    await waitUntil(async () => {
      const { status, fault } = await this.#site.olga.ok(get, { uid: this.uid })
      assert.ok(status !== 'rejected' && status !== 'error', JSON.stringify(fault))
      return status !== 'pending_validation'
    })
  }

  /** Once it is deployed, and every run of it is over. */
  async waitUntilQuiet(): Promise<void> {
    await this.waitUntilDeployed()
    await waitUntil(async () => {
      return (await this.listRuns()).every(({ state }) => state === 'success' || state === 'failed')
    })
  }

  /** Commits of the live branch that are of this pipeline; its DAG is there as it was deployed. */
  async countPublications(): Promise<number> {
    const at = { fs, gitdir: path.join(this.#site.dir, 'data/ingest/dags.git') }
    const filepath = `dags/${this.dag_id}.${this.uid}.json`
    const commits = await log({ ...at, ref: 'main' })
    const { blob } = await readBlob({ ...at, oid: commits[0]?.oid ?? '', filepath })
    assert.equal(Buffer.from(blob).toString(), this.#content)
    return commits.filter(({ commit }) => commit.message.startsWith(`Deploy ${this.dag_id},`)).length
  }

  async readSchedule() {
    return await this.#site.olga.ok(getSchedule, { uid: this.uid })
  }

  /**
   * Every run succeeded, raised one signal, and has one dataset with every row of the source once: or all together have each row once.
   * Returns the ids of the runs.
   */
  async judge(datasets: readonly JudgedDataset[]): Promise<string[]> {
    const runs = await this.listRuns()
    for (const { dag_run_id, state, reason } of runs) assert.equal(state, 'success', `${dag_run_id}: ${reason}`)
    const own = datasets.filter(({ run }) => run.startsWith(`${this.uid}.`))
    const ofRuns = own.map(({ run }) => run.slice(this.uid.length + 1, run.lastIndexOf('.')))
    assert.deepEqual(
      ofRuns.toSorted(),
      runs.map(({ dag_run_id }) => dag_run_id).toSorted(),
      `datasets of ${this.dag_id}`,
    )
    const { items } = await this.#site.olga.ok(listSignals, { subject_id: this.uid, limit: 500 })
    const notices = runs.map(({ dag_run_id }) => `Run ${dag_run_id} of ${this.dag_id}, task announce.`)
    assert.deepEqual(items.map(({ description }) => description).toSorted(), notices.toSorted())
    if (this.#isIncremental) {
      const ids = own.flatMap((each) => each.ids)
      assert.equal(new Set(ids).size, ids.length, `no row of ${this.dag_id} is taken twice`)
      assert.equal(ids.length, this.#rows, `no row of ${this.dag_id} is lost`)
    } else for (const { ids } of own) assert.equal(ids.length, source_rows)
    return runs.map(({ dag_run_id }) => dag_run_id)
  }
}

function insertEntries(from: number, to: number): string {
  const rows = Array.from({ length: to - from + 1 }, (_, at) => `(${from + at}, 'entry ${from + at}')`)
  return `INSERT INTO entry VALUES ${rows.join(', ')};`
}

/** Once all pipelines are quiet: the datasets are whole, and so are the records of the site. */
export async function judgeSite(site: KilledSite): Promise<JudgedDataset[]> {
  assert.equal((await site.runJson(['audit', 'verify'])).whole, true)
  assert.equal((await site.runJson(['store', 'check'])).sound, true)
  return await judgeDatasets(site.dir)
}
