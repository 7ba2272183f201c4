// A site with pipelines, and the folder of data files of its tenant.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { get as getRun } from '../../../daemon/roles/ingest/dag-run/get.ts'
import { get } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { startTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'

export type IngestSite = TestSite & {
  /** Writes a data file of the tenant of the site. */
  writeFile(name: string, content: string): void
}

export function setUpIngestSite(): () => IngestSite {
  let site: IngestSite | undefined
  const folder = mkdtempSync(path.join(tmpdir(), 'ingest-'))
  beforeAll(async () => {
    const started = await startTestSite({
      profile: { platform: { roles: ['site', 'ingest'] }, ingest: { port: 0, data_folder: folder } },
    })
    mkdirSync(path.join(folder, started.tenant))
    const writeFile = (name: string, content: string) => writeFileSync(path.join(folder, started.tenant, name), content)
    site = { ...started, writeFile }
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

export async function waitUntilRunOver(person: CheckedClient, dag_id: string, dag_run_id: string) {
  return await waitUntil(async () => {
    const run = await person.ok(getRun, { dag_id, dag_run_id })
    return (run.state === 'success' || run.state === 'failed') && run
  })
}
