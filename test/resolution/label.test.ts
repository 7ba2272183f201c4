// Labels by the command line: pairs as a table to fill in, and a session whose every answer is on disk.
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openLabelSession } from '../../daemon/offline/resolve/label/label-session.ts'
import { readLens } from '../../daemon/offline/resolve/lens/lens-file.ts'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { generateHouseholds } from '../support/resolution/generate-households.ts'

const { dir, remove } = createScratchFolder('label')
const at = (name: string) => path.join(dir, name)
const { csv, truth } = generateHouseholds(60, 0.2, 3)
const personOf = new Map(truth)

beforeAll(() => {
  writeFileSync(at('people.csv'), csv)
  const fields = ['given: name', 'surname: name', 'street: place', 'phone: code'].map((each) => {
    const [name, type] = each.split(': ')
    return { name, type }
  })
  writeFileSync(at('lens.yaml'), JSON.stringify({ lens: 'own', version: '1.0.0', entity_type: 'person', fields }))
})
afterAll(remove)

const files = ['--lens', at('lens.yaml'), '--data', at('people.csv')]
const readLines = (name: string) => readFileSync(at(name), 'utf8').trimEnd().split('\n')

test('writes pairs with their values to fill in, which training reads; further pairs are others', async () => {
  const words = ['resolve', 'label', ...files, '--pairs', '30', '--out']
  expect(await runJsonCommand([...words, at('sheet.csv')])).toEqual({ file: at('sheet.csv'), pairs: 30 })
  expect(statSync(at('sheet.csv')).mode & 0o777).toBe(0o600)
  const [head = '', ...lines] = readLines('sheet.csv')
  expect(head).toMatch(/^source_l,id_l,source_r,id_r,match,score,given_l,given_r,surname_l,surname_r/)
  const filled = lines.map((line) => {
    const cells = line.split(',')
    expect(cells[4]).toBe('')
    const isMatch = personOf.get(cells[1] ?? '') === personOf.get(cells[3] ?? '')
    return cells.with(4, isMatch ? '1' : '0').join(',')
  })
  writeFileSync(at('filled.csv'), [head, ...filled, ''].join('\n'))
  const { labels } = await runJsonCommand(['resolve', 'lens', 'train', ...files, '--labels', at('filled.csv')])
  expect(labels.matches + labels.non_matches).toBe(30)
  await runJsonCommand([...words, at('more.csv'), '--labels', at('filled.csv')])
  const pairOf = (line: string) => line.split(',').slice(0, 4).join(',')
  const first = new Set(lines.map(pairOf))
  expect(
    readLines('more.csv')
      .slice(1)
      .filter((line) => first.has(pairOf(line))),
  ).toEqual([])
})

test('without a terminal it says how to go on', async () => {
  const { exit, stderr } = await runCommand(['resolve', 'label', ...files, '--labels', at('none.csv')])
  expect(exit).toBe(2)
  expect(stderr).toContain('the questions need a terminal')
  expect(stderr).toContain('--out FILE writes the pairs')
})

test('pairs are written beside a file of labels that is not there yet, as beside an empty one', async () => {
  const words = ['resolve', 'label', ...files, '--pairs', '5', '--labels', at('later.csv'), '--out', at('first.csv')]
  expect(await runJsonCommand(words)).toEqual({ file: at('first.csv'), pairs: 5 })
  expect(existsSync(at('later.csv'))).toBe(false)
})

test('a terminal that shows no screen is asked in lines, and what was answered is kept', async () => {
  const words = ['resolve', 'label', ...files, '--labels', at('lines.csv')]
  const replies = ['y', 'maybe', 'n', 's', 'z', 'n']
  const { exit, stdout, stderr } = await runCommand(words, { env: { TERM: 'dumb' }, secrets: [], replies })
  expect({ exit, stderr }).toMatchObject({ exit: 0 })
  expect(stdout).toContain('lines.csv has 1 match, 2 non-matches and 0 unsure pairs.')
  expect(stderr).toMatch(/0 of 100: 0 y, 0 n, 0 unsure; score .*\nrecord: h\d+ \| h\d+\ngiven( \(\w+\))?: /)
  expect(stderr).toContain('unsure: the pair is not shown again')
  expect(stderr).toContain('took the last answer back')
  expect(readLines('lines.csv').map((line) => line.split(',').at(-1))).toEqual(['match', '1', '0', 'unsure', '', '0'])
})

const openSession = (name: string, wanted = 100) =>
  openLabelSession(
    { lens: readLens(at('lens.yaml')), files: [at('people.csv')], reading: {}, seed: 1, labels: at(name), wanted },
    () => undefined,
  )

test('each answer is on disk before the next pair, and a session that was killed goes on', async () => {
  // Nothing ends the first session: what a killed one leaves behind is what its calls wrote.
  const killed = await openSession('labels.csv')
  const pairs = (['match', 'no_match', 'unsure', 'match', 'no_match', 'match'] as const).map((answer, count) => {
    const { left, right } = killed.current() ?? {}
    killed.answer(answer)
    const cell = { match: '1', no_match: '0', unsure: 'unsure' }[answer]
    expect(readLines('labels.csv')).toHaveLength(count + 2)
    expect(readLines('labels.csv').at(-1)).toBe(`people.csv,${left?.id},people.csv,${right?.id},${cell}`)
    return `${left?.id} ${right?.id}`
  })
  expect(new Set(pairs).size).toBe(6)
  expect(killed.undo()).toBe(true)
  expect(killed.progress()).toEqual({ matches: 2, non_matches: 2, unsure: 1, wanted: 100 })
  appendFileSync(at('labels.csv'), 'people.csv,h1,peop')
  const again = await openSession('labels.csv')
  expect(again.progress()).toEqual({ matches: 2, non_matches: 2, unsure: 1, wanted: 100 })
  expect(again.undo()).toBe(false)
  const { left, right } = again.current() ?? {}
  expect(pairs.slice(0, 5)).not.toContain(`${left?.id} ${right?.id}`)
  again.answer('match')
  expect(readLines('labels.csv').filter((line) => line.split(',').length !== 5)).toEqual([])
  for (const session of [killed, again]) session.close()
})

test('it asks no more than wanted, earlier answers included', async () => {
  const session = await openSession('few.csv', 3)
  for (let count = 0; count < 3; count++) session.answer('no_match')
  expect(session.current()).toBeUndefined()
  session.close()
  const again = await openSession('few.csv', 3)
  expect(again.current()).toBeUndefined()
  again.close()
})

test('a file that is not of a session is not written to', async () => {
  const text = 'id_l,id_r,match\nh0,h1,1\n'
  writeFileSync(at('other.csv'), text)
  await expect(openSession('other.csv')).rejects.toThrow('has other columns than source_l,id_l,source_r,id_r,match')
  expect(readFileSync(at('other.csv'), 'utf8')).toBe(text)
})

test('a line that was torn within an id is not an answer, and an empty file is a new session', async () => {
  const session = async (name: string) => {
    const opened = await openSession(name, 5)
    opened.close()
    return readFileSync(at(name), 'utf8')
  }
  const head = 'source_l,id_l,source_r,id_r,match\n'
  writeFileSync(at('empty.csv'), '')
  expect(await session('empty.csv')).toBe(head)
  writeFileSync(at('torn.csv'), `${head}people.csv,p1,people.csv,1`)
  expect(await session('torn.csv')).toBe(head)
})
