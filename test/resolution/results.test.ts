// Results of a resolution as files: the same in every form and every time, whole or absent, for any data.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readDataFile } from '../../daemon/offline/resolve/data-file.ts'
import { evaluateFiles } from '../../daemon/offline/resolve/evaluate-files.ts'
import { readLens } from '../../daemon/offline/resolve/lens/lens-file.ts'
import { type ResolveFilesOptions, resolveFiles } from '../../daemon/offline/resolve/resolve-files.ts'
import { createScratchFolder } from '../support/command/run-command.ts'
import { spawnCommand } from '../support/command/run-command-process.ts'
import { seededRandom } from '../support/random/seeded-random.ts'
import { repositoryRoot } from '../support/repository/source-tree.ts'
import { generatePeople } from '../support/resolution/generate-people.ts'

const { dir, remove } = createScratchFolder('results')
const at = (name: string) => path.join(dir, name)
const people = generatePeople(300, 3)
const lens = readLens('persons')
const quiet = () => undefined

beforeAll(() => {
  writeFileSync(at('people.csv'), people.csv)
  writeFileSync(at('truth.csv'), ['id,cluster', ...people.truth.map((each) => each.join(',')), ''].join('\n'))
})
afterAll(remove)

const run = (out: string, more: Partial<ResolveFilesOptions> = {}) =>
  resolveFiles({ lens, files: [at('people.csv')], out: at(out), seed: 0, ...more }, quiet)

/** All cells as text, row by row. */
async function readCells(file: string): Promise<string[][]> {
  const { columns, rows } = await readDataFile(file, () => true)
  const decoder = new TextDecoder()
  const texts = columns.map(({ codes, values }) => {
    return Array.from(codes, (code) => (code < 0 ? '' : stripTrailingZeros(decoder.decode(values.bytesOf(code)))))
  })
  return Array.from({ length: rows }, (_, row) => texts.map((column) => column[row] ?? ''))
}

/** Without the noughts at the end that a column of even width has. */
function stripTrailingZeros(text: string): string {
  return /^-?\d+\.\d+$/.test(text) ? String(Number(text)) : text
}

describe('the same results', () => {
  test('in every form, under the same names', async () => {
    await run('csv', { hasAllPairs: true })
    for (const format of ['parquet', 'jsonl'] as const) {
      await run(format, { format, hasAllPairs: true })
      for (const name of ['clusters', 'pairs']) {
        const [one, other] = [at(`csv/${name}.csv`), at(`${format}/${name}.${format}`)]
        expect((await readDataFile(other, () => true)).names).toEqual((await readDataFile(one, () => true)).names)
        expect(await readCells(other)).toEqual(await readCells(one))
      }
    }
    expect(readFileSync(at('csv/clusters.csv'), 'utf8').split('\n')[0]).toBe('source,id,cluster')
    expect(readFileSync(at('csv/pairs.csv'), 'utf8').split('\n')[0]).toBe('source_l,id_l,source_r,id_r,score,linked')
  })

  test('from every form of data', async () => {
    await run('plain')
    const [head = '', ...lines] = people.csv.trimEnd().split('\n')
    const names = head.split(',')
    const records = lines.map((line) => Object.fromEntries(line.split(',').map((cell, index) => [names[index], cell])))
    writeFileSync(at('people.jsonl'), records.map((record) => JSON.stringify(record)).join('\n'))
    await run('from-jsonl', { files: [at('people.jsonl')] })
    const clusters = readFileSync(at('from-jsonl/clusters.csv'), 'utf8')
    expect(clusters.replaceAll('people.jsonl', 'people.csv')).toBe(readFileSync(at('plain/clusters.csv'), 'utf8'))
  })

  test('byte by byte when they are made again, in every form', async () => {
    for (const format of ['csv', 'jsonl', 'parquet'] as const) {
      await run(`${format}-1`, { format, seed: 5 })
      await run(`${format}-2`, { format, seed: 5 })
      for (const file of readdirSync(at(`${format}-1`))) {
        expect(readFileSync(at(`${format}-2/${file}`)).equals(readFileSync(at(`${format}-1/${file}`))), file).toBe(true)
      }
    }
  })

  test('but for the numbers of clusters, for any order of records and files', async () => {
    const [head = '', ...lines] = people.csv.trimEnd().split('\n')
    const by = seededRandom(9)
    const order = lines.map((line) => ({ line, key: by.below(1_000_000) })).sort((a, b) => a.key - b.key)
    writeFileSync(at('shuffled.csv'), [head, ...order.map(({ line }) => line)].join('\n'))
    await run('shuffled', { files: [at('shuffled.csv')] })
    expect(await listMembers('shuffled')).toEqual(await listMembers('csv'))
  })
})

