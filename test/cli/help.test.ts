// Holds what every command promises: help with an example, one definition whose words are its path, JSON for scripts.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Params } from '../../cli/program/command.ts'
import { commandCatalogue } from '../../cli/program/command-catalogue.ts'
import { commandGroups } from '../../cli/program/command-groups.ts'
import { misplacedWords } from '../../cli/program/misplaced-words.ts'
import { runProgram } from '../../cli/program/program.ts'
import type { Terminal } from '../../cli/terminal/terminal.ts'
import { repositoryRoot } from '../support/repository/source-tree.ts'

const all = Object.entries(commandCatalogue)

/** Commands that always print JSON, a script, or nothing. */
const withoutJson = new Set(['serve', 'completion', 'admin'])

function createRecorder(terminalOptions: Partial<Pick<Terminal, 'isInteractive' | 'width' | 'env'>> = {}) {
  const lines: string[] = []
  const notes: string[] = []
  const terminal: Terminal = {
    env: {},
    isInteractive: false,
    canPrompt: false,
    hasColour: false,
    width: 120,
    ...terminalOptions,
    print: (line) => void lines.push(line),
    note: (line) => void notes.push(line),
    progress: () => undefined,
    prompt: async () => undefined,
    promptSecret: async () => undefined,
    readInput: async () => undefined,
    inputBytes: () => undefined,
  }
  return { terminal, stdout: () => lines.join('\n'), stderr: () => notes.join('\n') }
}

async function runWords(...words: string[]) {
  const seen = createRecorder()
  const exit = await runProgram(words, seen.terminal)
  return { exit, stdout: seen.stdout(), stderr: seen.stderr() }
}

test.each([
  ['60 columns of a terminal', { isInteractive: true, width: 60 }, 60],
  ['80 columns of a terminal', { isInteractive: true, width: 80 }, 80],
  ['80 columns behind a pager', { env: { COLUMNS: '80' } }, 80],
  ['no terminal', {}, 100],
  ['a wide terminal', { isInteractive: true, width: 200 }, 100],
] as const)('no line of help but usage and examples, which are typed, is wider than %s', async (_, options, limit) => {
  let widest = 0
  for (const [words] of all) {
    const seen = createRecorder(options)
    await runProgram([...words.split(' '), '--help'], seen.terminal)
    const [text = ''] = seen.stdout().split('\nExample')
    for (const line of text.split('\n').filter((each) => !each.startsWith('Usage: '))) {
      expect(line.length, `${words}: ${line}`).toBeLessThanOrEqual(limit)
      widest = Math.max(widest, line.length)
    }
  }
  expect(widest).toBeGreaterThan(limit - 5)
})

test('each group of commands has a summary, of its own or as a command', () => {
  const groups = all.filter(([words]) => words.includes(' ')).map(([words]) => words.split(' ')[0] ?? '')
  const described = { ...commandGroups, ...commandCatalogue }
  expect([...new Set(groups)].filter((group) => !(group in described))).toEqual([])
})

describe.each(all)('platform %s', (words, load) => {
  test('has help on stdout, with an example that names it', async () => {
    const { exit, stdout } = await runWords(...words.split(' '), '--help')
    expect(exit).toBe(0)
    const [, example = ''] = stdout.split('Example:\n')
    expect(example).toContain(`platform ${words}`)
    expect(stdout).toContain('Usage: platform')
  })

  test('is one file, at the path that its words name', async () => {
    const { definition } = await load()
    expect(definition.words).toBe(words)
    const file = path.join(repositoryRoot, 'cli/commands', ...words.split(' '))
    expect(existsSync(`${file}.ts`) || existsSync(`${file}.tsx`)).toBe(true)
  })

  test('prints JSON for scripts', async () => {
    const { definition } = await load()
    expect('json' in (definition.options ?? {})).toBe(!withoutJson.has(words))
  })

  test('refuses an unknown option as a usage error', async () => {
    const { exit, stdout } = await runWords(...words.split(' '), '--no-such-option')
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' })
  })
})

test('each group has help that lists its commands, with examples of them', async () => {
  const isExample = (line: string) => all.some(([words]) => line.startsWith(`  $ platform ${words} `))
  for (const group of Object.keys(commandGroups)) {
    const { exit, stdout } = await runWords(...group.split(' '), '--help')
    expect(exit).toBe(0)
    const [, examples = ''] = stdout.split(/Examples?:\n/)
    const lines = examples.split('\n').filter((line) => line.startsWith('  $ platform'))
    expect(lines.length, group).toBeGreaterThan(0)
    expect(lines.filter((line) => !isExample(`${line} `) || line.includes('--help'))).toEqual([])
    const children = all.map(([words]) => words).filter((words) => words.startsWith(`${group} `))
    for (const words of children) expect(stdout).toContain(words.split(' ')[group.split(' ').length])
  }
})

