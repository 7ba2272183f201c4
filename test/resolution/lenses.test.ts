// Lenses by the command line: proposed from data, checked with places of faults, trained once, drawn, and imported.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { repositoryRoot } from '../support/repository/source-tree.ts'
import { generatePeople } from '../support/resolution/generate-people.ts'

const { dir, remove } = createScratchFolder('lenses')
const at = (name: string) => path.join(dir, name)
const people = generatePeople(400, 5)

beforeAll(() => {
  writeFileSync(at('people.csv'), people.csv)
  writeFileSync(at('truth.csv'), ['id,cluster', ...people.truth.map((each) => each.join(',')), ''].join('\n'))
})
afterAll(remove)

const runLens = (lens: string, out: string, ...data: string[]) =>
  runJsonCommand([
    'resolve',
    'run',
    '--lens',
    lens,
    '--data',
    ...(data.length > 0 ? data : [at('people.csv')]),
    '--out',
    at(out),
  ])
const readClusters = (out: string) => readFileSync(at(`${out}/clusters.csv`), 'utf8')
const computeF1 = async (out: string) =>
  (await runJsonCommand(['resolve', 'evaluate', at(`${out}/clusters.csv`), '--truth', at('truth.csv')])).pairs.f1

function writeLens(name: string, lens: object): string {
  writeFileSync(at(name), JSON.stringify({ lens: 'own', version: '1.0.0', entity_type: 'person', ...lens }))
  return at(name)
}

test('reports a fault with its line and the word that was meant', async () => {
  const text = [
    'lens: own',
    'version: 1.0.0',
    'entity_type: person',
    'fields:',
    '  - name: surname',
    '    type: name',
    '    comparator: jaro-winkler',
    '  - { name: born, type: date, comparator: date, levels: [1y, 1d] }',
    '  - { name: city, type: place, comparater: exact, normalisers: [lowercase] }',
    'blocking:',
    '  - [born:yaer]',
    'clustering: average',
  ]
  writeFileSync(at('wrong.yaml'), text.join('\n'))
  const { exit, stderr } = await runCommand(['resolve', 'lens', 'validate', at('wrong.yaml')])
  expect(exit).toBe(1)
  for (const pattern of [
    'line 7, fields.0.comparator: there is no comparator "jaro-winkler"; did you mean jaro_winkler?',
    'line 8, fields.1.levels.1: is not worse than an earlier level',
    'line 9, fields.2.comparater: unknown field; did you mean "comparator"?',
    'line 9, fields.2.normalisers.0: there is no normaliser "lowercase"; did you mean lower?',
    'line 11, blocking.0.0: there is no view "yaer"; did you mean year?',
    'line 12, clustering: there is no clustering "average"; did you mean average_link?',
  ])
    expect(stderr).toContain(pattern)
})

test.each([
  ['a field that no rule can name', { fields: [{ name: 'a', type: 'name' }], blocking: ['b'] }, 'did you mean a?'],
  [
    'weights for other levels',
    { fields: [{ name: 'a', type: 'category', weights: [1, 2, 3] }] },
    'has 3 numbers for 2 levels; set one for each level: equal; different',
  ],
  [
    'weights for some fields',
    {
      fields: [
        { name: 'a', type: 'year' },
        { name: 'b', type: 'category', weights: [1, -1] },
      ],
    },
    'has no weights',
  ],
  [
    'levels of no comparator',
    { fields: [{ name: 'a', type: 'name', levels: [0.9] }] },
    'need a comparator; set `comparator`',
  ],
])('%s are a fault', async (_, lens, pattern) => {
  const { exit, stderr } = await runCommand(['resolve', 'lens', 'validate', writeLens('fault.yaml', lens)])
  expect(exit).toBe(1)
  expect(stderr).toContain(pattern)
})