async function listMembers(out: string): Promise<string[]> {
  const members = new Map<string, string[]>()
  for (const [, id = '', cluster = ''] of await readCells(at(`${out}/clusters.csv`))) {
    members.set(cluster, [...(members.get(cluster) ?? []), id])
  }
  return [...members.values()].map((ids) => ids.sort().join(' ')).sort()
}

describe('data at the edge', () => {
  test.each([
    ['nothing but names', 'id,surname\n', 0],
    ['one record', 'id,surname\n1,a\n', 1],
    ['values that are all missing', `id,surname,city\n${'1,,\n2,,\n3,,\n'}`, 3],
    ['records that are all the same', `id,surname,city\n${'1,a,b\n2,a,b\n'}`, 2],
  ])('%s', async (what, text, records) => {
    writeFileSync(at('edge.csv'), text)
    const summary = await run(`edge ${what}`, { files: [at('edge.csv')] })
    expect(summary.records).toBe(records)
    expect((await readCells(at(`edge ${what}/clusters.csv`))).map(([, id]) => id)).toEqual(
      Array.from({ length: records }, (_, row) => String(row + 1)),
    )
  })

  test('a hundred thousand records of one name are not compared each with each', async () => {
    const lines = Array.from({ length: 100_000 }, (_, row) => `${row},smith,john,1980-01-01`)
    writeFileSync(at('block.csv'), ['id,surname,given_name,date_of_birth', ...lines].join('\n'))
    const summary = await run('block', { files: [at('block.csv')] })
    expect(summary.commonest).toEqual({ surname: 100_000, given_name: 100_000, date_of_birth: 100_000 })
    expect(summary.pairs_compared).toBeLessThan(10_000_000)
  })
})

test('results cannot distinguish two files of one name', async () => {
  const files = [at('people.csv'), path.join(dir, 'other', 'people.csv')]
  await expect(run('twice', { files })).rejects.toMatchObject({
    exit: 1,
    message: 'two files have the name people.csv',
  })
  expect(existsSync(at('twice'))).toBe(false)
})

describe('nothing that is not whole has the name of a result', () => {
  const words = (out: string) => ['resolve', 'run', '--lens', 'persons', '--data', at('people.csv'), '--out', at(out)]

  test('where the disk takes no more', () => {
    const node = path.join(repositoryRoot, 'node_modules/.bin/node')
    const command = [
      'ulimit -f 4',
      `exec "$0" ${[path.join(repositoryRoot, 'cli/main.ts'), ...words('full')].join(' ')}`,
    ]
    expect(() => execFileSync('bash', ['-c', command.join('; '), node], { stdio: 'pipe' })).toThrow(
      `${at('full/clusters.csv')} cannot be written: it exceeds the maximum file size`,
    )
    expect(existsSync(at('full'))).toBe(false)
  })

  test('where pairs cannot be written, clusters are taken away again', async () => {
    const wanted = { lens, files: [at('people.csv')], out: at('half'), seed: 0 }
    const running = resolveFiles(wanted, ({ phase }) => {
      if (phase === 'write') writeFileSync(at('half/pairs.csv.partial'), 'of another run')
    })
    await expect(running).rejects.toMatchObject({
      exit: 3,
      message: `another run writes to ${at('half/pairs.csv')}, or has written it`,
    })
    expect(readdirSync(at('half'))).toEqual(['pairs.csv.partial'])
  })

  test('where the progress callback ends it', async () => {
    for (const phase of ['read', 'compare', 'write']) {
      const ending = resolveFiles(
        { lens, files: [at('people.csv')], out: at(`ended-${phase}`), seed: 0 },
        (progress) => {
          if (progress.phase === phase) throw new Error(`ended at ${phase}`)
        },
      )
      await expect(ending).rejects.toThrow(`ended at ${phase}`)
      expect(existsSync(at(`ended-${phase}`))).toBe(false)
    }
  })

  test('where Ctrl-C ends it', async () => {
    const child = spawnCommand(words('ended'))
    child.stdin?.end()
    const closed = new Promise((resolve) => child.once('close', (_, signal) => resolve(signal)))
    while (!existsSync(at('ended')) && child.exitCode === null) await new Promise((resolve) => setImmediate(resolve))
    child.kill('SIGINT')
    expect(await closed).toBe('SIGINT')
    expect(readdirSync(at('ended')).filter((file) => !file.endsWith('.partial'))).toEqual([])
  })
})

