// A run with labels estimates its precision and recall from them, beside the estimates without labels.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openLabelSession } from '../../daemon/offline/resolve/label/label-session.ts'
import { readLens } from '../../daemon/offline/resolve/lens/lens-file.ts'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { generateHouseholds } from '../support/resolution/generate-households.ts'

const { dir, remove } = createScratchFolder('label-estimates')
const at = (name: string) => path.join(dir, name)
const { csv, truth } = generateHouseholds(200, 0.1, 1)
const personOf = new Map(truth)

beforeAll(async () => {
  writeFileSync(at('people.csv'), csv)
  writeFileSync(at('truth.csv'), ['id,cluster', ...truth.map((row) => row.join(',')), ''].join('\n'))
  const fields = Object.entries({ given: 'name', surname: 'name', street: 'place', phone: 'code' })
  const lens = { lens: 'own', version: '1.0.0', entity_type: 'person' }
  writeFileSync(at('lens.yaml'), JSON.stringify({ ...lens, fields: fields.map(([name, type]) => ({ name, type })) }))
  const session = await openLabelSession(
    {
      ...{ lens: readLens(at('lens.yaml')), files: [at('people.csv')], reading: {}, seed: 1 },
      ...{ labels: at('labels.csv'), wanted: 100 },
    },
    () => undefined,
  )
  for (let pair = session.current(); pair; pair = session.current())
    session.answer(personOf.get(pair.left.id) === personOf.get(pair.right.id) ? 'match' : 'no_match')
  session.close()
})
afterAll(remove)

const run = (lens: string, out: string, labels = 'labels.csv') =>
  ['resolve', 'run', '--lens', at(lens), '--data', at('people.csv'), '--out', at(out), '--labels'].concat(at(labels))

async function measure(out: string) {
  const { quality } = JSON.parse(readFileSync(path.join(at(out), 'run.json'), 'utf8'))
  const { pairs } = await runJsonCommand(['resolve', 'evaluate', at(out), '--truth', at('truth.csv')])
  return { quality, pairs }
}

test('labels show that a result is poor, and decide its verdict', async () => {
  const { exit, stdout, stderr } = await runCommand(run('lens.yaml', 'found'))
  expect(exit).toBe(6)
  expect(stdout).toMatch(/poor: by 100 labels, about .* of the matches found are right.*; without labels, about/)
  const { quality, pairs } = await measure('found')
  expect(Math.abs(quality.by_labels.precision.value - pairs.precision)).toBeLessThan(0.1)
  expect(stderr).toContain(
    `the estimated precision is ${quality.by_labels.precision.value}, and at least 0.6 is needed`,
  )
})

test('the estimates of a result that follows the labels are near its truth', async () => {
  const words = ['resolve', 'lens', 'train', '--lens', at('lens.yaml'), '--data', at('people.csv')]
  await runJsonCommand([...words, '--labels', at('labels.csv'), '--out', at('trained.yaml')])
  await runJsonCommand(run('trained.yaml', 'trained'))
  const { quality, pairs } = await measure('trained')
  expect(quality.by_labels.labels).toBeGreaterThan(90)
  for (const name of ['precision', 'recall'] as const) {
    const { value, low, high } = quality.by_labels[name]
    // A hundred labels, of which most are far from the matches, do not know a share better.
    expect(Math.abs(value - pairs[name])).toBeLessThan(0.15)
    expect(low).toBeLessThanOrEqual(pairs[name])
    expect(high).toBeGreaterThanOrEqual(pairs[name])
  }
})

test('a few labels are counted, and estimate nothing', async () => {
  const lines = readFileSync(at('labels.csv'), 'utf8').split('\n')
  writeFileSync(at('few.csv'), [...lines.slice(0, 6), ''].join('\n'))
  const { stdout } = await runCommand([...run('lens.yaml', 'few', 'few.csv'), '--accept-poor'])
  expect(stdout).toContain('5 labelled pairs were compared, too few to estimate by')
  const { quality } = await measure('few')
  expect(quality.by_labels).toEqual({ labels: 5, matches: expect.any(Number) })
})

test('a file without answers is refused, with the command that takes it', async () => {
  const { exit, stderr } = await runCommand(run('lens.yaml', 'refused', 'truth.csv'))
  expect(exit).toBe(1)
  expect(stderr).toContain('has no column of answers: match or decision')
  expect(stderr).toContain('platform resolve evaluate')
})
