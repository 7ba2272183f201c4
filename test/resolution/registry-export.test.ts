// A registry file is exported in the columns of the service, whole and in every format.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readDataFile } from '../../daemon/offline/resolve/data-file.ts'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { generatePeople } from '../support/resolution/generate-people.ts'

const { dir, remove } = createScratchFolder('registry-export')
const at = (name: string) => path.join(dir, name)
const registry = at('entities.jsonl')

beforeAll(async () => {
  writeFileSync(at('people.csv'), generatePeople(60, 5).csv)
  writeFileSync(at('decided.csv'), 'id_l,id_r,decision\nr0,r1,reject\n')
  const data = ['--data', at('people.csv'), '--decisions', at('decided.csv'), '--accept-poor']
  const kept = ['--registry', registry, '--keep-records', '--out', at('run')]
  await runJsonCommand(['resolve', 'run', '--lens', 'persons', ...data, ...kept])
})
afterAll(remove)

const words = (kind: string, out: string, ...more: string[]) => [
  'resolve',
  'export',
  kind,
  '--registry',
  registry,
  '--lens',
  'persons',
  '--out',
  at(out),
  ...more,
]

const readLines = (name: string) => readFileSync(at(name), 'utf8').trimEnd().split('\n')

test('clusters are those of the run, in every format', async () => {
  const expected = readLines('run/clusters.csv').map((line) => line.split(','))
  await runJsonCommand(words('clusters', 'clusters.csv'))
  const lines = readLines('clusters.csv')
  expect(lines[0]).toBe('source,id,entity')
  expect(lines.slice(1).sort()).toEqual(
    expected
      .slice(1)
      .map(([source, id, , entity]) => [source, id, entity].join(','))
      .sort(),
  )
  for (const format of ['jsonl', 'parquet']) {
    const answer = await runJsonCommand(words('clusters', `clusters.${format}`, '--format', format))
    expect(answer.rows).toBe(lines.length - 1)
    expect((await readDataFile(at(`clusters.${format}`), () => true)).rows).toBe(lines.length - 1)
  }
})

test('entities have the columns of the service, and decisions can be given to a run', async () => {
  await runJsonCommand(words('entities', 'entities.csv'))
  const [head = '', ...entities] = readLines('entities.csv')
  expect(head).toBe(
    'entity,state,size,entity_type,lens,lens_version,run_id,merged_from,split_from,merged_into,created_at,updated_at',
  )
  const sizes = entities.map((line) => Number(line.split(',')[2]))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(readLines('run/clusters.csv').length - 1)
  await runJsonCommand(words('decisions', 'decisions.csv'))
  expect(readLines('decisions.csv')).toEqual([
    'source_l,id_l,source_r,id_r,decision,decided_by,by,at,reason,match_id',
    'people.csv,r0,people.csv,r1,reject,human,,,,',
  ])
  const again = ['resolve', 'run', '--lens', 'persons', '--data', at('people.csv'), '--decisions', at('decisions.csv')]
  const { decisions } = await runJsonCommand([...again, '--accept-poor', '--out', at('again')])
  expect(decisions.counted).toBe(1)
})

test.each([
  ['matches', words('matches', 'm.csv'), 2, 'keeps no scored pairs'],
  [
    'a registry that is not there',
    [...words('clusters', 'm.csv'), '--registry', at('none.jsonl')],
    1,
    'does not exist',
  ],
  ['another lens', [...words('clusters', 'm.csv'), '--lens', 'products'], 3, 'contains entities of the lens'],
])('%s: refused, and no file is left', async (_, refused, exit, message) => {
  expect(await runCommand(refused)).toMatchObject({ exit, stderr: expect.stringContaining(message) })
  expect(existsSync(at('m.csv'))).toBe(false)
})
