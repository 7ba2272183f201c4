// Data files by reference: the tenant's own and no other's, by no link and no way out, whatever a request calls them.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { ended, peopleOf, personLens, sharedResolution } from './resolution-world.ts'

const folder = fs.mkdtempSync(path.join(tmpdir(), 'data-files-'))
const world = sharedResolution({ data_folder: path.join(folder, 'data') })

function csv(people: ReturnType<typeof peopleOf>): string {
  return ['id,given_name,surname,date_of_birth', ...people.map((each) => Object.values(each).join(','))].join('\n')
}

beforeAll(async () => {
  const own = path.join(folder, 'data/tenant-a')
  fs.mkdirSync(path.join(own, 'deep'), { recursive: true })
  fs.mkdirSync(path.join(folder, 'data/tenant-b'))
  for (const at of [
    'data/tenant-a/east.csv',
    'data/tenant-a/deep/west.csv',
    'data/tenant-b/theirs.csv',
    'outside.csv',
  ]) {
    fs.writeFileSync(path.join(folder, at), csv(at.includes('west') ? peopleOf(30, 90) : peopleOf(0, 60)))
  }
  fs.symlinkSync(path.join(folder, 'outside.csv'), path.join(own, 'link.csv'))
  fs.symlinkSync(folder, path.join(own, 'linked'))
  fs.mkdirSync(path.join(own, 'folder.csv'))
  execFileSync('mkfifo', [path.join(own, 'pipe.csv')])
  fs.writeFileSync(path.join(own, 'notes.txt'), 'id\n1\n')
  fs.writeFileSync(path.join(own, 'broken.csv'), 'id,given_name,surname\n1,"a')
  await (await world().as()).ok(create, { body: personLens() })
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

const referring = (file: string) => ({ lens_id: 'people', node_data: { east: { file } } })

test('a run reads files that lie in the tenant’s folder', async () => {
  const ann = await world().as()
  const node_data = { east: { file: 'east.csv' }, west: { file: 'deep/west.csv' } }
  const run = await ended(ann, (await ann.ok(start, { lens_id: 'people', node_data })).run_id)
  expect(run).toMatchObject({ state: 'completed', counts: { records: 120, clusters: 30 } })
  expect(run.sources).toMatchObject([
    { file: 'east.csv', records: 60 },
    { file: 'deep/west.csv', records: 60 },
  ])
})

test.each([
  '../../outside.csv',
  '../tenant-b/theirs.csv',
  '/etc/passwd',
  'deep/../east.csv',
  './east.csv',
  'deep//west.csv',
  'deep/',
  '.hidden.csv',
  'east.csv\0',
  '..%2foutside.csv',
  'linked\\outside.csv',
])('%j is no name of a data file', async (file) => {
  const ann = await world().as()
  expect((await ann.ask(start, referring(file))).problem?.errors[0]?.path).toMatch(/^node_data/)
})

test.each(['theirs.csv', 'link.csv', 'linked/outside.csv', 'folder.csv', 'pipe.csv', 'nobody.csv', 'deep'])(
  '%s is not there',
  async (file) => {
    const ann = await world().as()
    const { status, problem } = await ann.ask(start, referring(file))
    expect(status).toBe(422)
    expect(problem?.errors).toEqual([{ path: 'node_data.east.file', message: 'there is no such data file' }])
  },
)

test('a tenant whose name is a way has no folder', async () => {
  for (const tenant of ['..', '.', 'tenant-a/deep']) {
    const mallory = await world().as({ subject: 'mallory', tenant })
    await mallory.ok(create, { body: personLens() })
    for (const file of ['outside.csv', 'west.csv', 'tenant-a/east.csv']) {
      expect((await mallory.ask(start, referring(file))).status).toBe(422)
    }
  }
})

test.each([
  ['notes.txt', /must be one of .*\.csv/],
  ['broken.csv', /east, line 2: the file ends within quotation marks/],
])('%s fails the run, and says why', async (file, reason) => {
  const ann = await world().as()
  const run = await ended(ann, (await ann.ok(start, referring(file))).run_id)
  expect(run).toMatchObject({ state: 'failed', failure: { code: 'invalid', reason: expect.stringMatching(reason) } })
  expect(JSON.stringify(run)).not.toContain(folder)
})
