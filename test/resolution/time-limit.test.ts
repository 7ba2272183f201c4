// A run of files reports its progress, and ends where its callback throws: nothing is left behind.
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { definition } from '../../cli/commands/resolve/run.ts'
import type { Terminal } from '../../cli/terminal/terminal.ts'
import { readLens } from '../../daemon/offline/resolve/lens/lens-file.ts'
import { resolveFiles } from '../../daemon/offline/resolve/resolve-files.ts'
import { createScratchFolder } from '../support/command/run-command.ts'
import { seededRandom } from '../support/random/seeded-random.ts'
import { generatePeople } from '../support/resolution/generate-people.ts'

const { dir, remove } = createScratchFolder('time-limit')
afterAll(remove)
const at = (name: string) => path.join(dir, name)

function writeData(name: string, content: string): string {
  writeFileSync(at(name), content)
  return at(name)
}

/** So many fields that their keys are too many to look at for all records, as those of a few fields are of millions. */
function buildManyFields() {
  const by = seededRandom(3)
  const names = Array.from({ length: 14 }, (_, field) => `f${field}`)
  const two = (below: number) => String(1 + by.below(below)).padStart(2, '0')
  const rows = Array.from({ length: 9_000 }, (_, row) =>
    [row, ...names.map(() => `19${two(98)}-${two(12)}-${two(28)}`)].join(','),
  )
  const lens = {
    lens: 'wide',
    version: '1.0.0',
    entity_type: 'thing',
    fields: names.map((name) => ({ name, type: 'date' })),
  }
  return {
    lens: writeData('wide.json', JSON.stringify(lens)),
    data: writeData('wide.csv', [`id,${names}`, ...rows].join('\n')),
  }
}

const works = Array.from({ length: 60 }, (_, at) => `${at},the work of number ${at} and ${at * 7}`).join('\n')

test.each([
  ['people', () => ({ lens: 'persons', data: writeData('people.csv', generatePeople(200, 5).csv) }), ['cluster']],
  ['many records', buildManyFields, ['cluster']],
  ['texts', () => ({ lens: 'bibliography', data: writeData('works.csv', `id,title\n${works}\n`) }), ['cluster']],
  [
    'two sources of texts',
    () => ({
      lens: 'bibliography',
      data: ['a', 'b'].map((source) => writeData(`works-${source}.csv`, `id,title\n${works}\n`)),
    }),
    ['link'],
  ],
])('%s: in every phase', async (name, made, last) => {
  const { lens, data } = made()
  const out = at(`out-${name}`)
  const run = (tell: (phase: string) => void) =>
    resolveFiles({ lens: readLens(lens), files: [data].flat(), out, seed: 0 }, (progress) => tell(progress.phase))
  for (const phase of ['read', 'candidates', 'compare', 'train', ...last, 'write']) {
    const ended = run((now) => {
      if (now === phase) throw new Error(`waited until ${phase}`)
    })
    await expect(ended).rejects.toThrow(`waited until ${phase}`)
    expect(existsSync(out)).toBe(false)
  }
})

test('the command says where it gave up, and what may be done', async () => {
  // Every look at the clock is half a second later than the last.
  let now_ms = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now_ms += 500))
  const data = [writeData('few.csv', generatePeople(50, 5).csv)]
  const options = {
    lens: 'persons',
    data,
    source: [],
    out: at('late'),
    columns: [],
    idField: [],
    allPairs: false,
    json: false,
    seed: 0,
    timeLimit: 2,
  }
  const terminal = { progress: () => undefined } as unknown as Terminal
  await expect(definition.run(options as never, terminal)).rejects.toMatchObject({
    exit: 1,
    message: expect.stringMatching(/^the run exceeded its time limit of 2 s, at .*[a-z]/),
    remedy: 'raise --time-limit',
  })
  clock.mockRestore()
})
