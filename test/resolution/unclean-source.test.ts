// A table with duplicates beside one without: the duplicates of the first are found too, not only links between both.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createScratchFolder, runJsonCommand } from '../support/command/run-command.ts'
import { generatePeople } from '../support/resolution/generate-people.ts'

const { dir, remove } = createScratchFolder('unclean-source')
const at = (name: string) => path.join(dir, name)
afterAll(remove)

test('duplicates within a source are joined beside a source that has none', async () => {
  const people = generatePeople(300, 11, 2)
  const [header, ...lines] = people.csv.trimEnd().split('\n')
  const [full, branch] = [[header], [header]]
  const seen = new Set<number>()
  for (const [row, [, person]] of people.truth.entries()) {
    const isFirst = person < 60 && !seen.has(person)
    seen.add(person)
    ;(isFirst ? branch : full).push(lines[row])
  }
  writeFileSync(at('full.csv'), full.join('\n'))
  writeFileSync(at('branch.csv'), branch.join('\n'))

  const data = ['--data', at('full.csv'), at('branch.csv')]
  const { reason } = await runJsonCommand(['resolve', 'run', '--lens', 'persons', ...data, '--out', at('out')])
  expect(reason).not.toBe('clean_sources')

  const personOf = new Map(people.truth)
  const clusterOf = new Map(
    readFileSync(at('out/clusters.csv'), 'utf8')
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(',').slice(1) as [string, string]),
  )
  const ids = full.slice(1).map((line) => String(line?.split(',')[0]))
  const pairs = ids.flatMap((left, position) => ids.slice(position + 1).map((right) => [left, right] as const))
  const same = pairs.filter(([left, right]) => personOf.get(left) === personOf.get(right))
  const joined = same.filter(([left, right]) => clusterOf.get(left) === clusterOf.get(right))
  expect(same.length).toBeGreaterThan(100)
  expect(joined.length / same.length).toBeGreaterThan(0.9)
})
