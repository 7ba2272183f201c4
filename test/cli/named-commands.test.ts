// A message that names a command names it as it is typed: known words, its required values, and options that it has.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { optionWord } from '../../cli/program/arrange-arguments.ts'
import type { AnyCommandDefinition, CommandDefinition } from '../../cli/program/command.ts'
import { commandCatalogue } from '../../cli/program/command-catalogue.ts'
import { commandGroups } from '../../cli/program/command-groups.ts'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { listRepositoryFiles, repositoryRoot } from '../support/repository/source-tree.ts'

const definitions = new Map<string, AnyCommandDefinition>(
  await Promise.all(
    Object.entries(commandCatalogue).map(async ([words, load]) => [words, (await load()).definition] as const),
  ),
)

/** Messages alone: comments, help of commands and settings, and text that joins a command from parts are left out. */
function readMessages(file: string): string {
  return readFileSync(path.join(repositoryRoot, file), 'utf8')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/export const definition = \w+\(\{[\s\S]*?(?:\n {2}async run\(|\n\}\))/g, '')
    .replaceAll(/^\s*doc: .*$/gm, '')
    .replaceAll('\\`', '`')
}

/** What stands for a value: a placeholder, an expression, or a shortened id. */
const value = /^(?:\$\{.+?\}|[A-Z][A-Z|]*\b|[\w/-]+…)/

/** The fault of the command that this text begins with; undefined if it can be typed as it stands. */
function findFault(text: string): string | undefined {
  const words = [4, 3, 2, 1]
    .map((count) =>
      text
        .split(/[\s`'",;:).]+/)
        .slice(0, count)
        .join(' '),
    )
    .find((candidate) => definitions.has(candidate))
  const definition = words === undefined ? undefined : definitions.get(words)
  if (!definition || words === undefined) {
    const [group = ''] = text.split(/[\s`'",;:).]/)
    return group in commandGroups ? `platform ${group} … is not a command` : undefined
  }
  let rest = text.slice(words.length)
  const { positionals = {}, options = {} }: CommandDefinition = definition
  for (const [name, param] of Object.entries(positionals)) {
    rest = rest.trimStart()
    const [found] = value.exec(rest) ?? []
    if (found === undefined && param.isRequired && !isLiteralValue(rest)) return `platform ${words} needs ${name}`
    rest = rest.slice(found?.length ?? 0)
  }
  const command = rest.split(/[`';,]|: | \(/)[0] ?? ''
  const given = [...command.matchAll(/(?<=\s)--([a-z][a-z-]*)/g)].map(([, name = '']) => name)
  const known = Object.keys(options).map((name) => optionWord(name).replace(/^--/, ''))
  const unknown = given.filter((name) => !known.includes(name))
  if (unknown.length > 0) return `platform ${words} has no --${unknown.join(', --')}`
  const missing = Object.entries(options)
    .filter(([, param]) => param.isRequired)
    .map(([name]) => optionWord(name).replace(/^--/, ''))
    .filter((name) => !given.includes(name))
  return missing.length > 0 ? `platform ${words} needs --${missing.join(', --')}` : undefined
}

/** A value of a choice or a setting, such as `platform store migrate files`. */
function isLiteralValue(rest: string): boolean {
  return /^[a-z]+(?:[._][a-z_]+)*`/.test(rest)
}

test('every message of a command, the daemon and an adapter names commands as they are typed', () => {
  const files = listRepositoryFiles().filter((file) => /^(?:cli|daemon|adapters)\/.*\.tsx?$/.test(file))
  const mentions = files
    .filter((file) => !/\.test\.tsx?$/.test(file))
    .flatMap((file) =>
      readMessages(file)
        .split('\n')
        .flatMap((line) =>
          [...line.matchAll(/\bplatform (?=[a-z])/g)].map((match) => ({ file, text: line.slice(match.index + 9) })),
        ),
    )
  const faults = mentions.flatMap(({ file, text }) => {
    const fault = findFault(text)
    return fault ? [`${file}: ${fault}: ${text.slice(0, 100)}`] : []
  })
  expect(mentions.length).toBeGreaterThan(80)
  expect(faults).toEqual([])
})

test.each([
  ['peers revoke`', 'needs name'],
  ['peers revoke alpha…`', 'needs kid'],
  ['peers update PEER`', 'needs --keys'],
  ['peers set PEER --ceilng LEVEL`', 'has no --ceilng'],
  ['peers pin PEER`', 'is not a command'],
])('%s is found', (text, fault) => {
  expect(findFault(text)).toContain(fault)
})

test('a revocation names the command that each peer types, with site and key', async () => {
  const { dir, remove } = createScratchFolder('revocation')
  const env = { PLATFORM_SITE: path.join(dir, 'alpha') }
  await runJsonCommand(['init', '--tenant', 'acme', '--profile', 'demo'], { env })
  const { kid } = await runJsonCommand(['keys', 'generate', '--use', 'message'], { env })
  const ended = await runCommand(['keys', 'revoke', kid, '--yes'], { env })
  expect(ended).toMatchObject({
    exit: 0,
    stderr: expect.stringContaining(`Each peer runs: platform peers revoke alpha ${kid} --yes`),
  })
  remove()
})
