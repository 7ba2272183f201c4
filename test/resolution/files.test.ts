// Resolves files by the command line alone: the same entities every time, and each fault with its place.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { seededRandom } from '../support/random/seeded-random.ts'
import { generatePeople, syllables } from '../support/resolution/generate-people.ts'

const { dir, remove } = createScratchFolder('resolve')
const at = (name: string) => path.join(dir, name)
const people = generatePeople(700, 7)

beforeAll(() => {
  writeFileSync(at('people.csv'), people.csv)
  writeFileSync(at('truth.csv'), ['id,cluster', ...people.truth.map((each) => each.join(',')), ''].join('\n'))
})
afterAll(remove)

const run = (out: string, ...more: string[]) => [
  'resolve',
  'run',
  '--lens',
  'persons',
  '--data',
  at('people.csv'),
  ...more,
  '--out',
  at(out),
]

describe('people', () => {
  test('are found again with no label, and the measures say how well', async () => {
    const summary = await runJsonCommand(run('first'))
    expect(summary).toMatchObject({ lens: 'persons', route: 'clusters', records: people.truth.length })
    const { pairs, b_cubed, records } = await runJsonCommand([
      'resolve',
      'evaluate',
      at('first/clusters.csv'),
      '--truth',
      at('truth.csv'),
    ])
    expect(records).toBe(people.truth.length)
    expect(pairs.precision).toBeGreaterThan(0.98)
    expect(pairs.recall).toBeGreaterThan(0.95)
    expect(b_cubed.f1).toBeGreaterThan(0.97)
  })

  test('are the same in every file when they are resolved again, for their owner alone', async () => {
    await runJsonCommand(run('second'))
    for (const file of ['clusters.csv', 'pairs.csv', 'run.json']) {
      expect(readFileSync(at(`second/${file}`), 'utf8')).toBe(readFileSync(at(`first/${file}`), 'utf8'))
      expect(statSync(at(`second/${file}`)).mode & 0o777).toBe(0o600)
    }
    expect(statSync(at('second')).mode & 0o777).toBe(0o700)
  })

  test('of columns with other names are found by the mapping', async () => {
    writeFileSync(at('named.csv'), people.csv.replace('postcode', 'plz'))
    const words = [
      'resolve',
      'run',
      '--lens',
      'persons',
      '--data',
      at('named.csv'),
      '--columns',
      'postcode=plz',
      '--out',
      at('named'),
    ]
    expect((await runJsonCommand(words)).fields).toContain('postcode')
    expect(readFileSync(at('named/clusters.csv'), 'utf8').replaceAll('named.csv', 'people.csv')).toBe(
      readFileSync(at('first/clusters.csv'), 'utf8'),
    )
  })

  test('of two files are found across both', async () => {
    const [head = '', ...lines] = people.csv.trimEnd().split('\n')
    const half = Math.floor(lines.length / 2)
    writeFileSync(at('one.csv'), [head, ...lines.slice(0, half)].join('\n'))
    writeFileSync(at('other.csv'), [head, ...lines.slice(half)].join('\n'))
    const words = ['resolve', 'run', '--lens', 'persons', '--data', at('one.csv'), at('other.csv'), '--out', at('both')]
    const summary = await runJsonCommand(words)
    expect(summary.sources).toMatchObject([
      { name: 'one.csv', records: half },
      { name: 'other.csv', records: lines.length - half },
    ])
    expect(
      (await runJsonCommand(['resolve', 'evaluate', at('both/clusters.csv'), '--truth', at('truth.csv')])).pairs.f1,
    ).toBeGreaterThan(0.96)
  })
})

describe('the people of two sites that are shipped', () => {
  const sample = (name: string) => path.join('samples', 'people', `${name}.csv`)

  test('are found, each once at either site', async () => {
    const words = [
      'resolve',
      'run',
      '--lens',
      'persons',
      '--data',
      sample('alpha'),
      sample('bravo'),
      '--out',
      at('shipped'),
    ]
    expect(await runJsonCommand(words)).toMatchObject({ route: 'links', records: 317 })
    const measured = await runJsonCommand([
      'resolve',
      'evaluate',
      at('shipped/clusters.csv'),
      '--truth',
      sample('truth'),
    ])
    expect(measured.pairs.f1).toBeGreaterThan(0.96)
  })
})

