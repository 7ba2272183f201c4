// Facts of the landed datasets of a site that hold whenever its processes died: each is whole, has no row twice, and no draft is left.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { dataset_manifest_name, landedDataset } from '../../../daemon/kernel/data/landed-dataset.ts'

export type JudgedDataset = { readonly run: string; readonly task: string; readonly ids: readonly string[] }

/** Every dataset that a reader sees, with the values of its column `id`. Throws for one that is not whole. */
export async function judgeDatasets(site: string): Promise<JudgedDataset[]> {
  const datasets = path.join(site, 'data/ingest/datasets')
  assert.deepEqual(readdirSync(path.join(datasets, '.drafts')), [], 'no draft is left')
  const own = path.join(datasets, 'acme')
  const judged: JudgedDataset[] = []
  for (const run of existsSync(own) ? readdirSync(own) : [])
    for (const task of readdirSync(path.join(own, run)))
      judged.push({ run, task, ids: await readWholeDataset(path.join(own, run, task)) })
  return judged
}

async function readWholeDataset(folder: string): Promise<string[]> {
  const manifest = landedDataset.parse(JSON.parse(readFileSync(path.join(folder, dataset_manifest_name), 'utf8')))
  const { files, origins = [] } = manifest
  const names = [dataset_manifest_name, ...[...files, ...origins].map(({ name }) => name)]
  assert.deepEqual(
    readdirSync(folder).toSorted(),
    names.toSorted(),
    'the files of a dataset are those of its description',
  )
  const ids: string[] = []
  for (const { name, sha256 } of manifest.files) {
    const bytes = readFileSync(path.join(folder, name))
    assert.equal(createHash('sha256').update(bytes).digest('hex'), sha256)
    const file = new Uint8Array(bytes).buffer
    for (const row of await parquetReadObjects({ file, columns: ['id'], compressors })) ids.push(String(row.id))
  }
  assert.equal(ids.length, manifest.rows)
  assert.equal(new Set(ids).size, ids.length, `no row of ${folder} is there twice`)
  return ids
}
