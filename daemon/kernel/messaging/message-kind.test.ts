// Kinds of messages are joined from the declarations of roles; what they do not declare is not known.
import { expect, test } from 'vitest'
import { sampleStatement } from '../../../test/support/filedrop/sample-statement.ts'
import { joinMessageKinds, type MessageOrder } from './message-kind.ts'
import { readStatement, statementFormatsFor } from './statement-format.ts'

const taker = (name: string, takes: Readonly<Record<string, MessageOrder>>) => ({ name, takes })

test('a role adds kinds by its declaration alone', () => {
  const kinds = joinMessageKinds([taker('a', { invitation: 'ordered' }), taker('b', { landed_dataset: 'commutes' })])
  expect(kinds.sendable).toEqual(['invitation', 'landed_dataset'])
  expect(kinds.names).toEqual(['invitation', 'landed_dataset', 'keys', 'inventory', 'gap_receipt'])
  expect(['invitation', 'landed_dataset', 'keys', 'unheard_of', 'constructor'].map(kinds.isOrdered)).toEqual([
    true,
    false,
    false,
    true,
    true,
  ])
})

test.each([
  ['a kind of two roles', [taker('a', { signal: 'ordered' }), taker('b', { signal: 'ordered' })], 'two roles take'],
  ['a kind of the sites', [taker('a', { keys: 'commutes' })], 'the role a takes "keys", which is of the sites'],
  ['a receipt', [taker('a', { gap_receipt: 'commutes' })], 'which is of the sites'],
  ['a malformed kind', [taker('a', { 'Landed Dataset': 'ordered' })], 'malformed kind "Landed Dataset"'],
])('%s is a defect of a declaration', (_what, takers, message) => {
  expect(() => joinMessageKinds(takers)).toThrow(message)
})

test('a statement of a declared kind is read; another one is a fault of its kind', () => {
  const formats = statementFormatsFor(joinMessageKinds([taker('b', { landed_dataset: 'commutes' })]))
  expect(readStatement({ ...sampleStatement, kind: 'landed_dataset' }, formats)).toMatchObject({ read: 'statement' })
  for (const kind of ['contribution', 'constructor', '__proto__', 'Landed', '', 7, undefined]) {
    const reading = readStatement({ ...sampleStatement, kind }, formats)
    expect(reading).toMatchObject({ read: 'fault', error: { issues: [{ path: ['kind'] }] } })
  }
})
