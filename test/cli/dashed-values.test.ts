// A value may begin with "-" in every command: fingerprints and key ids are base64url, and one in 64 does.
import { CommanderError } from 'commander'
import { describe, expect, test } from 'vitest'
import { arrangeArguments, optionWord } from '../../cli/program/arrange-arguments.ts'
import type { AnyCommandDefinition, Param, Params } from '../../cli/program/command.ts'
import { commandCatalogue } from '../../cli/program/command-catalogue.ts'
import { runDefinitions } from '../../cli/program/program.ts'
import type { Terminal } from '../../cli/terminal/terminal.ts'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'

/** One that begins like a short option, one like a long option, one like the option for help, one in small letters. */
const fingerprints = [
  '-nyBFGoatO_HadNcwg5ixrm4Z8KpJ5uPuctK6zl0qGQ',
  '--yBFGoatO_HadNcwg5ixrm4Z8KpJ5uPuctK6zl0qGQ',
  '-hyBFGoatO_HadNcwg5ixrm4Z8KpJ5uPuctK6zl0qGQ',
  '--abcdefghijklmnopqrstuvwxyzabcdefghijklmno',
]

const terminal: Terminal = {
  ...{ env: {}, isInteractive: false, canPrompt: false, hasColour: false, width: 100 },
  ...{ print: () => undefined, note: () => undefined, progress: () => undefined },
  ...{ prompt: async () => undefined, promptSecret: async () => undefined, readInput: async () => undefined },
  inputBytes: () => undefined,
}

/** What the command would run with. */
async function parseWords(definition: AnyCommandDefinition, words: readonly string[]) {
  let parsed: Readonly<Record<string, unknown>> | undefined
  const recording = {
    ...definition,
    run: async (params: Readonly<Record<string, unknown>>) => {
      parsed = params
      return 0 as const
    },
  }
  await runDefinitions([recording], [...definition.words.split(' '), ...words], terminal)
  return parsed
}

const takesText = (param: Param<unknown>) => {
  if (param.metavar === undefined) return false
  try {
    const read = param.parse('-a')
    return read === '-a' || (Array.isArray(read) && read[0] === '-a')
  } catch {
    return false
  }
}

/** A word that the parameter takes. */
function sampleOf(param: Param<unknown>): string {
  const choices = /\(([^()]+)\)(?: \(default.*)?$/.exec(param.help)?.[1]?.split(', ') ?? []
  const takes = (text: string) => {
    try {
      return param.parse(text) !== undefined
    } catch {
      return false
    }
  }
  return ['x', '1', '2026-01-01', 'a'.repeat(96), ...choices].find(takes) ?? 'x'
}

/** Words for the parameters that the command cannot do without, but this one. */
function requiredWords({ positionals = {}, options = {} }: AnyCommandDefinition, but: string): string[] {
  const isMissing = ([name, param]: [string, Param<unknown>]) => param.isRequired && name !== but
  return [
    ...Object.entries(options as Params)
      .filter(isMissing)
      .flatMap(([name, param]) => [optionWord(name), sampleOf(param)]),
    ...Object.entries(positionals as Params)
      .filter(isMissing)
      .map(([, param]) => sampleOf(param)),
  ]
}

describe.each(Object.entries(commandCatalogue))('platform %s', (_, load) => {
  test('takes a value that begins with "-" for each of its parameters', async () => {
    const { definition } = await load()
    const options = Object.entries((definition.options ?? {}) as Params).filter(([, param]) => takesText(param))
    for (const [name] of options) {
      for (const value of fingerprints) {
        const words = [...requiredWords(definition, name), optionWord(name), value]
        expect([(await parseWords(definition, words))?.[name]].flat(2)).toEqual([value])
      }
    }
    const positionals = Object.entries((definition.positionals ?? {}) as Params)
    for (const value of fingerprints) {
      const all = positionals.map(([, param]) => (takesText(param) ? value : sampleOf(param)))
      const parsed = await parseWords(definition, [...all, ...requiredWords({ ...definition, positionals: {} }, '')])
      for (const [name] of positionals.filter(([, param]) => takesText(param)))
        expect([parsed?.[name]].flat(2)).toEqual([value])
    }
  })
})

test('a misspelt option is still refused as one, and a word behind -- never is', async () => {
  const { definition } = await commandCatalogue['peers revoke']()
  const refused = await parseWords(definition, ['bravo', 'k', '--jsno']).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(CommanderError)
  expect(await parseWords(definition, ['bravo', '-x']).catch((error: unknown) => error)).toBeInstanceOf(CommanderError)
  expect(await parseWords(definition, ['--yes', 'bravo', '--', '-x'])).toMatchObject({
    name: 'bravo',
    kid: '-x',
    yes: true,
  })
  expect(arrangeArguments(definition, ['bravo', '-', '--site', '-d', '--yes'])).toEqual([
    ...['--site=-d', '--yes', '--', 'bravo', '-'],
  ])
})

test('a key whose fingerprint begins with "-" is looked up, and not taken for an option', async () => {
  const { dir, remove } = createScratchFolder('dashed')
  await runJsonCommand(['init', '--site', `${dir}/alpha`])
  const env = { PLATFORM_SITE: `${dir}/alpha` }
  for (const fingerprint of fingerprints) {
    const { exit, stderr } = await runCommand(['keys', 'revoke', fingerprint, '--yes'], { env })
    expect({ exit, stderr }).toMatchObject({ exit: 1, stderr: expect.stringContaining(`no key ${fingerprint}`) })
  }
  remove()
})
