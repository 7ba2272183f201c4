// PDF documents: their text and their tables land, by a command and by a task of a pipeline.
// test/support/data/pdf/report.pdf was written by ReportLab 4.
import { copyFileSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readLanded } from '../roles/ingest/ingest-site.ts'
import { createScratchFolder, runJsonCommand } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('pdf')
afterAll(remove)
const at = (name: string) => path.join(dir, name)
copyFileSync(path.join(import.meta.dirname, '../support/data/pdf/report.pdf'), at('report.pdf'))

test('the lines of a document land, and lead back to their number', async () => {
  const dataset = await runJsonCommand(['ingest', 'land', at('report.pdf'), '--out', at('text')])
  expect(dataset).toMatchObject({ rows: 27, inputs: [{ read_as: { format: 'pdf' }, rejects: 0 }] })
  const types = dataset.columns.map(({ name, type }: { name: string; type: string }) => `${name} ${type}`)
  expect(types.join(', ')).toBe(
    'page int64, block int64, line int64, text text, x double, y double, width double, size double',
  )
  const { rows } = await runJsonCommand(['ingest', 'origin', at('text'), '--where', 'text=No table here.'])
  expect(rows).toMatchObject([{ inputs: [{ name: 'report.pdf', unit: 'record', place: 27 }] }])
})

test('the tables of a document land by a task', async () => {
  mkdirSync(at('data/tenant-a'), { recursive: true })
  copyFileSync(at('report.pdf'), at('data/tenant-a/report.pdf'))
  const task = {
    name: 'read',
    operator: 'ingest_file',
    params: { file: 'report.pdf', read_as: { format: 'pdf-tables' } },
  }
  const step = { format: 1, tenant_id: 'tenant-a', pipeline: 'pl_1', run: 'manual__2026-03-02T12:00:00+00:00', task }
  const words = ['ingest', 'step', '-', '--folder', at('steps'), '--data-folder', at('data')]
  const { dataset } = await runJsonCommand(words, { input: JSON.stringify(step) })
  const rows = await readLanded(at(`steps/datasets/tenant-a/${dataset.dataset}`))
  expect(rows[1]?.slice(0, 7)).toEqual(['1', '1', '2', '0', 'Müller 0', '0.00', '2024-02-01'])
  expect(rows).toHaveLength(21)
})
