// From an entity of a run of files back to its records, and the file and line of each, by `platform resolve origin`.
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { encodeXlsx, sheetOf } from '../support/data/write-xlsx.ts'

const { dir, remove } = createScratchFolder('entity-origin')
afterAll(remove)
const at = (name: string) => path.join(dir, name)
const digest = (text: string) => createHash('sha256').update(text).digest('hex')

// Two files with the same people, of which the first one has records over several lines, a bad one and a repeated id.
const names = Array.from({ length: 40 }, (_, n) => `${'ABCDEFGH'[n % 8]}nna${n},B${'aeiou'[n % 5]}rg${n},${10_000 + n}`)
const crm = `id,given_name,surname,postcode,note\n${names.map((name, n) => `c${n},${name},"a\nb"\n${n === 3 ? 'bad\nc0,No,Body,1,x\n' : ''}`).join('')}`
const shop = `id,given_name,surname,postcode\n${names.map((name, n) => `s${n},${name}\n`).join('')}`
/** Line of the record with this number. */
const crmLine = (n: number) => 2 + 2 * n + (n > 3 ? 2 : 0)

const resolveRun = (data: readonly string[], out: string, ...more: string[]) => [
  ...['resolve', 'run', '--lens', 'persons', '--data', ...data.map(at), '--out', at(out), '--accept-poor', ...more],
]
const originWords = (entity: string, out: string, ...more: string[]) => [
  'resolve',
  'origin',
  entity,
  '--out',
  at(out),
  ...more,
]

/** Cluster and entity of a record of the run. */
function findCluster(out: string, id: string): { readonly cluster: string; readonly entity: string | undefined } {
  const lines = readFileSync(at(`${out}/clusters.csv`), 'utf8').split('\n')
  const [, , cluster = '', entity] = lines.find((line) => line.includes(`,${id},`))?.split(',') ?? []
  return { cluster, entity }
}

beforeAll(async () => {
  writeFileSync(at('crm.csv'), crm)
  writeFileSync(at('shop.csv'), shop)
  await runJsonCommand(
    resolveRun(['crm.csv', 'shop.csv'], 'of-files', '--skip-bad-rows', '--registry', at('persons.registry')),
  )
  await runJsonCommand(['ingest', 'land', at('shop.csv'), at('crm.csv'), '--out', at('landed'), '--max-rejects', '1'])
  await runJsonCommand(resolveRun(['landed'], 'of-dataset', '--skip-bad-rows'))
})

