// Commands offer the fields of the interface; a command for a field without fixed choices does not start.
import { expect, test } from 'vitest'
import { listChoices } from './operations.ts'

test('the choices of a field are those that the operation takes, whether or not it must be given', async () => {
  expect(await listChoices('resolution.entity-match.review', 'decision')).toEqual(['confirm', 'reject', 'defer'])
  expect(await listChoices('resolution.fusion-run.list', 'state')).toContain('resolving')
})

test.each([
  ['resolution.fusion-run.list', 'lens'],
  ['resolution.fusion-run.list', 'nothing'],
])('a field without fixed choices is an error of the command: %s %s', async (address, field) => {
  await expect(listChoices(address, field)).rejects.toThrow(`${address} has no fixed choices for ${field}`)
})
