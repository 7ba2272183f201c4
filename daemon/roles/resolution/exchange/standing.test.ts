// What a profile agrees to beforehand covers nothing that gives away more than it names.
import { expect, test } from 'vitest'
import type { Agreement } from './agreement.ts'
import { standingAgreement, standingFor } from './standing.ts'

const fields = ['surname', 'date_of_birth', 'postcode']
const given = { peer: 'bravo', lens: 'persons', fields, max_set_size: 100, file: 'members.csv', they_learn: true }

function agreement(more: Partial<Agreement>): Agreement {
  return {
    exchange_id: `xchg_${'0'.repeat(32)}`,
    lens: 'persons',
    lens_version: '1.0.0',
    lens_digest: '0'.repeat(64),
    parties: ['bravo', 'alpha'],
    fields,
    privacy: 'psi',
    learns: ['bravo'],
    accept_dictionary_risk: false,
    max_set_size: 100,
    max_set_bytes: 1_000_000,
    seed: 1,
    ...more,
  }
}

function covers(standing: Record<string, unknown>, more: Partial<Agreement>, part: 'asked' | 'linker' = 'asked') {
  const all = [standingAgreement.parse({ ...given, ...standing })]
  return standingFor(all, { agreement: agreement(more), part }) !== undefined
}

test.each([
  ['all of the fields in any order', { fields: fields.toReversed() }, true],
  ['one of the fields: a key that is quickly guessed', { fields: ['date_of_birth'] }, false],
  ['another field', { fields: ['surname', 'date_of_birth', 'town'] }, false],
  ['more records', { max_set_size: 101 }, false],
  ['another lens', { lens: 'others' }, false],
  ['another proposer', { parties: ['charlie', 'alpha'] as [string, string] }, false],
  ['another way', { privacy: 'none' as const }, false],
])('keys: %s', (_, more, isCovered) => {
  expect(covers({ privacy: ['psi'] }, more)).toBe(isCovered)
})

test('the records themselves may be of fewer fields: that gives away less', () => {
  expect(covers({ privacy: ['none'] }, { privacy: 'none', fields: ['surname'] })).toBe(true)
})

test('vectors are compared by the linker that is named, and by no other', () => {
  const named = { privacy: ['clk'], linker: 'charlie' }
  const clk = { privacy: 'clk', linker: 'charlie' } as const
  expect(covers(named, clk)).toBe(true)
  expect(covers(named, { ...clk, linker: 'delta' })).toBe(false)
  expect(covers(named, { ...clk, fields: ['surname'] })).toBe(false)
  expect(covers({ privacy: ['clk'] }, clk)).toBe(false)
})

test('who compares for others needs no file, and says so', () => {
  const clk = { privacy: 'clk', linker: 'alpha', parties: ['bravo', 'delta'] as [string, string] } as const
  expect(covers({ privacy: ['clk'], links: true, file: undefined }, clk, 'linker')).toBe(true)
  expect(covers({ privacy: ['clk'], linker: 'alpha' }, clk, 'linker')).toBe(false)
})
