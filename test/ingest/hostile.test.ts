// Files that are broken, or made to harm a reader: a clear refusal, and nothing is written.
import { existsSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { hostileFiles } from '../support/ingest/hostile-files.ts'

const { dir, remove } = createScratchFolder('hostile-data')
afterAll(remove)
const at = (name: string) => path.join(dir, name)

test.each(hostileFiles)('%s', async (_, name, content, message) => {
  writeFileSync(at(name), content)
  const ended = await runCommand(['ingest', 'land', at(name), '--out', at('out')])
  expect(ended).toMatchObject({ exit: 1, stdout: '' })
  expect(ended.stderr).toMatch(message)
  expect([existsSync(at('out')), readdirSync(dir).filter((each) => each.endsWith('.partial'))]).toEqual([false, []])
})

test('a gigabyte without a line end', async () => {
  writeFileSync(at('sparse.csv'), 'a,b\n')
  truncateSync(at('sparse.csv'), 1_073_741_824)
  const ended = await runCommand(['ingest', 'land', at('sparse.csv'), '--out', at('out')])
  expect(ended).toMatchObject({ exit: 1, stdout: '' })
  expect(ended.stderr).toMatch(/sparse\.csv/)
  expect(existsSync(at('out'))).toBe(false)
})

test('names of columns that a terminal or a file system would obey are names', async () => {
  writeFileSync(at('names.csv'), '../../etc/passwd,"\u001b[2J",__proto__\n1,2,3\n')
  const { columns } = await runJsonCommand(['ingest', 'land', at('names.csv'), '--out', at('names')])
  expect(columns.map(({ name }: { name: string }) => name)).toEqual(['../../etc/passwd', '\u001b[2J', '__proto__'])
  const { stdout } = await runCommand(['ingest', 'land', at('names.csv'), '--out', at('again')])
  expect(stdout).not.toContain('\u001b[2J')
  expect(readdirSync(at('names')).sort()).toEqual(['data-00001.parquet', 'dataset.json', 'origins-1.jsonl'])
})