test('the first help names every command and group', async () => {
  const { exit, stdout } = await runWords()
  expect(exit).toBe(0)
  const first = new Set(all.map(([words]) => words.split(' ')[0]))
  for (const word of first) expect(stdout).toMatch(new RegExp(`^  ${word}\\b`, 'm'))
  expect((await runWords('help')).stdout).toBe(stdout)
  expect((await runWords('--help')).stdout).toBe(stdout)
})

test('`platform help keys list` is `platform keys list --help`', async () => {
  expect((await runWords('help', 'keys', 'list')).stdout).toBe((await runWords('keys', 'list', '--help')).stdout)
})

test('a group without a command prints its help, as a usage error', async () => {
  for (const group of Object.keys(commandGroups)) {
    const { exit, stdout, stderr } = await runWords(...group.split(' '))
    expect({ exit, stdout }, group).toEqual({ exit: 2, stdout: '' })
    expect(stderr).toBe((await runWords(...group.split(' '), '--help')).stdout)
  }
})

test('a word that means objects of a command names the command', async () => {
  expect(await runWords('session', 'list')).toMatchObject({
    exit: 2,
    stderr: 'Sessions are under platform consensus list',
  })
  for (const [word, command] of misplacedWords) {
    expect(Object.keys(commandCatalogue), `${word}: ${command}`).toSatisfy((names: string[]) =>
      names.some((name) => name === command || name.startsWith(`${command} `)),
    )
    const isWord = all.some(([words]) => words.split(' ')[0] === word)
    expect({ word, isWord }).toEqual({ word, isWord: false })
  }
})

/** What is left out means nothing more than that: no filter, no text, no file, no condition. */
const withoutDefault =
  /^(Only|Connect to|Bearer|Token|Revoke|IDs? of|Idempotency|Make a retry safe|Change|Reason|Note|(Further|Longer) |Evidence for|Signals (of|about|from)|Detected|With |Public root keys|Keys to|Compromised|JSON lines of|JWKS or|Fingerprint|Earlier export|Role of|Use the tools|Time at|Folder of|Categories that a reader|Format of|Column of|Host names|Peer that|Receipt|First number|Last number|Left|Right|Uid of|Data file|End|Duration|Your personal|Open the epoch|JSON file to use|Node of|Entity type)/

test('each parameter has a help text, and each optional value says its default', async () => {
  const faults: string[] = []
  for (const [words, load] of all) {
    const { positionals = {}, options = {}, notes = '' } = (await load()).definition
    const keepsAbsent = notes.includes('Options that are absent stay as they are')
    for (const [name, param] of Object.entries({ ...positionals, ...options } as Params)) {
      const { help, isRequired, metavar } = param
      if (!/^[A-Z`][^\n]{3,}[^.\s]$/.test(help))
        faults.push(`${words} ${name}: ${JSON.stringify(help)} is not a help text`)
      const hasDefault = keepsAbsent || isRequired || metavar === undefined || /default/i.test(help)
      if (!hasDefault && !withoutDefault.test(help)) faults.push(`${words} ${name}: ${help}`)
    }
  }
  expect(faults).toEqual([])
})

test('each command and group has a summary', async () => {
  const summaries = [...Object.entries(commandGroups)]
  for (const [words, load] of all) summaries.push([words, (await load()).definition.summary])
  expect(summaries.filter(([, summary]) => !/^[A-Z][^\n]{4,}[^.\s]$/.test(summary))).toEqual([])
})

test('a misspelt command is a usage error that names the nearest', async () => {
  const top = await runWords('stauts')
  expect(top.exit).toBe(2)
  expect(top.stderr).toContain('status')
  const inGroup = await runWords('token', 'mnt')
  expect(inGroup.exit).toBe(2)
  expect(inGroup.stderr).toContain('mint')
})

test('the help of --token warns that arguments are visible to other users', async () => {
  for (const [words, load] of all) {
    const { options = {} } = (await load()).definition
    if (!('token' in options)) continue
    const { stdout } = await runWords(...words.split(' '), '--help')
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('Prefer PLATFORM_TOKEN: arguments are visible to other users')
  }
})
