// Commands offer what the interface takes, and a command that asks for what is no choice does not start.
import { expect, test } from 'vitest'
import { listChoices } from './operations.ts'

test('the choices of a field are those that the operation takes, whether or not it must be given', () => {
  expect(listChoices('resolution.entity-match.review', 'decision')).toEqual(['confirm', 'reject', 'defer'])
  expect(listChoices('resolution.fusion-run.list', 'state')).toContain('resolving')
})

test.each([
  ['resolution.fusion-run.list', 'lens'],
  ['resolution.fusion-run.list', 'nothing'],
])('a field that is no choice of words is a mistake in the command: %s %s', (address, field) => {
  expect(() => listChoices(address, field)).toThrow(`${address} has no fixed choices for ${field}`)
})