describe('a proposal', () => {
  test('is a lens that finds people in the data it was made from', async () => {
    const profile = await runJsonCommand([
      'resolve',
      'lens',
      'init',
      '--data',
      at('people.csv'),
      '--out',
      at('proposed.yaml'),
    ])
    expect(profile).toMatchObject({ id_field: 'id', sources: [{ isWhole: true, records: people.truth.length }] })
    const types = profile.sources[0].columns.map(({ column, type }: { column: string; type: string }) => [column, type])
    expect(types).toContainEqual(['date_of_birth', 'date'])
    expect(types).toContainEqual(['email', 'email'])
    await runLens(at('proposed.yaml'), 'proposed')
    expect(await computeF1('proposed')).toBeGreaterThan(0.97)
    const again = await runCommand([
      'resolve',
      'lens',
      'init',
      '--data',
      at('people.csv'),
      '--out',
      at('proposed.yaml'),
    ])
    expect(again.exit).toBe(3)
  })

  test('of a file that is larger than the sample is made from its whole records', async () => {
    const line = (row: number) => `${row},"a ""quoted""\nname of ${row % 977}",${row % 7}\n`
    const lines = Array.from({ length: 600_000 }, (_, row) => line(row))
    writeFileSync(at('large.csv'), ['key,label,kind\n', ...lines].join(''))
    const profile = await runJsonCommand(['resolve', 'lens', 'init', '--data', at('large.csv')])
    expect(profile).toMatchObject({ sources: [{ isWhole: false }], id_field: 'key' })
    expect(profile.sources[0].records).toBeGreaterThan(100_000)
    expect(profile.sources[0].records).toBeLessThan(600_000)
  })

  test.each([
    ['rows of another length', 'id,name\n1,Ann\n2\n', 'odd.csv, line 3: 1 fields, and the first line names 2'],
    ['a workbook', 'PK\x03\x04 and so on', 'a workbook'],
    ['a column of equal values', 'id,name\n1,Ann\n2,Ann\n', 'no column besides the id with different values'],
  ])('is not made of %s', async (_, data, pattern) => {
    writeFileSync(at('odd.csv'), data)
    const { exit, stderr } = await runCommand(['resolve', 'lens', 'init', '--data', at('odd.csv')])
    expect(exit).toBe(1)
    expect(stderr).toContain(pattern)
  })

  test('is not made of an empty folder, and a letter cut at the end of the sample does no harm', async () => {
    mkdirSync(at('empty'))
    const ended = await runCommand(['resolve', 'lens', 'init', '--data', at('empty')])
    expect(ended.stderr).toContain('empty has no data file')
    const lines = Array.from({ length: 600_000 }, (_, row) => `${row},${'é'.repeat(17)}${row % 911}\n`)
    // One of the two bytes of a letter is the last that is looked at, whichever of both texts that is.
    for (const heading of ['key,label\n', 'keys,label\n']) {
      writeFileSync(at('cut.csv'), [heading, ...lines].join(''))
      expect(await runJsonCommand(['resolve', 'lens', 'init', '--data', at('cut.csv')])).toMatchObject({
        sources: [{ isWhole: false }],
      })
    }
  })
})

