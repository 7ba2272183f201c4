// A request to change something differs from a question about changes, and a tool that makes the change from one that reads.
import { expect, test } from 'vitest'
import { doesVerb, findChangeVerb } from './change-verb.ts'

test.each([
  ['delete all signals', 'delete'],
  ['please delete all signals', 'delete'],
  ['could you please remove every signal', 'remove'],
  ['i want to archive signals', 'archive'],
])('%s', (message, verb) => expect(findChangeVerb(message.split(' '))).toBe(verb))

test.each([
  'list deleted signals',
  'which signals did ann delete',
  'show me the start of the run',
  'open signals',
  '',
  'you',
])('no change: %s', (message) => expect(findChangeVerb(message.split(' '))).toBeUndefined())

test('a tool does what its name or the first word of its description says', () => {
  const archive = { name: 'signals__signal_archive', description: 'Archive a signal' }
  const list = { name: 'signals__signal_list', description: 'List signals, newest first; archived ones at the end' }
  expect([doesVerb(archive, 'archive'), doesVerb(list, 'archive')]).toEqual([true, false])
  const end = { name: 'signals__silence_end', description: 'Delete a silence' }
  expect([doesVerb(end, 'remove'), doesVerb(end, 'archive')]).toEqual([true, false])
})