describe('measures', () => {
  test('of a folder tell how many true pairs were compared, and the best threshold', async () => {
    await run('measured', { hasAllPairs: true })
    const { scored, pairs } = await evaluateFiles({ input: at('measured'), truth: at('truth.csv'), out: at('figures') })
    expect(scored?.has_all_pairs).toBe(true)
    expect(scored?.unit).toBe('bits')
    expect(scored?.blocking_recall).toBeGreaterThan(0.98)
    expect(scored?.best?.f1).toBeGreaterThan(0.95)
    expect(scored?.linked.precision).toBeCloseTo(pairs.precision, 1)
    expect(readdirSync(at('figures')).sort()).toEqual(['evaluation.json', 'sweep.csv', 'sweep.svg'])
    expect(readFileSync(at('figures/sweep.svg'), 'utf8').match(/<polyline/g)).toHaveLength(3)
  })

  test('of sources with the same ids ask for the source', async () => {
    writeFileSync(at('same.csv'), 'source,id,cluster\na,1,1\nb,1,1\na,2,2\n')
    writeFileSync(at('plain-truth.csv'), 'id,cluster\n1,x\n2,y\n')
    const found = at('same.csv')
    const evaluation = evaluateFiles({ input: found, truth: at('plain-truth.csv') })
    await expect(evaluation).rejects.toThrow('sources share ids')
    writeFileSync(at('named-truth.csv'), 'source_l,id_l,source_r,id_r\na,1,b,1\n')
    const { pairs, clusters } = await evaluateFiles({ input: found, truth: at('named-truth.csv') })
    expect([pairs.f1, clusters.f1]).toEqual([1, 1])
  })

  test.each([
    ['id_l,id_r,score\na,b,high\n', 'pair 1 has the score "high", which is not a number'],
    ['id_l,id_r,score\na,b,1\nb,a,2\n', 'contains a pair twice'],
    ['id_l,id_r\na,b\n', 'has no column score; it has id_l, id_r'],
    ['id_l;id_r;rank\na;b;1\n', 'has no column score; it has id_l, id_r, rank'],
    ['id_l,id_r,score\na,z,1\n', 'names "z", which was not resolved'],
  ])('of pairs that cannot be used say why: %j', async (text, pattern) => {
    writeFileSync(at('pairs.csv'), text)
    writeFileSync(at('two.csv'), 'id,cluster\na,1\nb,1\n')
    const measured = evaluateFiles({ input: at('two.csv'), truth: at('two.csv'), pairs: at('pairs.csv') })
    await expect(measured).rejects.toThrow(pattern)
  })
})

test('a truth of pairs with answers has the confirmed ones as matches', async () => {
  await run('answered')
  const members = Map.groupBy(people.truth, ([, entity]) => entity)
  const matches = [...members.values()].flatMap(([first, ...others]) => others.map(([id]) => `${first?.[0]},${id},1`))
  const [[one] = [], [other] = []] = [...members.values()].map(([first]) => first)
  writeFileSync(at('answers.csv'), ['id_l,id_r,match', ...matches, `${one},${other},0`, ''].join('\n'))
  const answered = await evaluateFiles({ input: at('answered'), truth: at('answers.csv') })
  expect(answered).toEqual(await evaluateFiles({ input: at('answered'), truth: at('truth.csv') }))
  writeFileSync(at('doubt.csv'), `id_l,id_r,match\n${one},${other},perhaps\n`)
  await expect(evaluateFiles({ input: at('answered'), truth: at('doubt.csv') })).rejects.toThrow(/match is "perhaps"/)
})
