// Files whose ids have columns of different names: each is named for its file, in every command that reads records.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { generateHouseholds } from '../support/resolution/generate-households.ts'

const { dir, remove } = createScratchFolder('id-columns')
afterAll(remove)
const at = (name: string) => path.join(dir, name)
const read = (name: string) => readFileSync(at(name), 'utf8')

const rows = generateHouseholds(60, 0.2, 3).csv.trimEnd().split('\n').slice(1)
const half = Math.floor(rows.length / 2)
const table = (header: string, lines: readonly string[]) => [header, ...lines, ''].join('\n')
const columns = 'first_name,surname,street,phone'

beforeAll(() => {
  for (const name of ['crm', 'web']) {
    const lines = name === 'crm' ? rows.slice(0, half) : rows.slice(half)
    writeFileSync(at(`same-${name}.csv`), table(`id,${columns}`, lines))
    const header = name === 'crm' ? `pid,${columns},id` : `Staff No,${columns}`
    writeFileSync(at(`${name}.csv`), table(header, name === 'crm' ? lines.map((line) => `${line},branch`) : lines))
  }
})

const two = ['--lens', 'persons', '--data', at('crm.csv'), at('web.csv')]
const ids = ['--id-field', 'crm.csv=pid', `${at('web.csv')}=staff_no`]
const named = ['--source', 'same-crm.csv=crm.csv', 'same-web.csv=web.csv']
const run = (out: string, ...more: string[]) => ['resolve', 'run', ...more, '--out', at(out), '--accept-poor']

describe('an id column of each file', () => {
  test('gives the result of the same files with one name, where another column has the name of the lens too', async () => {
    const same = ['--lens', 'persons', '--data', at('same-crm.csv'), at('same-web.csv')]
    await runJsonCommand(run('same', ...same))
    await runJsonCommand(run('two', ...two, ...ids, ...named))
    for (const name of ['clusters.csv', 'pairs.csv', 'entities.csv'])
      expect(read(`two/${name}`), name).toBe(read(`same/${name}`))
    expect(JSON.parse(read('two/inputs.json')).data.map(({ id_field }: { id_field: string }) => id_field)).toEqual([
      'pid',
      'staff_no',
    ])
    const [header = '', first = ''] = read('two/records.csv').split('\n')
    expect(header).toBe(`source,id,cluster,pid,${columns},id_,Staff No`)
    expect(first).toMatch(/,branch,$/)
  })

  test('is known when a run is opened again', async () => {
    expect(await runCommand(['resolve', 'report', at('two')])).toMatchObject({ exit: 0 })
    const [, first = '', second = ''] = read('two/clusters.csv').split('\n')
    const records = [first, second].map((line) => line.split(',').slice(0, 2).join(':'))
    const explained = await runCommand(['resolve', 'explain', ...records, '--out', at('two')])
    expect(explained, explained.stderr).toMatchObject({ exit: 0 })
  })

  test('is taken by match, label, lens train and lens charts', async () => {
    const registry = ['--registry', at('entities.jsonl')]
    await runJsonCommand(run('kept', ...two, ...ids, ...registry, '--keep-records'))
    const { items } = await runJsonCommand(['resolve', 'match', ...two, ...ids, ...registry])
    expect(new Set(items.map(({ outcome }: { outcome: string }) => outcome))).toEqual(new Set(['unchanged']))
    for (const words of [
      ['label', '--pairs', '5', '--out', at('sheet.csv')],
      ['lens', 'train', '--out', at('trained.yaml')],
      ['lens', 'charts'],
    ])
      expect(await runCommand(['resolve', ...words, ...two, ...ids]), words.join(' ')).toMatchObject({ exit: 0 })
    expect(read('trained.yaml')).not.toContain('id_field')
  })

  test('stands beside that of all other files, and a file may be named by its source', async () => {
    const words = ['--id-field', 'Staff No', 'shop=pid', '--source', 'shop=crm.csv']
    const summary = await runJsonCommand(run('beside', ...two, ...words))
    expect(summary.records).toBe(rows.length)
  })

  test('may have the sign of the assignment in its name', async () => {
    writeFileSync(at('sign.csv'), table('a=b,surname', ['1,Smith', '2,Smith', '3,Hill']))
    const words = ['--lens', 'persons', '--data', at('sign.csv'), '--id-field', 'sign.csv=a=b']
    expect(await runJsonCommand(run('sign', ...words))).toMatchObject({ records: 3 })
  })
})