describe('training', () => {
  test('without labels gives a next version that finds the same with no learning', async () => {
    const trained = await runJsonCommand([
      'resolve',
      'lens',
      'train',
      '--lens',
      'persons',
      '--data',
      at('people.csv'),
      '--out',
      at('trained.yaml'),
    ])
    expect(trained).toMatchObject({ lens: 'persons', version: '1.2.0', records: people.truth.length })
    expect(trained.left_out).toContain('national_id')
    const text = readFileSync(at('trained.yaml'), 'utf8')
    expect(text).toContain('# People: names, dates, addresses, numbers.')
    await runLens('persons', 'untrained')
    expect((await runLens(at('trained.yaml'), 'trained')).version).toBe('1.2.0')
    expect(readClusters('trained')).toBe(readClusters('untrained'))
  })

  test.each([
    ['the cluster of each record', () => readFileSync(at('truth.csv'), 'utf8')],
    ['some pairs', () => `id_l,id_r,match\n${pickPairs().join('\n')}\n`],
  ])('by %s is as good', async (what, labels) => {
    writeFileSync(at('labels.csv'), labels())
    const { yaml, levels } = await runJsonCommand(buildTrainWords('labels.csv'))
    expect(levels.find((each: { field: string }) => each.field === 'email').bits).toBeGreaterThan(5)
    const name = `by-labels-${what.length}`
    writeFileSync(at(`${name}.yaml`), yaml)
    await runLens(at(`${name}.yaml`), name)
    expect(await computeF1(name)).toBeGreaterThan(0.97)
  })

  test('by labels of other records is refused', async () => {
    writeFileSync(at('foreign.csv'), 'id_l,id_r,match\nr0,nobody,1\n')
    const { exit, stderr } = await runCommand(buildTrainWords('foreign.csv'))
    expect(exit).toBe(1)
    expect(stderr).toContain('record 1: the data has no record "nobody"')
  })

  test('by answers reports what they did; the last one about a pair counts, and contradictions are named', async () => {
    const answers = [...pickPairs(), 'r0,r2,unsure', 'r1,r0,y', 'r0,r1,n', 'r5,r6,']
    const [first = '', second = ''] = pickPairs()
    const [a, b] = [first.split(','), second.split(',')]
    answers.push(`${a[0]},${b[0]},y`, `${a[1]},${b[1]},n`)
    writeFileSync(at('answers.csv'), `id_l,id_r,match\n${answers.join('\n')}\n`)
    const { labels } = await runJsonCommand(buildTrainWords('answers.csv'))
    const matches = pickPairs().length - 1
    expect(labels).toMatchObject({ matches: matches + 1, non_matches: 2, changed: 2, contradiction: { count: 1 } })
    const { stdout } = await runCommand([...buildTrainWords('answers.csv'), '--out', at('answered.yaml')])
    expect(stdout).toContain(`${matches + 1} matches, 2 non-matches`)
    expect(stdout).toMatch(/contradictions +1: matches join records that are labelled as none/)
  })

  test('by decisions is the same as by labels', async () => {
    const decisions = pickPairs().map((pair) => pair.replace(/1$/, 'confirm').replace(/0$/, 'reject'))
    writeFileSync(at('decisions.csv'), `id_l,id_r,decision\n${decisions.join('\n')}\n`)
    writeFileSync(at('same.csv'), `id_l,id_r,match\n${pickPairs().join('\n')}\n`)
    const [byDecisions, byLabels] = await Promise.all(
      ['decisions.csv', 'same.csv'].map((file) => runJsonCommand(buildTrainWords(file))),
    )
    expect(byDecisions.levels).toEqual(byLabels.levels)
  })

  test.each([
    ['an unknown answer', 'id_l,id_r,match\nr0,r1,perhaps\n', 'record 1: match is "perhaps"; it must be 1 or 0'],
    ['no answer', 'id_l,id_r,match\nr0,r1,\n', 'no-answer.csv contains no answer'],
    ['one record twice', 'id_l,id_r,match\nr0,r0,1\n', 'record 1: the pair names the same record twice'],
    ['a source that is not there', 'id_l,source_l,id_r,match\nr0,b.csv,r1,1\n', 'no record "r0" in b.csv'],
  ])('by %s is refused', async (what, labels, pattern) => {
    const name = `${what.replaceAll(' ', '-')}.csv`
    writeFileSync(at(name), labels)
    const words = buildTrainWords(name)
    const other = what.includes('source') ? [at('people.csv'), at('b.csv')] : [at('people.csv')]
    if (other.length > 1) writeFileSync(at('b.csv'), people.csv.replaceAll(/^r/gm, 'b'))
    const { exit, stderr } = await runCommand(words.flatMap((word) => (word === at('people.csv') ? other : [word])))
    expect({ exit, stderr }).toMatchObject({ exit: 1, stderr: expect.stringContaining(pattern) })
  })

  test('tells apart equal ids of two sources, and asks for the source where it lacks', async () => {
    writeFileSync(at('other.csv'), people.csv)
    const words = (labels: string) => [
      ...['resolve', 'lens', 'train', '--lens', 'persons', '--labels', at(labels)],
      ...['--data', at('people.csv'), at('other.csv')],
    ]
    writeFileSync(at('bare.csv'), 'id_l,id_r,match\nr0,r1,0\n')
    const { exit, stderr } = await runCommand(words('bare.csv'))
    expect(exit).toBe(1)
    expect(stderr).toMatch(/record 1: two sources have the id "r0"\s+name the source in a column source_l/)
    const lines = [0, 1, 2].map((row) => `people,r${row},other.csv,r${row},yes`)
    writeFileSync(at('named.csv'), ['source_l,id_l,source_r,id_r,match', ...lines, ''].join('\n'))
    expect((await runJsonCommand(words('named.csv'))).labels).toMatchObject({ matches: 3, non_matches: 0 })
  })
})

