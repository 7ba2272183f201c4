// A result says without labels how right it is, and a poor one is neither silent nor kept.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { generateHouseholds } from '../support/resolution/generate-households.ts'
import { generateOffers } from '../support/resolution/generate-offers.ts'
import { generatePeople } from '../support/resolution/generate-people.ts'

const { dir, remove } = createScratchFolder('resolution-quality')
afterAll(remove)
const at = (name: string) => path.join(dir, name)

function write(name: string, text: string): string {
  writeFileSync(at(name), text)
  return at(name)
}

const readHeading = (folder: string) => readFileSync(path.join(at(folder), 'clusters.csv'), 'utf8').split('\n')[0]

describe('of families of variants without any duplicate', () => {
  // 2,000 records, each of another variant.
  const data = write('variants.csv', generateOffers(2_000, 0, 6).csv)
  const words = (out: string) => ['resolve', 'run', '--lens', 'products', '--data', data, '--out', at(out)]

  test('there are few links, the result is poor, and its files are complete', async () => {
    const { exit, stdout, stderr } = await runCommand([...words('poor'), '--json'])
    expect(exit).toBe(6)
    const summary = JSON.parse(stdout)
    expect(summary).toEqual(JSON.parse(readFileSync(path.join(at('poor'), 'run.json'), 'utf8')))
    expect(summary.records_in_clusters).toBeLessThan(200)
    expect(summary.quality).toMatchObject({ verdict: 'poor', poor_in: ['precision'], route_reason: 'single_matches' })
    expect(summary.quality.precision.low).toBeLessThan(0.1)
    expect(stderr).toMatch(
      /the result is poor: the estimated precision is \S+, and at least 0.6 is needed\n.*--decisions.*--accept-poor/,
    )
  })

  test('the text for people says what is wrong and why', async () => {
    const { stdout } = await runCommand(words('printed'))
    expect(stdout).toMatch(/method +no record seems to have two matches/)
    expect(stdout).toMatch(
      /result +poor: about .* of the matches found are right, .*; the estimated precision is \S+, and at least 0.6 is needed/,
    )
    expect(stdout).toMatch(/compared +\d+ pairs of records, of which about \S+ % match/)
    expect(stdout).toMatch(/next +platform resolve report '?\S+printed/)
    expect(stdout).toMatch(/decided by +name \(\S+ bits\)/)
  })

  test('a registry takes it only if it is accepted', async () => {
    const registry = at('offers.registry')
    const refused = await runCommand([...words('unregistered'), '--registry', registry])
    expect(refused).toMatchObject({
      exit: 6,
      stderr: expect.stringContaining(`the registry ${registry} was not written`),
    })
    expect(existsSync(registry)).toBe(false)
    expect(readHeading('unregistered')).toBe('source,id,cluster')
    const accepted = await runCommand([...words('registered'), '--registry', registry, '--accept-poor'])
    expect(accepted).toMatchObject({ exit: 0, stderr: '' })
    expect(existsSync(registry)).toBe(true)
    expect(readHeading('registered')).toBe('source,id,cluster,entity')
  })
})

type Truth = readonly (readonly [id: string, entity: number])[]

async function compareWithTruth(name: string, lens: string, csv: string, truth: Truth) {
  const truthFile = write(`${name}-truth.csv`, ['id,cluster', ...truth.map((row) => row.join(',')), ''].join('\n'))
  const words = ['resolve', 'run', '--lens', lens, '--data', write(`${name}.csv`, csv), '--out', at(name)]
  const { quality } = await runJsonCommand(words)
  const { pairs } = await runJsonCommand(['resolve', 'evaluate', at(name), '--truth', truthFile])
  return { quality, pairs }
}

describe('the estimates are near the truth of', () => {
  test.each([
    ['people of three records each', 'persons', () => generatePeople(1_500, 3)],
    ['people of whom few have a second record', 'persons', () => generatePeople(1_500, 4, 1)],
    ['offers of which most have a duplicate', 'products', () => generateOffers(3_000, 0.8, 5)],
    ['offers of which few have a duplicate', 'products', () => generateOffers(3_000, 0.06, 5)],
  ])('%s', async (name, lens, generate) => {
    const { csv, truth } = generate()
    const { quality, pairs } = await compareWithTruth(name, lens, csv, truth)
    expect(Math.abs(quality.precision.value - pairs.precision)).toBeLessThan(0.1)
    expect(quality.precision.low).toBeLessThanOrEqual(pairs.precision)
    expect(quality.recall.low).toBeLessThanOrEqual(pairs.recall)
  })
})

test('the bits of the fields and the prior make up the mean score of the links', async () => {
  const data = write('carried.csv', generatePeople(500, 5).csv)
  const words = ['resolve', 'run', '--lens', 'persons', '--data', data, '--out', at('carried'), '--all-pairs']
  const { carried_by, prior } = (await runJsonCommand(words)).quality
  const lines = readFileSync(path.join(at('carried'), 'pairs.csv'), 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
  const scores = lines.map((line) => line.split(',')).filter((cells) => cells[5] === 'true')
  const mean = scores.reduce((sum, cells) => sum + Number(cells[4]), 0) / scores.length
  const bits = carried_by.reduce((sum: number, field: { bits: number }) => sum + field.bits, 0)
  expect(bits + Math.log2(prior.share / (1 - prior.share))).toBeCloseTo(mean, 1)
})

test('records that the fields do not tell apart are a poor result', async () => {
  const places = [
    'Norwich,Norfolk',
    'Ipswich,Suffolk',
    'Colchester,Essex',
    'Cambridge,Cambridgeshire',
    'York,Yorkshire',
  ]
  const rows = Array.from({ length: 150 }, (_, row) => `r${row},${places[row % places.length]},N${row % places.length}`)
  const data = write('places.csv', ['id,town,county,area', ...rows, ''].join('\n'))
  const fields = ['town', 'county', 'area'].map((name) => `  - { name: ${name}, type: name }`)
  const head = ['lens: places', 'version: 1.0.0', 'entity_type: person', 'threshold: -10', 'fields:']
  const lens = write('places.yaml', [...head, ...fields, ''].join('\n'))
  const words = ['resolve', 'run', '--lens', lens, '--data', data, '--out', at('places'), '--json']
  const { exit, stdout } = await runCommand(words)
  expect(JSON.parse(stdout).quality).toMatchObject({ verdict: 'poor', poor_in: expect.arrayContaining(['division']) })
  expect(exit).toBe(6)
})

test.each([-10, -12, -14, -20, -200])('a threshold of %d bits does not pass for a good result', async (threshold) => {
  const head = ['lens: loose', 'version: 1.0.0', 'entity_type: person', `threshold: ${threshold}`, 'fields:']
  const fields = ['given_name', 'surname', 'city'].map((name) => `  - { name: ${name}, type: name }`)
  const lens = write('loose.yaml', [...head, ...fields, ''].join('\n'))
  const data = write('loose.csv', generatePeople(300, 9).csv)
  const words = ['resolve', 'run', '--lens', lens, '--data', data, '--out', at(`loose${threshold}`), '--json']
  const { exit, stdout } = await runCommand(words)
  expect(JSON.parse(stdout).quality.verdict).toBe('poor')
  expect(exit).toBe(6)
})

test('decisions count as known, and the result that they correct is not poor', async () => {
  const { csv, truth } = generateOffers(300, 0, 6)
  const data = write('corrected.csv', csv)
  const words = (out: string) => ['resolve', 'run', '--lens', 'products', '--data', data, '--out', at(out)]
  await runCommand([...words('uncorrected'), '--accept-poor', '--all-pairs'])
  const pairs = readFileSync(path.join(at('uncorrected'), 'pairs.csv'), 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
  const linked = pairs.map((line) => line.split(',')).filter((cells) => cells[5] === 'true')
  const product = new Map(truth)
  expect(linked.length).toBeGreaterThan(0)
  const rows = linked.map(([, left = '', , right = '']) => {
    return `${left},${right},${product.get(left) === product.get(right) ? 'confirm' : 'reject'}`
  })
  const decisions = write('corrections.csv', ['id_l,id_r,decision', ...rows, ''].join('\n'))
  const { quality } = await runJsonCommand([...words('corrected'), '--decisions', decisions])
  expect(quality.verdict).not.toBe('poor')
})

test('a result without links does not split the entities of a registry', async () => {
  const data = write('kept.csv', generatePeople(100, 12).csv)
  const registry = at('kept.registry')
  const words = (lens: string, out: string) => {
    return ['resolve', 'run', '--lens', lens, '--data', data, '--registry', registry, '--out', at(out)]
  }
  const head = ['lens: kept', 'version: 1.0.0', 'entity_type: person']
  const fields = ['given_name', 'surname', 'date_of_birth', 'email'].map((name) => `  - { name: ${name}, type: name }`)
  const lens = write('kept.yaml', [...head, 'fields:', ...fields, ''].join('\n'))
  await runJsonCommand(words(lens, 'kept'))
  const before = readFileSync(registry)
  const strict = write('strict.yaml', [...head, 'threshold: 500', 'fields:', ...fields, ''].join('\n'))
  const { exit, stderr } = await runCommand(words(strict, 'strict'))
  expect([exit, stderr]).toEqual([6, expect.stringContaining('the registry has entities of several records')])
  expect(readFileSync(registry)).toEqual(before)
})

test('a result that joins families is poor, and says which name differs', async () => {
  const { csv, truth } = generateHouseholds(200, 0.2, 3)
  const lens = at('households.yaml')
  await runCommand(['resolve', 'lens', 'init', '--data', write('households.csv', csv), '--out', lens])
  const { exit, stdout, stderr } = await runCommand(householdWords(lens, 'joined'))
  const { quality } = JSON.parse(stdout)
  expect(exit).toBe(6)
  expect(stderr).toMatch(/the result is poor: \d+ % of the linked pairs differ in given, .*label some pairs/)
  expect(quality).toMatchObject({ verdict: 'poor', poor_in: ['precision'], differing_name: { field: 'given' } })
  const truthFile = write('households-truth.csv', ['id,cluster', ...truth.map((row) => row.join(',')), ''].join('\n'))
  const { pairs } = await runJsonCommand(['resolve', 'evaluate', at('joined'), '--truth', truthFile])
  expect(Math.abs(quality.precision.value - pairs.precision)).toBeLessThan(0.1)
})

test('a name that belongs to nobody in particular may differ', async () => {
  const { csv } = generatePeople(300, 14)
  const [heading, ...lines] = csv.trimEnd().split('\n')
  const clerks = lines.map((line, row) => `${line},${['Ada', 'Bo', 'Cy', 'Di', 'Ed', 'Fay'][row % 6]}`)
  const data = write('clerks.csv', [`${heading},clerk`, ...clerks, ''].join('\n'))
  const lens = at('clerks.yaml')
  const head = ['lens: clerks', 'version: 1.0.0', 'entity_type: person', 'fields:']
  const fields = ['given_name', 'surname', 'email', 'clerk'].map((name) => `  - { name: ${name}, type: name }`)
  writeFileSync(lens, [...head, '  - { name: date_of_birth, type: date }', ...fields, ''].join('\n'))
  const { quality } = await runJsonCommand(['resolve', 'run', '--lens', lens, '--data', data, '--out', at('clerks')])
  expect(quality.differing_name).toBeUndefined()
  expect(quality.verdict).toBe('good')
})

function householdWords(lens: string, out: string): string[] {
  return ['resolve', 'run', '--lens', lens, '--data', at('households.csv'), '--out', at(out), '--json']
}

/** Each person is written down once. */
function generateSingles(count: number, seed: number): string {
  const { csv, truth } = generatePeople(count, seed)
  const [heading = '', ...lines] = csv.trimEnd().split('\n')
  const seen = new Set<number>()
  const firsts = lines.filter((_, row) => {
    const person = truth[row]?.[1] ?? -1
    return !seen.has(person) && seen.add(person)
  })
  return [heading, ...firsts, ''].join('\n')
}

test.each([200, 2_000])(
  '%d people without a match, many of whom have similar names, are a poor result',
  async (count) => {
    const data = write(`singles-${count}.csv`, generateSingles(count, count))
    const words = ['resolve', 'run', '--lens', 'persons', '--data', data, '--out', at(`singles-${count}`), '--json']
    const { exit, stdout } = await runCommand(words)
    expect(JSON.parse(stdout).quality).toMatchObject({ verdict: 'poor', poor_in: ['precision'] })
    expect(exit).toBe(6)
  },
)

test('a registry takes clusters that decisions alone made', async () => {
  const data = write('few.csv', ['id,given_name,surname', 'a,Ada,Quirk', 'b,Bo,Zimmer', 'c,Cyrus,Hall', ''].join('\n'))
  const decisions = write('few-decisions.csv', 'id_l,id_r,decision\na,b,confirm\n')
  const words = ['resolve', 'run', '--lens', 'persons', '--data', data, '--decisions', decisions]
  for (const turn of [1, 2]) {
    const options = ['--registry', at('few.registry'), '--out', at(`few-${turn}`)]
    expect(await runJsonCommand([...words, ...options])).toMatchObject({ clusters: 1, registry: 'written' })
  }
})

test('nothing is linked where nothing is alike, and the command succeeds', async () => {
  const rows = ['Ada,Quirk,1901-02-03,Perth', 'Bo,Zimmer,1955-11-30,Oslo', 'Cyrus,Halloran,1988-07-19,Lima']
  const lines = rows.map((row, at) => `p${at},${row}`)
  const data = write('unlike.csv', ['id,given_name,surname,date_of_birth,city', ...lines, ''].join('\n'))
  const { quality } = await runJsonCommand([
    'resolve',
    'run',
    '--lens',
    'persons',
    '--data',
    data,
    '--out',
    at('unlike'),
  ])
  expect(quality).toMatchObject({ verdict: 'no_links', links: 0, doubtful: { count: 0, worst: [] } })
})
