// Commands are read in one form alone; everything else is a message.
import { expect, test } from 'vitest'
import { readCommand } from './read-command.ts'

const show = (message: string) => {
  const command = readCommand(message)
  return command && [command.name, Object.fromEntries(command.named), command.unnamed]
}

test.each([
  ['pause_curator()', ['pause_curator', {}, []]],
  [' demote_artifact( artifact_1 ) ', ['demote_artifact', {}, ['artifact_1']]],
  ['rollback_artifact(artifact_1, to_version=2)', ['rollback_artifact', { to_version: 2 }, ['artifact_1']]],
  [
    'forget_memory(id="a, b", admin_note="say \\"no\\" (now)")',
    ['forget_memory', { id: 'a, b', admin_note: 'say "no" (now)' }, []],
  ],
  [
    'list_decisions(trigger=drift_event, since=2026-01-01)',
    ['list_decisions', { trigger: 'drift_event', since: '2026-01-01' }, []],
  ],
  ['a(true, null, -1.5)', ['a', {}, [true, 'null', -1.5]]],
])('%s', (message, read) => {
  expect(show(message)).toEqual(read)
})

test.each([
  'please pause_curator()',
  'pause_curator',
  'pause_curator() now',
  'Pause()',
  'a(b c)',
  'a(x=)',
  'a("open)',
  'a(b)\nc(d)',
  'a(f(x))',
  `a(${'x,'.repeat(3_000)})`,
])('%s is a message', (message) => {
  expect(readCommand(message)).toBeUndefined()
})

test('a long list of arguments is read in time proportional to it', () => {
  expect(readCommand(`a(${'x,'.repeat(2_000)}`)).toBeUndefined()
  expect(readCommand(`a(${' '.repeat(4_000)}`)).toBeUndefined()
  expect(readCommand(`a("${'\\'.repeat(3_999)})`)).toBeUndefined()
})