describe('lens init', () => {
  const init = (...files: string[]) => ['resolve', 'lens', 'init', '--data', ...files.map(at)]
  /** Records of which the third has the id of the first, and the last one no id. */
  const numbered = (header: string, prefix: string) => {
    const ids = (row: number) => (row === 2 ? `${prefix}0` : row === 59 ? '' : `${prefix}${row}`)
    const lines = rows.slice(0, 60).map((line, row) => [ids(row), ...line.split(',').slice(1)].join(','))
    return table(`${header},${columns}`, lines)
  }

  beforeAll(() => {
    writeFileSync(at('repeats.csv'), numbered('id', 'A'))
    writeFileSync(at('endings.csv'), numbered('customer_id', 'B'))
    const [head = '', ...lines] = numbered('id', 'A').trimEnd().split('\n')
    const numbers = lines.map((line, row) => `${row + 1},${line}`)
    writeFileSync(at('further.csv'), table(`record_id,${head}`, numbers))
  })

  test.each([
    ['repeats.csv', 'id', 'A0'],
    ['endings.csv', 'customer_id', 'B0'],
  ])('takes the ids of %s for ids, and names those that are not', async (file, column, id) => {
    const ended = await runCommand([...init(file), '--json'])
    expect(ended).toMatchObject({
      exit: 0,
      stderr:
        `${file}: ${column} names the records, but 2 records repeat or lack an id: ` +
        `record 3: the ${column} "${id}" is that of record 1 too; record 60: no ${column}\n`,
    })
    const { id_field, yaml } = JSON.parse(ended.stdout)
    expect(id_field).toBe(column)
    expect(yaml).toContain(`id_field: "${column}"   # but 2 records repeat or lack an id\n`)
    expect(yaml).not.toContain(`name: ${column}`)
  })

  test('leaves out a second column of ids', async () => {
    const { yaml } = await runJsonCommand(init('further.csv'))
    expect(yaml).toContain('id_field: "record_id"\n')
    expect(yaml).toContain('"id": names the records too')
    expect(yaml).not.toContain('name: id')
  })

  test('names those of each file where their names differ, as a run takes them', async () => {
    const { id_field, sources, yaml } = await runJsonCommand(init('repeats.csv', 'endings.csv'))
    expect(id_field).toBeUndefined()
    expect(sources.map((source: { id_field: string }) => source.id_field)).toEqual(['id', 'customer_id'])
    const words = /--id-field "(.+)" "(.+)"\n/.exec(yaml)?.slice(1) ?? []
    expect(words).toEqual(['repeats.csv=id', 'endings.csv=customer_id'])
    writeFileSync(at('both.yaml'), yaml)
    const data = ['--lens', at('both.yaml'), '--data', at('repeats.csv'), at('endings.csv')]
    const summary = await runJsonCommand(run('both', ...data, '--id-field', ...words, '--skip-bad-rows'))
    expect(summary.records).toBe(116)
  })

  test('a run names the lines of both records, and what to do', async () => {
    const ended = await runCommand(run('repeated', '--lens', 'persons', '--data', at('repeats.csv'), '--make-ids'))
    expect(ended).toMatchObject({ exit: 1 })
    expect(ended.stderr).toContain('repeats.csv, line 4: the id "A0" is that of line 2 too\n')
    expect(ended.stderr).toContain('correct the repeated ids, or name another column (--id-field); --skip-bad-rows')
  })
})

describe('a mistake names what is allowed', () => {
  test.each([
    [['people.csv=pid'], 2, `--id-field people.csv=pid names none of the data files\n`, `FILE=COLUMN with a file of`],
    [['pid', 'sid'], 2, '--id-field names two columns for all files: pid and sid', 'write COLUMN for all files'],
    [['crm.csv=pid', 'crm.csv=id'], 2, 'twice', ''],
    [['crm.csv='], 2, 'names no column', ''],
    [['crm.csv=key', 'web.csv=Staff No'], 1, 'crm.csv has no column key; it has pid, ', '--id-field "crm.csv=pid"'],
    [['pid'], 1, 'web.csv has no column pid', '--id-field FILE=COLUMN'],
  ])('%j', async (words, exit, fact, remedy) => {
    const ended = await runCommand(run('refused', ...two, '--id-field', ...words))
    expect(ended).toMatchObject({ exit, stdout: '' })
    expect(ended.stderr).toContain(fact)
    expect(ended.stderr).toContain(remedy)
    if (exit === 2) expect(existsSync(at('refused'))).toBe(false)
  })

  test('a column that a file lacks is not made up by --make-ids', async () => {
    const ended = await runCommand(run('made', ...two, '--id-field', 'crm.csv=key', '--make-ids'))
    expect(ended).toMatchObject({ exit: 1, stderr: expect.stringContaining('crm.csv has no column key') })
  })
})
