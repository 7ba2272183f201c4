// Explains any two records of a run of files: compared, never compared, left out; and refuses what is not that run.
import { copyFileSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { generatePeople } from '../support/resolution/generate-people.ts'

const { dir, remove } = createScratchFolder('explain-records')
const at = (name: string) => path.join(dir, name)
const people = generatePeople(300, 11)

const ruleLens = `lens: rules
version: 1.0.0
entity_type: person
fields:
  - { name: surname, type: name }
  - { name: city, type: place }
  - { name: email, type: email }
blocking: [surname, city]
max_block: 3
`
const ruleRecords = [
  'id,surname,city,email',
  'a1,Ahrens,Kiel,a@x.example',
  'a2,Ahrens,Bonn,a@x.example',
  'b1,Berg,Ulm,b1@x.example',
  'b2,Carl,Ulm,b2@x.example',
  'b3,Dorn,Ulm,b3@x.example',
  'b4,Ernst,Ulm,b4@x.example',
  'c1,Falk,,=1+1',
  'c2,Geiger,,"a,""b"""',
  '',
].join('\n')

beforeAll(async () => {
  writeFileSync(at('people.csv'), people.csv)
  await runJsonCommand(['resolve', 'run', '--lens', 'persons', '--data', at('people.csv'), '--out', at('people')])
  writeFileSync(at('rules.yaml'), ruleLens)
  writeFileSync(at('rules.csv'), ruleRecords)
  await runCommand([...resolve('rules'), '--accept-poor'])
})
afterAll(remove)

const resolve = (out: string) => [
  'resolve',
  'run',
  '--lens',
  at('rules.yaml'),
  '--data',
  at('rules.csv'),
  '--out',
  at(out),
]
const explain = (out: string, ...ids: string[]) => ['resolve', 'explain', '--out', at(out), ...ids]
/** Copies a run, so that a test can change it. */
const copyRun = (out: string) => cpSync(at('people'), at(out), { recursive: true })
const someIds = people.truth.slice(0, 2).map(([id]) => id)

describe('two records that were compared', () => {
  test('have the score of the file of pairs, as the sum of the prior and the fields', async () => {
    const lines = readFileSync(at('people/pairs.csv'), 'utf8').trimEnd().split('\n').slice(1)
    for (const line of [lines[0], lines.find((each) => each.endsWith('false'))]) {
      const [, left = '', , right = '', score, linked] = (line ?? '').split(',')
      const explained = await runJsonCommand(explain('people', left, right))
      expect(explained.score).toBeCloseTo(Number(score), 3)
      const bits = explained.fields.map(
        (each: { bits: number; frequency_bits: number }) => each.bits + each.frequency_bits,
      )
      expect(bits.reduce((sum: number, each: number) => sum + each, explained.prior_bits)).toBeCloseTo(
        explained.score,
        6,
      )
      expect(explained).toMatchObject({ state: 'compared', linked: linked === 'true', scale: 'bits' })
    }
  })

  test('have their values as they are in the data and as they are compared', async () => {
    const explained = await runJsonCommand(explain('rules', 'a1', 'a2'))
    expect(explained.fields[0]).toMatchObject({
      original: ['Ahrens', 'Ahrens'],
      normalised: ['ahrens', 'ahrens'],
      level: 'equal',
    })
    expect(explained.rules[0]).toMatchObject({
      rule: 'surname',
      outcome: 'together',
      left: 'ahrens',
      records: 2,
    })
    const { stdout } = await runCommand(explain('rules', 'a1', 'a2'))
    expect(stdout).toContain('Compared, brought together by surname.')
    expect(stdout).toMatch(/surname +ahrens \| ahrens \(equal\)/)
    expect(stdout).toMatch(/ {2}surname {2}Ahrens \| Ahrens/)
  })
})

describe('two records that were not compared', () => {
  test('differ in every key: no rule brings them together, and the score is what it would have been', async () => {
    const explained = await runJsonCommand(explain('rules', 'a1', 'b1'))
    expect(explained).toMatchObject({
      state: 'never_compared',
      linked: false,
      reason: 'Never compared: no rule brings them together.',
    })
    expect(explained.rules.map((each: { outcome: string }) => each.outcome)).toEqual(['different', 'different'])
    expect(Number.isFinite(explained.score)).toBe(true)
    expect((await runCommand(explain('rules', 'a1', 'b1'))).stdout).toContain('city  kiel | ulm (differs)')
  })

  test('share a block that was left out as too large', async () => {
    const explained = await runJsonCommand(explain('rules', 'b1', 'b2'))
    expect(explained.reason).toBe('Never compared: no rule brings them together; blocks left out as too large: city.')
    expect(explained.rules[1]).toEqual({
      rule: 'city',
      outcome: 'too_large',
      left: 'ulm',
      right: 'ulm',
      records: 4,
      limit: 3,
    })
  })

  test('lack the value of a key; hostile values are text', async () => {
    const explained = await runJsonCommand(explain('rules', 'c1', 'c2'))
    expect(explained.rules[1]).toMatchObject({ outcome: 'missing' })
    expect(explained.fields[2].original).toEqual(['=1+1', 'a,"b"'])
  })

  test('by keys that the engine derives: each with the values of both', async () => {
    const pairs = new Set(
      readFileSync(at('people/pairs.csv'), 'utf8')
        .split('\n')
        .map((line) =>
          line
            .split(',')
            .filter((_, n) => n === 1 || n === 3)
            .join(),
        ),
    )
    const [first = ''] = someIds
    const other =
      people.truth
        .map(([id]) => id)
        .find((id) => id !== first && !pairs.has(`${first},${id}`) && !pairs.has(`${id},${first}`)) ?? ''
    const explained = await runJsonCommand(explain('people', first, other))
    expect(['never_compared', 'below_floor']).toContain(explained.state)
    expect(explained.rules.find((each: { rule: string }) => each.rule === 'surname: sound')).toHaveProperty('left')
    const isTogether = explained.rules.some((each: { outcome: string }) => each.outcome === 'together')
    expect(isTogether).toBe(explained.state === 'below_floor')
  })
})

describe('the explanation of every pair agrees with what the run compared', () => {
  test('where the run wrote every compared pair', async () => {
    const few = people.csv.split('\n').slice(0, 40).join('\n')
    writeFileSync(at('few.csv'), few)
    await runCommand([
      'resolve',
      'run',
      '--lens',
      'persons',
      '--data',
      at('few.csv'),
      '--all-pairs',
      '--accept-poor',
      '--out',
      at('few'),
    ])
    const listed = new Set(
      readFileSync(at('few/pairs.csv'), 'utf8')
        .trimEnd()
        .split('\n')
        .slice(1)
        .map((line) => [line.split(',')[1], line.split(',')[3]].sort().join()),
    )
    const ids = few
      .split('\n')
      .slice(1, 14)
      .map((line) => line.split(',')[0] ?? '')
    for (const [index, one] of ids.entries()) {
      for (const other of ids.slice(index + 1)) {
        const { state } = await runJsonCommand(explain('few', one, other))
        expect(state, `${one} ${other}`).toBe(listed.has([one, other].sort().join()) ? 'compared' : 'never_compared')
      }
    }
  })
})

describe('texts of two sources, whose score is a similarity', () => {
  test('have a score only where they were compared', async () => {
    const words = ['lamp', 'chair', 'table', 'radio', 'mixer', 'kettle', 'camera', 'guitar', 'printer', 'bicycle']
    const names = words.flatMap((word, at) =>
      words.slice(at + 1).map((other) => `${word} ${other} x${at}${other.length}00`),
    )
    const write = (file: string, mark: string) =>
      writeFileSync(at(file), ['id,name', ...names.map((name, row) => `${mark}${row},${name} ${mark}`), ''].join('\n'))
    write('north.csv', 'n')
    write('south.csv', 's')
    await runCommand([
      'resolve',
      'run',
      '--lens',
      'products',
      '--data',
      at('north.csv'),
      at('south.csv'),
      '--accept-poor',
      '--out',
      at('texts'),
    ])
    expect(await runJsonCommand(explain('texts', 'n0', 's0'))).toMatchObject({
      state: 'compared',
      scale: 'likeness',
      score: expect.any(Number),
      rules: [{ rule: 'nearest texts', outcome: 'together' }],
    })
    expect(await runJsonCommand(explain('texts', 'n0', 's44'))).toMatchObject({
      state: 'not_listed',
      score: null,
      linked: false,
    })
  })
})

describe('records are named', () => {
  test('with their source where several sources have the id', async () => {
    copyFileSync(at('rules.csv'), at('copy.csv'))
    await runCommand([
      'resolve',
      'run',
      '--lens',
      at('rules.yaml'),
      '--data',
      at('rules.csv'),
      at('copy.csv'),
      '--accept-poor',
      '--out',
      at('two'),
    ])
    expect(await runCommand(explain('two', 'a1', 'a2'))).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('rules.csv:a1, copy.csv:a1'),
    })
    expect(await runJsonCommand(explain('two', 'rules.csv:a1', 'copy:a1'))).toMatchObject({
      left: { source: 'rules.csv', id: 'a1' },
      right: { source: 'copy.csv', id: 'a1' },
    })
  })

  test('twice: one record is not a pair, and neither are one id or three', async () => {
    expect(await runCommand(explain('rules', 'a1', 'a1'))).toMatchObject({ exit: 2 })
    expect(await runCommand(explain('rules', 'a1'))).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('1 given'),
    })
    expect(await runCommand(explain('rules', 'a1', 'a2', 'b1'))).toMatchObject({ exit: 2 })
    expect(await runCommand(['resolve', 'explain', 'a1', 'a2'])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('--out DIR'),
    })
    expect(await runCommand(explain('rules', 'a1', 'none'))).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining('"none"'),
    })
  })
})