describe('two catalogues', () => {
  const by = seededRandom(11)
  const words = Array.from({ length: 300 }, () =>
    Array.from({ length: 2 + by.below(3) }, () => by.pick(syllables)).join(''),
  )
  const titles = Array.from({ length: 120 }, () => Array.from({ length: 6 }, () => by.pick(words)).join(' '))
  const title = (number: number) => titles[number] ?? ''
  const all = Array.from({ length: 120 }, (_, number) => number)

  test('are linked one to one, and what only one of them has stays alone', async () => {
    writeFileSync(
      at('left.csv'),
      ['id,title,year', ...all.slice(0, 100).map((n) => `l${n},${title(n)},${1980 + (n % 30)}`)].join('\n'),
    )
    writeFileSync(
      at('right.csv'),
      ['id,title,year', ...all.slice(20).map((n) => `r${n},"${title(n).toUpperCase()}.",${1980 + (n % 30)}`)].join(
        '\n',
      ),
    )
    writeFileSync(at('links.csv'), ['id_l,id_r', ...all.slice(20, 100).map((n) => `l${n},r${n}`)].join('\n'))
    const words = [
      'resolve',
      'run',
      '--lens',
      'bibliography',
      '--data',
      at('left.csv'),
      at('right.csv'),
      '--out',
      at('linked'),
    ]
    expect(await runJsonCommand(words)).toMatchObject({ route: 'links', records: 200 })
    const { pairs } = await runJsonCommand([
      'resolve',
      'evaluate',
      at('linked/clusters.csv'),
      '--truth',
      at('links.csv'),
    ])
    expect(pairs.recall).toBeGreaterThan(0.95)
    expect(pairs.precision).toBeGreaterThan(0.95)
  })

  test('in one table are linked by who is nearest to whom', async () => {
    const [head, ...left] = readFileSync(at('left.csv'), 'utf8').split('\n')
    const right = readFileSync(at('right.csv'), 'utf8').split('\n').slice(1)
    writeFileSync(at('table.csv'), [head, ...by.shuffled([...left, ...right])].join('\n'))
    const words = ['resolve', 'run', '--lens', 'bibliography', '--data', at('table.csv'), '--out', at('table')]
    expect(await runJsonCommand(words)).toMatchObject({ route: 'links', records: 200 })
    const { pairs } = await runJsonCommand([
      'resolve',
      'evaluate',
      at('table/clusters.csv'),
      '--truth',
      at('links.csv'),
    ])
    expect(pairs.f1).toBeGreaterThan(0.95)
  })
})

describe('reports unusable input, and writes nothing', () => {
  test.each([
    ['a file that is broken', 'id,surname\n1,a\n2\n', /bad\.csv, line 3: 1 fields, and the first line names 2/],
    ['an id that comes twice', 'id,surname\n1,a\n1,b\n', /bad\.csv, line 3: the id "1" is that of line 2 too$/m],
    ['a record without an id', 'id,surname\n,a\n', /bad\.csv, line 2: no id\n {2}fill the ids, or --make-ids;/],
    ['a file without ids', 'key,surname\n1,a\n', /no column id; it has key, surname/],
    [
      'records without ids',
      'id,surname\n1,a\n,b\n,c\n4,d\n,e\n',
      /bad\.csv cannot be read: 3 rows are bad\n {2}line 3: no id\n {2}line 4: no id\n {2}line 6: no id\n/,
    ],
    [
      'a file whose ids have another name',
      'key,surname\n1,a\n',
      /name the column with the ids by --id-field COLUMN, that of one file by --id-field FILE=COLUMN, or --make-ids$/m,
    ],
    ['a file of other things', 'id,colour\n1,red\n', /none of the columns that the lens names/],
  ])('%s', async (_, text, pattern) => {
    writeFileSync(at('bad.csv'), text)
    const ended = await runCommand([
      'resolve',
      'run',
      '--lens',
      'persons',
      '--data',
      at('bad.csv'),
      '--out',
      at('never'),
    ])
    expect(ended).toMatchObject({ exit: 1, stdout: '' })
    expect(ended.stderr).toMatch(pattern)
  })

  test('a lens that needs a missing column', async () => {
    const ended = await runCommand([
      'resolve',
      'run',
      '--lens',
      'products',
      '--data',
      at('people.csv'),
      '--out',
      at('never'),
    ])
    expect(ended.stderr).toMatch(/no column for name \(name, title\); it has id, given_name/)
    expect(ended.exit).toBe(1)
  })

  test('a folder that is in use', async () => {
    const ended = await runCommand(run('first'))
    expect(ended.exit).toBe(3)
    expect(ended.stderr).toContain('is not empty')
  })

  test('a field that the lens does not have', async () => {
    const ended = await runCommand(run('never', '--columns', 'shoe=size'))
    expect(ended.exit).toBe(2)
    expect(ended.stderr).toContain('"shoe=size" does not have the form FIELD=COLUMN')
  })

  test('an id that is named as a field', async () => {
    const ended = await runCommand(run('never', '--columns', 'id=key'))
    expect(ended.exit).toBe(2)
    expect(ended.stderr).toContain('To name the id column: --id-field key')
  })

  test('a truth about other records', async () => {
    writeFileSync(at('foreign.csv'), 'id,cluster\nx,1\n')
    const ended = await runCommand(['resolve', 'evaluate', at('first/clusters.csv'), '--truth', at('foreign.csv')])
    expect(ended.stderr).toContain('names "x", which was not resolved')
    expect(ended.exit).toBe(1)
  })
})