function buildTrainWords(labels: string): string[] {
  const data = ['--lens', 'persons', '--data', at('people.csv')]
  return ['resolve', 'lens', 'train', ...data, '--labels', at(labels)]
}

function pickPairs(): string[] {
  const firsts = new Map<number, string>()
  const pairs: string[] = []
  for (const [id, person] of people.truth) {
    const first = firsts.get(person)
    if (first === undefined) firsts.set(person, id)
    else if (pairs.length < 300) pairs.push(`${first},${id},1`)
  }
  return [...pairs, 'r0,r1,0']
}

describe('weights in the lens', () => {
  const fields = [
    { name: 'email', type: 'email', comparator: 'levenshtein', levels: [1], weights: [10, 6, -4] },
    { name: 'surname', type: 'name', comparator: 'jaro_winkler', levels: [0.85], weights: [4, 2, -3] },
  ]
  const rows = [
    'id,email,surname',
    '1,a@x.org,smith',
    '2,a@x.org,smyth',
    '3,b@x.org,smith',
    '4,,smith',
    '5,q@y.net,jones',
  ]

  test.each([
    ['0', { threshold: 3.9, clustering: 'connected_components' }, [1, 1, 1, 1, 2]],
    ['1', { threshold: 11, clustering: 'connected_components' }, [1, 1, 2, 3, 4]],
    ['2', { threshold: 3, null_penalty: 2, clustering: 'connected_components' }, [1, 1, 1, 2, 3]],
    ['3', { threshold: 0, clustering: 'one_to_one' }, [1, 1, 2, 2, 3]],
  ])('are summed, and cut where the lens says: %s', async (name, more, wanted) => {
    writeFileSync(at('small.csv'), rows.join('\n'))
    const lens = writeLens(`given-${name}.yaml`, { fields, blocking: ['surname:prefix(1)'], ...more })
    const summary = await runLens(lens, `given-${name}`, at('small.csv'))
    expect(summary.rules).toMatchObject([{ rule: 'surname:prefix(1)', pairs: 6, left_out: [] }])
    const found = readClusters(`given-${name}`).trimEnd().split('\n').slice(1)
    expect(found.map((line) => Number(line.split(',')[2]))).toEqual(wanted)
  })

  test('find places that are near, from two columns', async () => {
    writeFileSync(at('places.csv'), 'id,lat,lon\na,52.5200,13.4050\nb,52.5203,13.4052\nc,48.1372,11.5756\n')
    const field = { name: 'place', type: 'geo', join: ['lat', 'lon'], levels: [0.1, 10], weights: [9, 6, 1, -9] }
    const lens = writeLens('places.yaml', { fields: [field], blocking: ['place:cell(1)'], threshold: 5 })
    await runLens(lens, 'places', at('places.csv'))
    expect(readClusters('places')).toBe('source,id,cluster\nplaces.csv,a,1\nplaces.csv,b,1\nplaces.csv,c,2\n')
  })
})

