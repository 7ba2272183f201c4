// A site with pipelines, and the folder of data files of its tenant.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll } from 'vitest'
import { type DataFile, openDataFile } from '../../../adapters/platform/data-file/data-file.ts'
import { type DataKind, openBlocks } from '../../../adapters/platform/data-file/data-kinds.ts'
import { openLandedFolder } from '../../../adapters/platform/data-file/landed-folder.ts'
import { readText } from '../../../daemon/kernel/data/check-values.ts'
import { usualLimits } from '../../../daemon/kernel/data/read-options.ts'
import { errors } from '../../../daemon/roles/ingest/dag-run/errors.ts'
import { get as getRun } from '../../../daemon/roles/ingest/dag-run/get.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import type { metrics } from '../../../daemon/roles/ingest/datapipeline/metrics.ts'
import { get as getEffect } from '../../../daemon/roles/ingest/effect/get.ts'
import type { metrics as metricsOfEffect } from '../../../daemon/roles/ingest/effect/metrics.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { startTestSite, type TestSite, type TestSiteOptions, waitUntil } from '../../support/site/test-site.ts'

export type IngestSite = TestSite & {
  /** The folder of data files of the tenant. */
  readonly files: string
  /** Writes a data file of the tenant of the site. */
  writeFile(name: string, content: string | Uint8Array): void
}

type IngestSettings = Readonly<Record<string, unknown>>

/**
 * `settings`: a function where they are known once the hooks before have run. `more`: sections of the profile besides, such as further
 * roles, variables of the environment, and a listener of the log.
 */
export function setUpIngestSite(
  settings: IngestSettings | (() => IngestSettings) = {},
  { profile = {}, ...more }: Pick<TestSiteOptions, 'profile' | 'onEvent' | 'env'> = {},
): () => IngestSite {
  let site: IngestSite | undefined
  const folder = mkdtempSync(path.join(tmpdir(), 'ingest-'))
  beforeAll(async () => {
    const started = await startTestSite({
      ...more,
      profile: {
        platform: { roles: ['site', 'ingest'] },
        ingest: { port: 0, data_folder: folder, ...(typeof settings === 'function' ? settings() : settings) },
        ...profile,
      },
    })
    mkdirSync(path.join(folder, started.tenant))
    const writeFile: IngestSite['writeFile'] = (name, content) =>
      writeFileSync(path.join(folder, started.tenant, name), content)
    site = { ...started, files: path.join(folder, started.tenant), writeFile }
  })
  afterAll(async () => {
    await site?.end()
    rmSync(folder, { recursive: true, force: true })
  })
  return () => {
    if (!site) throw new Error('the site has not started')
    return site
  }
}

export function createDatabase(file: string, statements: string): void {
  const db = new Database(file)
  db.exec(statements)
  db.close()
}

/** The folder of the datasets of the first run of a pipeline. */
export function runFolder(site: IngestSite, uid: string): string {
  const datasets = path.join(site.folder.data, 'ingest', 'datasets', site.tenant)
  const [of = ''] = readdirSync(datasets).filter((name) => name.startsWith(`${uid}.deploy__1.`))
  return path.join(datasets, of)
}

/** The rows of a landed dataset as texts. */
export async function readLanded(folder: string) {
  return await readRows(openLandedFolder(folder), 'dataset')
}

export async function readParquetFile(file: string) {
  return await readRows(openDataFile(file), 'parquet')
}

async function readRows(file: DataFile, kind: DataKind): Promise<(string | undefined)[][]> {
  const rows: (string | undefined)[][] = []
  const options = { limits: usualLimits, isSelected: () => true }
  for await (const block of await openBlocks(file, { kind }, options, () => undefined))
    for (let row = 0; row < block.rows; row++) rows.push(block.columns.map((column) => readText(column, row)))
  file.close()
  return rows
}

/** Runs one task by a connection; returns the run and the folder of its dataset. */
export async function readByConnection(
  site: IngestSite,
  person: CheckedClient,
  dag_id: string,
  params: Readonly<Record<string, unknown>>,
) {
  const task = { name: 'read', operator: 'ingest_database', params, retries: 0 }
  const content = JSON.stringify({ format: 1, dag_id, tasks: [task] })
  const { uid } = await person.ok(deploy, { dag_id, content, run_on_deploy: true })
  const { status, fault } = await waitUntilDeployed(person, uid)
  if (status === 'rejected') return { uid, status, fault }
  const { state } = await waitUntilRunOver(person, dag_id, 'deploy__1')
  const { items } = await person.ok(errors, { dag_id, dag_run_id: 'deploy__1' })
  return { uid, status, state, run: runFolder(site, uid), log: items[0]?.log }
}

/** An assembled DAG of one task as the content of a pipeline. */
export function ingestContent(dag_id: string, file: string, more: Readonly<Record<string, unknown>> = {}): string {
  const task = { name: 'read', operator: 'ingest_file', params: { file }, retry_delay_s: 1, ...more }
  return JSON.stringify({ format: 1, dag_id, tasks: [task] })
}

export async function waitUntilDeployed(person: CheckedClient, uid: string) {
  return await waitUntil(async () => {
    const pipeline = await person.ok(get, { uid })
    return pipeline.status !== 'pending_validation' && pipeline
  })
}

export async function waitUntilEffectDeployed(person: CheckedClient, uid: string) {
  return await waitUntil(async () => {
    const effect = await person.ok(getEffect, { uid })
    return effect.status !== 'pending_validation' && effect
  })
}

/** Waits until the run has its metrics. */
export async function waitUntilMeasured(
  person: CheckedClient,
  operation: typeof metrics | typeof metricsOfEffect,
  uid: string,
  dag_run_id: string,
) {
  return await waitUntil(async () =>
    (await person.ok(operation, { uid })).items.find((each) => each.dag_run_id === dag_run_id),
  )
}

export async function waitUntilRunOver(person: CheckedClient, dag_id: string, dag_run_id: string) {
  return await waitUntil(async () => {
    const run = await person.ok(getRun, { dag_id, dag_run_id })
    return (run.state === 'success' || run.state === 'failed') && run
  }, 110_000)
}
