// Columns in another spelling than that of the lens: found by every command, reported, and kept as they are in the results.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { generateHouseholds } from '../support/resolution/generate-households.ts'

const { dir, remove } = createScratchFolder('column-names')
afterAll(remove)
const at = (name: string) => path.join(dir, name)
const { csv } = generateHouseholds(40, 0.2, 3)
const lines = csv.slice(csv.indexOf('\n'))
const read = (name: string) => readFileSync(at(name), 'utf8')
const withoutFirst = (text: string) => text.replaceAll(/^[^,]*,/gm, '')

const lens = ['--lens', 'persons']
const run = (file: string, out: string, ...more: string[]) => [
  ...['resolve', 'run', ...lens, '--data', at(file), '--out', at(out), '--accept-poor'],
  ...more,
]
const remark =
  'spelled.csv has columns of the lens in another spelling: "ID" as id, "First-Name" as first_name, "SURNAME" as surname, "Strêet" as street\n'
const unread = 'spelled.csv: not compared: phone (`platform resolve lens init --data FILE` proposes a lens with them)\n'

beforeAll(() => {
  expect(csv.split('\n', 1)).toEqual(['id,given,surname,street,phone'])
  writeFileSync(at('plain.csv'), `id,first_name,surname,street,phone${lines}`)
  writeFileSync(at('spelled.csv'), `ID,First-Name,SURNAME,Strêet,phone${lines}`)
  writeFileSync(
    at('twice.csv'),
    'id,First name,FIRST_NAME,surname\n1,Ann,Anna,Smith\n2,Bob,Bobby,Smith\n3,Eve,Evie,Hill\n',
  )
})

describe('the columns of a lens in another spelling', () => {
  test('give the result of the same data under its names, and are on stderr and in run.json', async () => {
    expect(await runCommand(run('plain.csv', 'plain'))).toMatchObject({ exit: 0, stderr: '' })
    expect(await runCommand(run('spelled.csv', 'spelled'))).toMatchObject({ exit: 0, stderr: remark })
    expect(withoutFirst(read('spelled/clusters.csv'))).toBe(withoutFirst(read('plain/clusters.csv')))
    expect(read('spelled/entities.csv').replaceAll('spelled.csv/', 'plain.csv/')).toBe(read('plain/entities.csv'))
    const [source] = JSON.parse(read('spelled/run.json')).sources
    expect(source.read_as.columns).toEqual({
      id: 'ID',
      first_name: 'First-Name',
      surname: 'SURNAME',
      street: 'Strêet',
    })
    expect(JSON.parse(read('plain/run.json')).sources[0].read_as).not.toHaveProperty('columns')
    expect(read('spelled/records.csv').split('\n', 1)).toEqual(['source,id,cluster,ID,First-Name,SURNAME,Strêet,phone'])
  })

  test('are found again by a report and an explanation of the run', async () => {
    expect(await runCommand(['resolve', 'report', at('spelled')])).toMatchObject({ exit: 0 })
    expect(read('spelled/report.html')).toContain('First-Name')
    const [, first = '', second = ''] = withoutFirst(read('spelled/clusters.csv')).split('\n')
    const ids = [first, second].map((line) => line.split(',')[0] ?? '')
    const explained = await runCommand(['resolve', 'explain', '--out', at('spelled'), ...ids])
    expect(explained, explained.stderr).toMatchObject({ exit: 0 })
  })

  test('are found by match, label, lens train and lens charts', async () => {
    const registry = ['--registry', at('entities.jsonl')]
    await runJsonCommand(run('plain.csv', 'kept', ...registry, '--keep-records', '--source', 'people'))
    const match = ['resolve', 'match', ...lens, ...registry, '--data', at('spelled.csv'), '--source', 'people']
    const matched = await runJsonCommand(match)
    expect(new Set(matched.items.map(({ outcome }: { outcome: string }) => outcome))).toEqual(new Set(['unchanged']))
    for (const words of [
      ['lens', 'train'],
      ['lens', 'charts'],
      ['label', '--pairs', '5', '--out', at('sheet.csv')],
    ]) {
      const ended = await runCommand(['resolve', ...words, ...lens, '--data', at('spelled.csv')])
      expect(ended, words.join(' ')).toMatchObject({
        exit: 0,
        stderr: words.includes('charts') ? remark : `${remark}${unread}`,
      })
    }
  })

  test('give the same made ids', async () => {
    for (const name of ['plain', 'spelled']) {
      writeFileSync(at(`made-${name}.csv`), read(`${name}.csv`).replaceAll(/^[^,]*,/gm, ''))
      await runJsonCommand(run(`made-${name}.csv`, `made ${name}`, '--make-ids'))
    }
    expect(withoutFirst(read('made spelled/clusters.csv'))).toBe(withoutFirst(read('made plain/clusters.csv')))
  })

  test('are those of JSON lines whose later lines name them', async () => {
    const people = [{ Id: '1' }, { Id: '2', Surname: 'Smith' }, { Id: '3', Surname: 'Smith', 'First name': 'Ann' }]
    writeFileSync(at('late.jsonl'), people.map((each) => `${JSON.stringify(each)}\n`).join(''))
    const { sources } = await runJsonCommand(run('late.jsonl', 'late'))
    expect(sources[0].read_as.columns).toEqual({ id: 'Id', first_name: 'First name', surname: 'Surname' })
  })
})

