// Mistakes at the start of a run: what to write is named, and no folder is left behind.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScratchFolder, runCommand } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('mistakes')
afterAll(remove)
const at = (name: string) => path.join(dir, name)

beforeAll(() => {
  writeFileSync(at('twice.csv'), 'id,surname\n1,Smith\n1,Hill\n')
  writeFileSync(at('entities.jsonl'), '')
})

const data = ['--lens', 'persons', '--data', at('twice.csv')]
const commands: readonly (readonly [string, readonly string[]])[] = [
  ['run', ['resolve', 'run', ...data]],
  ['match', ['resolve', 'match', ...data, '--registry', at('entities.jsonl')]],
  ['lens charts', ['resolve', 'lens', 'charts', ...data]],
]

describe.each(commands)('a failed %s', (_, words) => {
  test('leaves no folder that it created', async () => {
    const ended = await runCommand([...words, '--out', at('new/inner/out')])
    expect(ended.exit).not.toBe(0)
    expect(ended.stderr).toContain('error: ')
    expect(existsSync(at('new'))).toBe(false)
  })

  test('leaves a folder that was there', async () => {
    mkdirSync(at('there/out'), { recursive: true })
    const inside = await runCommand([...words, '--out', at('there/out')])
    expect(inside.stderr).toContain('error: ')
    expect(readdirSync(at('there/out'))).toEqual([])
    await runCommand([...words, '--out', at('there/below')])
    expect(readdirSync(at('there'))).toEqual(['out'])
  })

  test('leaves a folder with files as it is', async () => {
    mkdirSync(at('full'), { recursive: true })
    writeFileSync(at('full/notes.txt'), 'mine')
    expect(await runCommand([...words, '--out', at('full')])).toMatchObject({ exit: 3 })
    expect(readdirSync(at('full'))).toEqual(['notes.txt'])
  })
})

test.each([
  ['run', ['run', '--data', 'a.csv', '--out', 'out']],
  ['label', ['label', '--data', 'a.csv']],
  ['lens train', ['lens', 'train', '--data', 'a.csv']],
  ['lens charts', ['lens', 'charts', '--data', 'a.csv']],
])('%s without a lens names the shipped ones, and how to make one', async (_, words) => {
  const ended = await runCommand(['resolve', ...words])
  expect(ended).toMatchObject({ exit: 2, stdout: '' })
  expect(ended.stderr).toContain("required option '--lens <LENS>' not specified")
  expect(ended.stderr).toContain('name a shipped lens (persons, bibliography, products) or a lens file')
  expect(ended.stderr).toContain('`platform resolve lens init --data FILE --out lens.yaml`')
})

test('another missing option has no such remedy', async () => {
  const ended = await runCommand(['resolve', 'run', '--lens', 'persons', '--data', 'a.csv'])
  expect(ended.stderr).toContain("required option '--out <DIR>' not specified")
  expect(ended.stderr).not.toContain('shipped lens')
})