describe('the folder of a run', () => {
  test('has the same model for the same data, lens and seed, wherever the files are', async () => {
    mkdirSync(at('elsewhere'))
    copyFileSync(at('people.csv'), at('elsewhere/people.csv'))
    const words = ['resolve', 'run', '--lens', 'persons', '--data', at('elsewhere/people.csv'), '--out', at('again')]
    await runJsonCommand(words)
    for (const name of ['model.json', 'run.json', 'pairs.csv'])
      expect(readFileSync(at(`again/${name}`), 'utf8')).toBe(readFileSync(at(`people/${name}`), 'utf8'))
    expect(JSON.parse(readFileSync(at('again/inputs.json'), 'utf8')).data[0]).toMatchObject({
      path: at('elsewhere/people.csv'),
    })
  })

  test('is explained from a file that was moved, and not from one that was changed', async () => {
    writeFileSync(at('moving.csv'), people.csv)
    await runJsonCommand(['resolve', 'run', '--lens', 'persons', '--data', at('moving.csv'), '--out', at('moving')])
    renameSync(at('moving.csv'), at('moved.csv'))
    expect(await runCommand(explain('moving', ...someIds))).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining('--data FILE'),
    })
    expect((await runJsonCommand([...explain('moving', ...someIds), '--data', at('moved.csv')])).left.source).toBe(
      'moving.csv',
    )
    writeFileSync(at('moving.csv'), `${people.csv}\n`)
    expect(await runCommand(explain('moving', ...someIds))).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining('was changed after the run'),
    })
    const wrong = await runCommand([...explain('moving', ...someIds), '--data', at('moving.csv')])
    expect(wrong).toMatchObject({ exit: 5, stderr: expect.stringContaining('none of the data files of the run') })
  })

  test('of a run that was killed, or of an earlier version, is refused with the remedy', async () => {
    for (const missing of ['run.json', 'model.json', 'inputs.json']) {
      copyRun('part')
      rmSync(at(`part/${missing}`))
      expect(await runCommand(explain('part', ...someIds))).toMatchObject({
        exit: 1,
        stderr: expect.stringMatching(new RegExp(`has no ${missing}[\\s\\S]*run it again`)),
      })
      rmSync(at('part'), { recursive: true })
    }
    copyRun('part')
    const model = JSON.parse(readFileSync(at('part/model.json'), 'utf8'))
    writeFileSync(at('part/model.json'), JSON.stringify({ ...model, format: 1 }))
    expect(await runCommand(explain('part', ...someIds))).toMatchObject({
      exit: 1,
      stderr: expect.stringMatching(/earlier version, whose scores had another unit[\s\S]*run it again/),
    })
    rmSync(at('part'), { recursive: true })
  })

  test('is refused where another hand wrote its files', async () => {
    const strange = [
      ['model.json', '{"format":1,"__proto__":{}}'],
      ['model.json', '[['],
      ['inputs.json', '{"format":2}'],
      ['run.json', '{"lens":1}'],
      ['clusters.csv', 'source,id,cluster\npeople.csv,nobody,1\n'],
      ['clusters.csv', 'source,id,cluster\n'],
      [
        'pairs.csv',
        `source_l,id_l,source_r,id_r,score,linked\npeople.csv,${someIds[0]},people.csv,${someIds[1]},high,true\n`,
      ],
    ] as const
    for (const [name, content] of strange) {
      copyRun('strange')
      writeFileSync(at(`strange/${name}`), content)
      const { exit, stderr } = await runCommand(explain('strange', ...someIds))
      expect([1, 5], `${name}: ${stderr}`).toContain(exit)
      expect(stderr).toContain(name)
      rmSync(at('strange'), { recursive: true })
    }
  })
})
