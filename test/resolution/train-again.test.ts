// A lens that labels trained is trained again: its cut goes with the weights that it belonged to, and a person's own choice stays.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { generateHouseholds } from '../support/resolution/generate-households.ts'

const { dir, remove } = createScratchFolder('train-again')
const at = (name: string) => path.join(dir, name)
const households = generateHouseholds(100, 0.2, 1)

const types = { given: 'name', surname: 'name', street: 'place', phone: 'code' }
const fields = Object.entries(types).map(([name, type]) => ({ name, type }))
function writeLens(name: string, more: object): string {
  writeFileSync(at(name), JSON.stringify({ lens: 'own', version: '1.0.0', entity_type: 'person', ...more, fields }))
  return at(name)
}

/** Labels of all pairs of one surname: relatives, and people who are listed twice. */
function listLabels(): string[] {
  const [, ...lines] = households.csv.trimEnd().split('\n')
  const records = households.truth.map(([id, person], row) => ({ id, person, surname: lines[row]?.split(',')[2] }))
  return records.flatMap(({ id, person, surname }, row) =>
    records
      .slice(row + 1)
      .filter((other) => other.surname === surname)
      .map((other) => `${id},${other.id},${person === other.person ? 1 : 0}`),
  )
}

async function train(lens: string, out: string, ...more: string[]) {
  const words = ['resolve', 'lens', 'train', '--lens', lens, '--data', at('people.csv'), ...more, '--out', at(out)]
  const { labels } = await runJsonCommand(words)
  return { labels, text: readFileSync(at(out), 'utf8') }
}

beforeAll(() => {
  writeFileSync(at('people.csv'), households.csv)
  writeFileSync(at('labels.csv'), ['id_l,id_r,match', ...listLabels(), ''].join('\n'))
})
afterAll(remove)

test('the cut of labels is marked as theirs, and the next training without labels removes it', async () => {
  const labelled = await train(writeLens('own.json', {}), 'labelled.yaml', '--labels', at('labels.csv'))
  expect(labelled.labels).toMatchObject({ moved: true })
  expect(labelled.text).toMatch(/"?threshold"?: /)
  expect(labelled.text).toMatch(/"?from_labels"?: \[ *"?threshold"?, "?clustering"? *\]/)
  expect(await runCommand(['resolve', 'lens', 'validate', at('labelled.yaml')])).toMatchObject({ exit: 0 })
  const again = await train(at('labelled.yaml'), 'again.yaml')
  expect(again.text).not.toMatch(/threshold|clustering|from_labels/)
  const twice = await train(at('labelled.yaml'), 'twice.yaml', '--labels', at('labels.csv'))
  const withoutHead = (text: string) => text.replace(/^#.*\n+/gm, '').replace(/1\.[12]\.0/, '')
  expect(withoutHead(twice.text)).toBe(withoutHead(labelled.text))
})

test('a way to cluster that a person chose stays, and so does a threshold without labels', async () => {
  const lens = writeLens('chosen.json', { clustering: 'connected_components', threshold: 9 })
  expect((await train(lens, 'plain.yaml')).text).toMatch(/"?threshold"?: 9\b/)
  const { labels, text } = await train(lens, 'kept.yaml', '--labels', at('labels.csv'))
  expect(text).toMatch(/"?clustering"?: "?connected_components/)
  expect(labels).toMatchObject({ moved: true })
  expect(text).toMatch(/"?from_labels"?: \[ *"?threshold"? *\]/)
  expect((await train(at('kept.yaml'), 'later.yaml')).text).toMatch(/"?clustering"?: "?connected_components/)
})

test('labels of matches alone move nothing, and the command says which labels lack', async () => {
  const matches = listLabels().filter((line) => line.endsWith(',1'))
  writeFileSync(at('matches.csv'), ['id_l,id_r,match', ...matches, ''].join('\n'))
  const words = ['resolve', 'lens', 'train', '--lens', writeLens('other.json', {}), '--data', at('people.csv')]
  const { stdout } = await runCommand([...words, '--labels', at('matches.csv'), '--out', at('other.yaml')])
  expect(stdout).toContain('as learnt without labels: only matches are labelled: label non-matches too')
  expect(stdout).not.toContain('by the labels')
  expect(readFileSync(at('other.yaml'), 'utf8')).not.toContain('from_labels')
})
