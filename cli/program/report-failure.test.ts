// The remedy beside a refusal fits its cause: a token with another role helps only where a permission is missing.
import { expect, test } from 'vitest'
import { refuse } from '../../daemon/kernel/error/errors.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { reportFailure } from './report-failure.ts'

function report(error: unknown, env: Terminal['env'] = {}) {
  const lines: string[] = []
  const terminal: Terminal = {
    ...{ env, isInteractive: false, canPrompt: false, hasColour: false, width: 120 },
    print: (line) => void lines.push(line),
    note: (line) => void lines.push(line),
    progress: () => undefined,
    prompt: async () => undefined,
    promptSecret: async () => undefined,
    readInput: async () => undefined,
    inputBytes: () => undefined,
  }
  return { exit: reportFailure(terminal, error), lines }
}

test('a missing permission calls for a token with a role that has it', () => {
  const { exit, lines } = report(refuse('forbidden', 'the operation requires the permission quarantine:release'))
  expect([exit, lines.length]).toEqual([3, 2])
  expect(lines[1]).toContain('use a token with a role that permits it')
})

test('a person who approves their own request is referred to another person, and to no role', () => {
  const message = 'ann requested this; another enrolled person must approve, with their own token and key'
  const { exit, lines } = report(refuse('forbidden', message))
  expect([exit, lines]).toEqual([3, [`error: The caller may not do this: ${message}`]])
})

test('a token in the environment is named where the site itself would permit the command', () => {
  const refusal = refuse('forbidden', 'the operation requires the permission message:purge')
  expect(report(refusal, { PLATFORM_TOKEN: 'x' }).lines[1]).toContain('`unset PLATFORM_TOKEN`')
  expect(report(refusal).lines[1]).not.toContain('unset')
})

test.each([
  ['the object may not leave for peer bravo: the label does not release the object to the receiver', '--releasable-to'],
  ['the label is above the ceiling of the channel with bravo', 'platform peers set PEER --ceiling LEVEL'],
])('a label that keeps an object here: %s', (message, remedy) => {
  expect(report(refuse('label_denied', message)).lines[1]).toContain(remedy)
})