describe('the records of an entity', () => {
  test('have the lines that they begin at in their files', async () => {
    for (const n of [0, 3, 4, 39]) {
      const { cluster, entity } = findCluster('of-files', `c${n}`)
      const traced = await runJsonCommand(originWords(entity ?? '', 'of-files'))
      expect(traced).toEqual({
        ...{ entity, cluster: Number(cluster) },
        records: [
          { source: 'crm.csv', id: `c${n}`, file: at('crm.csv'), sha256: digest(crm), place: crmLine(n), unit: 'line' },
          { source: 'shop.csv', id: `s${n}`, file: at('shop.csv'), sha256: digest(shop), place: n + 2, unit: 'line' },
        ],
      })
      expect(await runJsonCommand(originWords(cluster, 'of-files'))).toEqual(traced)
    }
  })

  test('are followed over a landed dataset to the files that landed', async () => {
    const { cluster } = findCluster('of-dataset', 'c5')
    const { exit, stdout } = await runCommand(originWords(cluster, 'of-dataset'))
    const lines = [
      `cluster ${cluster}: 2 records`,
      '  landed:s5',
      `    row 6 of ${at('landed')}`,
      `      line 7 of shop.csv, SHA-256 ${digest(shop)}`,
      '  landed:c5',
      // The record with the id of another one landed, and is not one of the run.
      `    row 47 of ${at('landed')}`,
      `      line ${crmLine(5)} of crm.csv, SHA-256 ${digest(crm)}`,
    ]
    expect([exit, stdout.trimEnd().split('\n')]).toEqual([0, lines])
  })

  test('are followed over the tasks of a run to its files', async () => {
    mkdirSync(at('data/acme'), { recursive: true })
    writeFileSync(at('data/acme/shop.csv'), shop)
    const perform = async (task: object, inputs: readonly object[]) => {
      const step = { format: 1, tenant_id: 'acme', pipeline: 'pl_1', run: 'run-1', task, inputs }
      const words = ['ingest', 'step', '-', '--folder', at('worker'), '--data-folder', at('data')]
      return (await runJsonCommand(words, { input: JSON.stringify(step) })).dataset
    }
    const read = await perform({ name: 'read', operator: 'ingest_file', params: { file: 'shop.csv' } }, [])
    const where = { column: 'postcode', is: 'at_least', value: 10_002 }
    await perform({ name: 'some', operator: 'filter', params: { where }, after: ['read'] }, [read])
    await runJsonCommand(resolveRun(['worker/datasets/acme/run-1/some'], 'of-run'))
    const { stdout } = await runCommand(originWords(findCluster('of-run', 's7').cluster, 'of-run'))
    const steps = ['  some:s7', '    row 6 of run-1/some', '      row 8 of run-1/read']
    expect(stdout).toContain([...steps, `        line 9 of shop.csv, SHA-256 ${digest(shop)}`].join('\n'))
  })

  test('are in the sheet that was read', async () => {
    const rows = shop.trimEnd().split('\n')
    const sheets = { First: sheetOf([['id'], ['1']]), People: sheetOf(rows.map((row) => row.split(','))) }
    writeFileSync(at('book.xlsx'), encodeXlsx({ sheets }))
    await runJsonCommand(resolveRun(['book.xlsx'], 'of-book', '--sheet', 'People'))
    const { cluster } = findCluster('of-book', 's7')
    const { stdout } = await runCommand(originWords(cluster, 'of-book'))
    expect(stdout).toContain(`  book.xlsx:s7\n    row 9 of "People" of ${at('book.xlsx')}, SHA-256 `)
  })

  test('are found where their ids were made', async () => {
    writeFileSync(at('nameless.csv'), shop.replaceAll(/^[^,]*,/gm, ''))
    await runJsonCommand(resolveRun(['nameless.csv'], 'made', '--make-ids'))
    const lines = readFileSync(at('made/clusters.csv'), 'utf8').trimEnd().split('\n')
    const [, id = '', cluster = ''] = lines.at(-1)?.split(',') ?? []
    const traced = await runJsonCommand(originWords(cluster, 'made'))
    expect(id).toMatch(/^made-/)
    expect(traced.records).toContainEqual(expect.objectContaining({ id, place: 41, unit: 'line' }))
  })
})

describe('what is not as it was', () => {
  test('a file that was moved is named', async () => {
    writeFileSync(at('moving.csv'), shop)
    await runJsonCommand(resolveRun(['moving.csv'], 'moved'))
    renameSync(at('moving.csv'), at('elsewhere.csv'))
    const refused = await runCommand(originWords('1', 'moved'))
    expect(refused).toMatchObject({ exit: 1, stderr: expect.stringContaining('is not there') })
    const traced = await runJsonCommand(originWords('1', 'moved', '--data', at('elsewhere.csv')))
    const first = { source: 'moving.csv', id: 's0', file: at('elsewhere.csv'), place: 2 }
    expect(traced.records).toContainEqual(expect.objectContaining(first))
  })

  test('a file that was changed is refused', async () => {
    writeFileSync(at('growing.csv'), shop)
    await runJsonCommand(resolveRun(['growing.csv'], 'changed'))
    appendFileSync(at('growing.csv'), 's99,New,Body,1\n')
    const refused = await runCommand(originWords('1', 'changed'))
    expect(refused).toMatchObject({ exit: 5, stdout: '', stderr: expect.stringContaining('was changed after the run') })
  })

  test.each([
    ['an entity that is not there', ['999', 'of-files'], 'the run has no entity and no cluster "999"'],
    ['an empty name, which every record without a registry has as its entity', ['', 'of-dataset'], 'no cluster ""'],
    ['a folder without a run', ['1', 'landed'], 'no run was completed there'],
  ])('%s is refused', async (_, [entity = '', out = ''], message) => {
    expect(existsSync(at(out))).toBe(true)
    expect(await runCommand(originWords(entity, out))).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining(message),
    })
  })
})