describe('columns that no field of the lens reads', () => {
  const more = Array.from({ length: 12 }, (_, at) => `extra ${at}`)
  /** `first_name` stands behind `given_name` in the lens. */
  const header = [
    'Kundennummer',
    'given_name',
    'first_name',
    'Nachname',
    `Geburts\u001bdatum${'m'.repeat(80)}`,
    ...more,
  ]

  beforeAll(() => {
    const rows = ['1', '2', '3'].map((id) => [id, 'Ann', 'Anna', 'Smith', ...header.slice(4).map(() => 'x')].join(','))
    writeFileSync(at('unread.csv'), [header.join(','), ...rows, ''].join('\n'))
  })

  test('are in the summary and in run.json, the first ten of each file, without that of the ids', async () => {
    const words = ['--id-field', 'kundennummer', '--columns', 'surname=Nachname']
    const ended = await runCommand(run('unread.csv', 'unread', ...words))
    expect(ended).toMatchObject({ exit: 0 })
    const long = `Geburts\\u001bdatum${'m'.repeat(46)}…`
    expect(ended.stdout).toContain(`\nnot compared  first_name, ${long}, extra 0, extra 1, `)
    expect(ended.stdout).toContain(
      'extra 7 and 4 more (`platform resolve lens init --data FILE` proposes a lens with them)\n',
    )
    const [source] = JSON.parse(read('unread/run.json')).sources
    expect(source.read_as.not_compared).toMatchObject({ count: 14 })
    expect(source.read_as.not_compared.first).toHaveLength(10)
  })

  test('are named by file where several are read, and not at all where there is none', async () => {
    writeFileSync(at('all.csv'), 'id,given_name,surname\n7,Ann,Smith\n8,Bob,Hill\n')
    const two = await runCommand([...run('plain.csv', 'two'), '--data', at('all.csv')])
    expect(two.stdout).toMatch(/\nnot compared +plain\.csv: phone \(/)
    const none = await runCommand(run('all.csv', 'none'))
    expect(none.stdout).not.toContain('not compared')
    expect(JSON.parse(read('none/run.json')).sources[0].read_as).not.toHaveProperty('not_compared')
  })
})

describe('two columns for one field', () => {
  test('are an error that names both and the remedy, which works', async () => {
    const ended = await runCommand(run('twice.csv', 'refused'))
    expect(ended).toMatchObject({ exit: 1, stdout: '' })
    expect(ended.stderr).toContain('twice.csv has 2 columns that could be given_name: "First name", "FIRST_NAME"')
    expect(ended.stderr).toContain('--columns "given_name=First name"')
    const named = await runCommand(run('twice.csv', 'named', '--columns', 'given_name=First name'))
    expect(named).toMatchObject({ exit: 0, stderr: '' })
    expect(withoutFirst(read('named/entities.csv'))).toContain(',Ann,Smith')
  })

  test('as ids too', async () => {
    writeFileSync(at('ids.csv'), 'Id,ID,surname\n1,2,Smith\n2,1,Smith\n')
    const ended = await runCommand(run('ids.csv', 'no ids'))
    expect(ended).toMatchObject({ exit: 1 })
    expect(ended.stderr).toContain('ids.csv has 2 columns that could be that of the ids: "Id", "ID"')
    expect(await runCommand(run('ids.csv', 'ids', '--id-field', 'ID'))).toMatchObject({ exit: 0, stderr: '' })
  })
})

test('an assigned column and the id column are named in any spelling, and a report reads them so', async () => {
  writeFileSync(at('other.csv'), 'Record No.,Rufname,surname,given_name\n1,Ann,Smith,x\n2,Ann,Smith,y\n3,Bob,Hill,z\n')
  const words = run('other.csv', 'other', '--id-field', 'record_no', '--columns', 'given_name=RUFNAME')
  expect(await runCommand(words)).toMatchObject({
    exit: 0,
    stderr: 'other.csv has columns of the lens in another spelling: "Record No." as record_no, "Rufname" as RUFNAME\n',
  })
  expect(read('other/entities.csv')).toContain(',Bob,Hill')
  const explained = await runCommand(['resolve', 'explain', '--out', at('other'), '1', '3'])
  expect(explained.stdout).toContain('Bob')
})

test('an id in another spelling is held to the limits of ids', async () => {
  writeFileSync(at('long.csv'), `ID,surname\n1,Smith\n${'x'.repeat(5_000)},Smith\n1,Hill\n`)
  const ended = await runCommand(run('long.csv', 'long'))
  expect(ended).toMatchObject({ exit: 1 })
  expect(ended.stderr).toMatch(
    /long\.csv cannot be read: 2 rows are bad\n {2}line 3: field 1, "ID", has more than 4096 bytes/,
  )
  expect(ended.stderr).toContain('line 4: the id "1" is that of line 2 too')
})
