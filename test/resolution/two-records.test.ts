// The smallest table, of two records: a run ends with a verdict and finite scores, and its report opens it.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createScratchFolder, runCommand } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('two-records')
afterAll(remove)
const at = (name: string) => path.join(dir, name)

test.each([
  ['like each other', 'Ann,Smith', 'Ann,Smith'],
  ['that differ', 'Ann,Smith', 'Bob,Smith'],
])('two records %s', async (name, left, right) => {
  writeFileSync(at('two.csv'), `id,first_name,surname\n1,${left}\n2,${right}\n`)
  const words = ['resolve', 'run', '--lens', 'persons', '--data', at('two.csv'), '--out', at(name), '--all-pairs']
  expect(await runCommand([...words, '--accept-poor'])).toMatchObject({ exit: 0, stderr: '' })
  const [, pair = ''] = readFileSync(at(`${name}/pairs.csv`), 'utf8').split('\n')
  expect(pair).toMatch(/^two\.csv,1,two\.csv,2,-?\d+\.\d+,(true|false)$/)
  expect(await runCommand(['resolve', 'report', at(name)])).toMatchObject({ exit: 0 })
})
