// A landing zone of a site whose process dies: one file is carried in, and must be landed once.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import { runs } from '../../../daemon/roles/ingest/datapipeline/runs.ts'
import { carriedReceipt } from '../../../daemon/roles/ingest/landing-zone/zone-files.ts'
import { waitUntil } from '../site/test-site.ts'
import type { KilledSite } from './killed-site.ts'

export class KilledZone {
  readonly #site: KilledSite
  readonly dag_id: string
  #uid = ''

  constructor(site: KilledSite, dag_id: string) {
    this.#site = site
    this.dag_id = dag_id
  }

  #folder(name: string): string {
    return path.join(this.#site.dir, 'data/ingest/landing/acme', this.#uid, name)
  }

  #list(name: string): string[] {
    return readdirSync(this.#folder(name))
  }

  /** Opens the zone, and puts a file of these rows into it. */
  async bring(file: string, rows: number): Promise<void> {
    const { dag_id } = this
    const tasks = [{ name: 'land', operator: 'ingest_landing_zone' }]
    const content = JSON.stringify({ format: 1, dag_id, tasks })
    this.#uid = (await this.#site.olga.ok(deploy, { dag_id, content }, { 'idempotency-key': `zone-${dag_id}` })).uid
    await waitUntil(() => existsSync(this.#folder('receipts')))
    const lines = Array.from({ length: rows }, (_, at) => `${at + 1},entry ${at + 1}`)
    writeFileSync(this.#folder('.draft'), `id,text\n${lines.join('\n')}\n`)
    renameSync(this.#folder('.draft'), path.join(this.#folder('new'), file))
  }

  /** Waits until the file has its receipt, and the zone has nothing in progress; returns the runs. */
  async judge(rows: number): Promise<string[]> {
    await waitUntil(async () => {
      const { landing_zone } = await this.#site.olga.ok(get, { uid: this.#uid })
      return landing_zone && landing_zone.in_progress === undefined && landing_zone.landed === 1
    })
    const receipts = this.#list('receipts').map((name) => {
      return carriedReceipt.parse(JSON.parse(readFileSync(path.join(this.#folder('receipts'), name), 'utf8')))
    })
    assert.deepEqual(
      receipts.map(({ outcome, rows: landed, rejects }) => ({ outcome, landed, rejects })),
      [{ outcome: 'landed', landed: rows, rejects: 0 }],
    )
    for (const [name, count] of [
      ['new', 0],
      ['work', 0],
      ['done', 1],
      ['quarantine', 0],
    ] as const)
      assert.equal(this.#list(name).length, count, name)
    const { items } = await this.#site.olga.ok(runs, { uid: this.#uid })
    assert.deepEqual(
      items.map(({ state }) => state),
      ['success'],
    )
    return items.map(({ dag_run_id }) => dag_run_id)
  }
}
