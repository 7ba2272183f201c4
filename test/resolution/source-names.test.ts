// Names of sources and paths of outputs: what would cost a run, or every entity of a registry, is refused before it.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { generatePeople } from '../support/resolution/generate-people.ts'

const { dir, remove } = createScratchFolder('source-names')
const at = (name: string) => path.join(dir, name)
const people = generatePeople(60, 5)

beforeAll(() => {
  writeFileSync(at('people.csv'), people.csv)
  writeFileSync(at('people-2027.csv'), people.csv)
})
afterAll(remove)

const run = (out: string, file: string, ...more: string[]) => [
  'resolve',
  'run',
  '--lens',
  'persons',
  '--accept-poor',
  '--data',
  at(file),
  '--out',
  at(out),
  ...more,
]

function listEntities(out: string): string[] {
  const [, ...lines] = readFileSync(at(`${out}/clusters.csv`), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map((line) => line.split(',').slice(1).join(','))
}

describe('a renamed file', () => {
  test('keeps its entities with --source, and is refused without where the registry has its values', async () => {
    const kept = ['--registry', at('kept.jsonl'), '--keep-records']
    await runJsonCommand(run('first', 'people.csv', ...kept))
    const before = readFileSync(at('kept.jsonl'), 'utf8')
    const refused = await runCommand(run('renamed', 'people-2027.csv', ...kept))
    expect(refused).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining('--source people.csv keeps its entities'),
    })
    expect(readFileSync(at('kept.jsonl'), 'utf8')).toBe(before)
    await runJsonCommand(run('named', 'people-2027.csv', '--source', 'people.csv', ...kept))
    expect(listEntities('named')).toEqual(listEntities('first'))
    expect(JSON.parse(readFileSync(at('named/inputs.json'), 'utf8')).data[0].source).toBe('people.csv')
    const other = await runJsonCommand(run('other', 'people-2027.csv', '--source', 'people-2027.csv', ...kept))
    expect(other.registry).toBe('written')
  })

  test('is remarked where the registry has ids alone', async () => {
    await runJsonCommand(run('ids-1', 'people.csv', '--registry', at('ids.jsonl')))
    const { exit, stderr } = await runCommand(run('ids-2', 'people-2027.csv', '--registry', at('ids.jsonl')))
    expect(exit).toBe(0)
    expect(stderr).toContain('if it is the same table under another name, --source people.csv keeps its entities')
  })
})

test.each([
  [['a', 'b'], 2, 'twice'],
  [['crm=nowhere.csv'], 2, 'names none of the data files'],
  [['=people.csv'], 2, 'has no name'],
])('the names %j are refused before the run', async (words, exit, message) => {
  const refused = await runCommand(run('refused', 'people.csv', '--source', ...words))
  expect(refused).toMatchObject({ exit, stderr: expect.stringContaining(message) })
  expect(existsSync(at('refused'))).toBe(false)
})

test('names of several files are those of their sources', async () => {
  const data = [at('people.csv'), at('people-2027.csv')]
  const words = ['resolve', 'run', '--lens', 'persons', '--accept-poor', '--data', ...data, '--out', at('two')]
  const summary = await runJsonCommand([...words, '--source', 'crm=people.csv', `web=${at('people-2027.csv')}`])
  expect(summary.sources.map(({ name }: { name: string }) => name)).toEqual(['crm', 'web'])
})

test('labels name the records of a run by the same sources, for its estimates and for training', async () => {
  const sources = ['--source', 'crm=people.csv', 'web=people-2027.csv']
  const data = ['--lens', 'persons', '--data', at('people.csv'), at('people-2027.csv'), ...sources]
  await runJsonCommand(['resolve', 'label', ...data, '--pairs', '12', '--out', at('sheet.csv')])
  const [head, ...lines] = readFileSync(at('sheet.csv'), 'utf8').trimEnd().split('\n')
  const answered = lines.map((line) => line.replace(/^((?:[^,]*,){4}),/, '$11,'))
  writeFileSync(at('answered.csv'), [head, ...answered, ''].join('\n'))
  const labels = ['--labels', at('answered.csv')]
  const run = ['resolve', 'run', ...data, ...labels, '--accept-poor', '--out', at('labelled')]
  expect((await runJsonCommand(run)).quality.by_labels).toMatchObject({ labels: 12, matches: 12 })
  const trained = await runJsonCommand(['resolve', 'lens', 'train', ...data, ...labels])
  expect(trained.labels).toMatchObject({ matches: 12 })
  expect(trained.yaml).toContain('records of "crm", "web"')
})

describe('an output that cannot be written is refused before the data are read', () => {
  beforeAll(() => mkdirSync(at('folder')))

  test.each([
    ['a registry that is a folder', run('o1', 'absent.csv', '--registry', at('folder')), 'it is a folder'],
    [
      'a registry without its folder',
      run('o2', 'absent.csv', '--registry', at('no/where.jsonl')),
      'its folder does not exist',
    ],
    ['results below a file', run('people.csv/out', 'absent.csv'), 'what should be its folder is a file'],
    [
      'a lens without its folder',
      ['resolve', 'lens', 'train', '--lens', 'persons', '--data', at('absent.csv'), '--out', at('no/lens.yaml')],
      'its folder does not exist',
    ],
    [
      'a lens that exists',
      ['resolve', 'lens', 'init', '--data', at('absent.csv'), '--out', at('people.csv')],
      'already exists',
    ],
  ])('%s', async (_, words, message) => {
    const { exit, stderr } = await runCommand(words)
    expect(exit).not.toBe(0)
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('absent.csv')
    expect(readdirSync(dir).filter((name) => name.endsWith('.partial'))).toEqual([])
  })
})
