// Data of a command besides files: folders, patterns and standard input.
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findDataFiles } from '../../daemon/offline/resolve/reading/data-inputs.ts'
import { createScratchFolder, type Json, runCommand, runJsonCommand } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('data-inputs')
afterAll(remove)
const at = (name: string) => path.join(dir, name)
const table = (from: number) => `id,given_name,surname\n${from},Ann,Smith\n${from + 1},Bo,Jones\n`

const resolveRun = (words: readonly string[], out: string, ...more: string[]) => [
  ...['resolve', 'run', '--lens', 'persons', '--data', ...words, '--out', at(out)],
  ...more,
]
const namesOf = ({ sources }: Json) => sources.map(({ name }: Json) => name)

beforeAll(() => {
  mkdirSync(at('people/inner'), { recursive: true })
  writeFileSync(at('people/b.csv'), table(1))
  writeFileSync(at('people/a.jsonl'), '{"id":1,"given_name":"Ann","surname":"Smith"}\n')
  writeFileSync(at('people/.hidden.csv'), 'nothing')
  writeFileSync(at('people/~$b.csv'), 'nothing')
  writeFileSync(at('people/notes.txt'), 'nothing')
  writeFileSync(at('people/about.json'), '{}')
  writeFileSync(at('people/inner/c.csv'), table(3))
  writeFileSync(at('people/[1].csv'), table(5))
  execFileSync('mkfifo', [at('people/pipe.csv')])
  symlinkSync('b.csv', at('people/link.csv'))
  symlinkSync('gone.csv', at('people/broken.csv'))
  mkdirSync(at('empty'))
})

describe('a folder', () => {
  test('is its data files by name, and what is not read is named', async () => {
    const ended = await runCommand(resolveRun([at('people')], 'folder', '--json'))
    expect(ended.exit).toBe(0)
    expect(namesOf(JSON.parse(ended.stdout))).toEqual(['[1].csv', 'a.jsonl', 'b.csv', 'link.csv'])
    expect(ended.stderr).toContain('notes.txt is not read: the format cannot be inferred from the ending (.csv, ')
    expect(ended.stderr).toContain(
      'about.json is not read: a document of JSON or XML; name the file itself if it has records',
    )
    expect(ended.stderr).toContain('inner is not read: a folder; name it too')
    expect(ended.stderr).toContain('broken.csv, pipe.csv are not read: not a file')
    expect(ended.stderr).not.toContain('hidden')
  })

  test('without data files is refused', async () => {
    const ended = await runCommand(resolveRun([at('empty')], 'never'))
    expect(ended).toMatchObject({ exit: 1, stdout: '' })
    expect(ended.stderr).toContain(`${at('empty')} has no data file\n  data files in a folder end with .csv`)
  })

  test('is taken by every command that takes data', async () => {
    const profile = await runJsonCommand(['resolve', 'lens', 'init', '--data', at('people'), '--out', at('lens.yaml')])
    expect(profile.sources).toHaveLength(4)
    const words = ['resolve', 'lens', 'charts', '--lens', 'persons', '--data', at('people'), '--blocking']
    expect((await runCommand(words)).exit).toBe(0)
  })
})

describe('a pattern', () => {
  test('is the files that match, by name, in folders as well', () => {
    const remark = (text: string) => expect.unreachable(text)
    expect(findDataFiles([at('people/*.jsonl')], remark)).toEqual([at('people/a.jsonl')])
    expect(findDataFiles([at('people/**/[bc].csv')], remark)).toEqual([at('people/b.csv'), at('people/inner/c.csv')])
    expect(findDataFiles([at('people/{b,inner/c}.csv')], remark)).toHaveLength(2)
  })

  test('that is the name of a file is this file', () => {
    expect(findDataFiles([at('people/[1].csv')], () => undefined)).toEqual([at('people/[1].csv')])
  })

  test('that matches nothing is refused', async () => {
    const ended = await runCommand(resolveRun([at('people/*.parquet')], 'never'))
    expect(ended).toMatchObject({ exit: 1, stdout: '' })
    expect(ended.stderr).toContain(`no file matches ${at('people/*.parquet')}`)
  })

  test('leads to a pipe only to say so', async () => {
    const ended = await runCommand(resolveRun([at('people/p*.csv')], 'never'))
    expect(ended.stderr).toContain('pipe.csv cannot be read: it is a pipe, not a file')
  })
})

