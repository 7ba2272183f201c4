// Holds what every command promises: help with an example, one definition whose words are its path, JSON for scripts.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { commandCatalogue, commandGroups } from '../../cli/program/command-catalogue.ts'
import { runProgram } from '../../cli/program/program.ts'
import type { Terminal } from '../../cli/terminal/terminal.ts'
import { repositoryRoot } from '../support/repository/source-tree.ts'

const all = Object.entries(commandCatalogue)

/** Commands that always print JSON, a script, or nothing. */
const withoutJson = new Set(['serve', 'completion', 'admin'])

function createRecorder() {
  const lines: string[] = []
  const notes: string[] = []
  const terminal: Terminal = {
    env: {},
    isInteractive: false,
    canPrompt: false,
    hasColour: false,
    width: 100,
    print: (line) => void lines.push(line),
    note: (line) => void notes.push(line),
    progress: () => undefined,
    prompt: async () => undefined,
    promptSecret: async () => undefined,
    readInput: async () => undefined,
  }
  return { terminal, stdout: () => lines.join('\n'), stderr: () => notes.join('\n') }
}

async function runWords(...words: string[]) {
  const seen = createRecorder()
  const exit = await runProgram(words, seen.terminal)
  return { exit, stdout: seen.stdout(), stderr: seen.stderr() }
}

test('each group of commands has a summary', () => {
  const groups = all.filter(([words]) => words.includes(' ')).map(([words]) => words.split(' ')[0] ?? '')
  expect([...new Set(groups)].filter((group) => !commandGroups[group])).toEqual([])
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

test('each group has help that lists its commands, with an example', async () => {
  for (const group of Object.keys(commandGroups)) {
    const { exit, stdout } = await runWords(...group.split(' '), '--help')
    expect(exit).toBe(0)
    expect(stdout).toContain('Example:')
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