describe('files of other sites', () => {
  const resolveText = async (out: string, text: string, ...more: string[]) => {
    writeFileSync(at('other-site.csv'), text)
    const words = ['resolve', 'run', '--lens', 'persons', '--data', at('other-site.csv'), '--out', at(out), ...more]
    await runJsonCommand(words)
    return readFileSync(at(`${out}/clusters.csv`), 'utf8')
      .trimEnd()
      .split('\n')
      .slice(1)
  }

  test('are read with their separator and their column of ids', async () => {
    const text = 'Kennung;surname;given_name\n7;Smith;Ann\n9;Jones;Bob\n'
    expect(await resolveText('semicolons', text, '--delimiter', ';', '--id-field', 'Kennung')).toEqual([
      'other-site.csv,7,1',
      'other-site.csv,9,2',
    ])
  })

  test('get ids that depend on the content of a record alone', async () => {
    const [head, ...lines] = ['id,surname,given_name', '1,Smith,Ann', ',Jones,Bob', ',Jones,Bob', ',Ueda,Cy']
    const idOf = (line: string) => line.split(',')[1]
    const first = (await resolveText('made', [head, ...lines].join('\n'), '--make-ids')).map(idOf)
    expect(first[0]).toBe('1')
    expect(first[1]).toMatch(/^made-[0-9a-f]{20}$/)
    expect(first[2]).toBe(`${first[1]}-2`)
    const moved = [...lines.slice(3), ',Adams,Di', ...lines.slice(0, 3)]
    const second = (await resolveText('made-again', [head, ...moved].join('\n'), '--make-ids')).map(idOf)
    expect([...second.slice(2), second[0]]).toEqual(first)
    const withoutColumn = [head, ...lines].map((line) => line.replace(/^[^,]*,/, '')).join('\n')
    const third = (await resolveText('made-all', withoutColumn, '--make-ids')).map(idOf)
    expect(third.slice(1)).toEqual(first.slice(1))
  })
})

describe('so few records that none are compared', () => {
  test.each([
    ['none', '', 0],
    ['one', '1,ann,berg\n', 1],
    ['two of nothing in common', '1,ann,berg\n2,bo,lind\n', 2],
  ])('%s', async (name, lines, records) => {
    writeFileSync(at('few.csv'), `id,given_name,surname\n${lines}`)
    const words = ['resolve', 'run', '--lens', 'persons', '--data', at('few.csv'), '--out', at(`few ${name}`)]
    expect(await runJsonCommand(words)).toMatchObject({ records, entities: records, clusters: 0, pairs_compared: 0 })
  })
})

describe('a lens', () => {
  test.each(['persons', 'bibliography', 'products'])('that is shipped is sound: %s', async (name) => {
    expect(await runJsonCommand(['resolve', 'lens', 'validate', name])).toMatchObject({ lens: name })
  })

  test('reports each fault with its place', async () => {
    const text =
      'lens: Bad Name\nversion: 1\nentity_type: x\nfields: [{ name: a, type: colour }, { name: a, type: date }]\nswapped: [a, b]\nsurprise: 1\n'
    writeFileSync(at('bad.yaml'), text)
    const { exit, stderr } = await runCommand(['resolve', 'lens', 'validate', at('bad.yaml')])
    expect(exit).toBe(1)
    for (const pattern of ['lens: must start with a lower-case letter', 'version:', 'fields.0.type:', 'surprise'])
      expect(stderr).toContain(pattern)
  })

  test('reports an unknown name with the known ones', async () => {
    const { exit, stderr } = await runCommand(['resolve', 'lens', 'validate', 'nope'])
    expect(exit).toBe(1)
    expect(stderr).toContain('bibliography, persons, products')
  })
})