describe('standard input', () => {
  test('is a source of its own, in any encoding', async () => {
    const input = Buffer.from('id;given_name;surname\n1;Jürgen;Groß\n2;Änne;Weiß\n', 'latin1')
    const ended = await runCommand(resolveRun(['-', at('people/b.csv')], 'input', '--json'), { input })
    expect(ended.stderr).toBe('stdin was read as Windows-1252 (--encoding states another); values between semicolons\n')
    expect(namesOf(JSON.parse(ended.stdout))).toEqual(['stdin', 'b.csv'])
    expect(readFileSync(at('input/clusters.csv'), 'utf8')).toContain('\nstdin,2,')
  })

  test('is of another format if that is stated, and leaves no file', async () => {
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('platform-stdin-'))
    const input = '{"id":1,"surname":"Smith"}\n{"id":2}{\n'
    const ended = await runCommand(resolveRun(['-'], 'lines', '--data-format', 'jsonl'), { input })
    expect(ended.stderr).toContain('standard input, line 2: the line is not JSON')
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('platform-stdin-'))).toEqual(before)
  })

  test('that is a terminal, or is named twice, is refused', async () => {
    const ended = await runCommand(resolveRun(['-'], 'never'), { input: null })
    expect(ended).toMatchObject({ exit: 2 })
    expect(ended.stderr).toContain('standard input is a terminal\n  pipe the data into the command')
    expect(await runCommand(resolveRun(['-', '-'], 'never'))).toMatchObject({ exit: 2 })
  })

  test('comes through a pipe of the operating system', async () => {
    const script = `import { processTerminal } from ${JSON.stringify(path.resolve('cli/terminal/terminal.ts'))}
import { runProgram } from ${JSON.stringify(path.resolve('cli/program/program.ts'))}
process.exitCode = await runProgram(process.argv.slice(1), processTerminal())`
    const words = resolveRun(['-'], 'piped', '--make-ids', '--json')
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, '--', ...words])
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.stdin.write('given_name,surname\n')
    for (let row = 0; row < 2_000; row++) child.stdin.write(`Ann${row},Smith${row % 50}\n`)
    child.stdin.end()
    await new Promise((resolve) => child.on('close', resolve))
    expect(JSON.parse(Buffer.concat(chunks).toString()).records).toBe(2_000)
  })
})

test('a column that is named and not there is refused, and so are data without any column of the lens', async () => {
  writeFileSync(at('named.csv'), 'id,First name,Surname\n1,Ann,Smith\n2,Bob,Smith\n')
  const words = resolveRun([at('named.csv')], 'named', '--columns', 'surname=Surnam', 'given_name=First name')
  const absent = await runCommand(words)
  expect(absent).toMatchObject({ exit: 1, stdout: '' })
  expect(absent.stderr).toContain('named.csv has no column Surnam; it has id, First name, Surname')
  writeFileSync(at('none.csv'), 'id,Rufname,Nachname\n1,Ann,Smith\n2,Bob,Smith\n')
  const none = await runCommand(resolveRun([at('none.csv')], 'none'))
  expect(none.exit).toBe(1)
  expect(none.stderr).toMatch(/none.csv has none of the columns that the lens names: it has id, Rufname, Nachname\n/)
  expect(none.stderr).toContain('fields of the lens: given_name, surname, ')
  expect(none.stderr).toContain('--columns given_name=COLUMN')
})