describe('charts', () => {
  test('are pictures for their owner, and letters for the terminal', async () => {
    const words = ['resolve', 'lens', 'charts', '--lens', 'persons', '--data', at('people.csv')]
    const { stdout, exit } = await runCommand([...words, '--out', at('charts')])
    expect(exit).toBe(0)
    for (const pattern of ['pairs that share a key', 'email: equal', 'scores of compared pairs', ': cut ('])
      expect(stdout).toContain(pattern)
    expect(stdout).not.toContain('\u001b')
    for (const name of ['weights', 'threshold', 'blocking']) {
      const picture = readFileSync(at(`charts/${name}.svg`), 'utf8')
      expect(picture).toMatch(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"[\s\S]*<\/svg>\s*$/)
      expect(statSync(at(`charts/${name}.svg`)).mode & 0o777).toBe(0o600)
    }
    expect((await runCommand([...words, '--out', at('charts')])).exit).toBe(3)
  })

  test('of blocking report the dropped pairs before a pair is made', async () => {
    const lens = writeLens('blocks.yaml', {
      fields: [{ name: 'city', type: 'place' }],
      blocking: ['city'],
      max_block: 5,
    })
    const words = ['resolve', 'lens', 'charts', '--lens', lens, '--data', at('people.csv'), '--blocking']
    const { blocking, weights } = await runJsonCommand(words)
    expect(weights).toBeUndefined()
    expect(blocking[0].left_out_count).toBeGreaterThan(10)
    expect(blocking[0].left_out[0].records).toBe(blocking[0].largest)
  })
})

describe('a model of Splink', () => {
  const model = path.join(repositoryRoot, 'test/data/splink/people.json')

  test('is imported with its parameters and rules; untrained parts are reported', async () => {
    const imported = await runJsonCommand(['resolve', 'lens', 'import', model, '--out', at('splink.yaml')])
    expect(imported).toMatchObject({ fields: 5, rules: 4 })
    expect(imported.remarks).toEqual(['not trained, so its weight is 0: email: Jaro-Winkler >0.88 on username'])
    const lens = await runJsonCommand(['resolve', 'lens', 'validate', at('splink.yaml')])
    expect(lens.blocking).toEqual([['first_name', 'dob'], ['surname'], ['email'], ['first_name:prefix(4)', 'dob:year']])
    expect(lens.prior).toBeCloseTo(0.00249, 5)
    const [first] = JSON.parse(readFileSync(model, 'utf8')).comparisons
    const levels = first.comparison_levels.filter((each: { is_null_level?: boolean }) => !each.is_null_level)
    expect(lens.fields[0].m).toEqual(levels.map((each: { m_probability: number }) => each.m_probability))
    expect(lens.fields[2].levels[1]).toEqual({ comparator: 'date', at: 30.4375 })
  })

  test('reports parts without a counterpart, and pairs of such a level fall to the next', async () => {
    const settings = JSON.parse(readFileSync(model, 'utf8'))
    settings.comparisons[0].comparison_levels[2].sql_condition =
      'cosine_similarity("first_name_l", "first_name_r") >= 0.9'
    settings.blocking_rules_to_generate_predictions.push({ blocking_rule: 'l.first_name = r.surname' })
    writeFileSync(at('odd.json'), JSON.stringify(settings))
    const { remarks, yaml } = await runJsonCommand(['resolve', 'lens', 'import', at('odd.json')])
    expect(remarks.join('\n')).toContain('level not imported, its pairs count in the next one: first_name')
    expect(remarks).toContain('blocking rule not imported: l.first_name = r.surname')
    const [, second = 0, third = 0] = settings.comparisons[0].comparison_levels
      .slice(1)
      .map((each: { m_probability: number }) => each.m_probability)
    expect(yaml).toContain(String(second + third))
  })

  test.each([
    ['no JSON', '{', 'is not JSON'],
    ['another document', '{"a": 1}', 'is not a saved Splink model: link_type: is required'],
  ])('that is %s is refused', async (_, text, pattern) => {
    writeFileSync(at('no-model.json'), text)
    const { exit, stderr } = await runCommand(['resolve', 'lens', 'import', at('no-model.json')])
    expect(exit).toBe(1)
    expect(stderr).toContain(pattern)
  })
})

test('of records that are compared with nobody no lens learns anything, and it says so', async () => {
  writeFileSync(at('alone.csv'), 'id,given_name,surname\n1,ann,berg\n2,bo,lind\n')
  const { exit, stderr } = await runCommand([
    'resolve',
    'lens',
    'train',
    '--lens',
    'persons',
    '--data',
    at('alone.csv'),
  ])
  expect([exit, stderr]).toEqual([1, expect.stringContaining('nothing can be learnt')])
})
