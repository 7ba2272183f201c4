// Every chapter of README.md and the operator guide with commands is run as it is printed, or has a reason why not; every
// command names options that exist. test/sites/guide/commands.test.ts runs them.
import { expect, test } from 'vitest'
import type { Params } from '../../cli/program/command.ts'
import { commandCatalogue } from '../../cli/program/command-catalogue.ts'
import { coveredChapters, uncoveredChapters } from '../support/documents/covered-chapters.ts'
import { readCommands } from '../support/documents/read-commands.ts'
import { expectNone } from '../support/repository/expect-none.ts'

const documents = Object.keys(coveredChapters)

test.each(documents)('each chapter of %s with commands is run, or has a reason', (document) => {
  const covered = Object.keys(coveredChapters[document] ?? {})
  const uncovered = Object.keys(uncoveredChapters[document] ?? {})
  expect(covered.filter((heading) => uncovered.includes(heading))).toEqual([])
  expect([...covered, ...uncovered].sort()).toEqual([...readCommands(document).keys()].sort())
})

const optionWord = (name: string) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

test.each(documents)('each command in %s exists, with its options', async (document) => {
  const faults: string[] = []
  for (const [heading, commands] of readCommands(document)) {
    for (const { text } of commands) {
      for (const [, typed = ''] of text.matchAll(/(?:^|(?<!gid) |[(/])platform ((?:[^|>&)]|\\)+)/g)) {
        const words = typed.trim().split(/\s+/)
        const name = [3, 2, 1]
          .map((length) => words.slice(0, length).join(' '))
          .find((each) => each in commandCatalogue)
        if (name === undefined) {
          if (!['--version', '--help', 'help'].includes(words[0] ?? '')) faults.push(`${heading}: ${text}`)
          continue
        }
        const { options = {} } = (await commandCatalogue[name as keyof typeof commandCatalogue]()).definition
        const known = [...Object.keys(options as Params).map(optionWord), '--help']
        const unknown = words.filter((word) => /^--[a-z]/.test(word) && !known.includes(word.split('=')[0] ?? ''))
        if (unknown.length > 0) faults.push(`${heading}: ${text}: ${unknown.join(', ')}`)
      }
    }
  }
  expectNone(faults)
})
