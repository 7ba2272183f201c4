// A standing agreement never covers a proposal that discloses more than the agreement names.
import { expect, test } from 'vitest'
import { clkParameters } from '../../privacy/clk/parameters.ts'
import type { ExchangeAgreement } from './agreement.ts'
import { findStandingAgreement, standingAgreement } from './standing-agreement.ts'

const fields = ['surname', 'date_of_birth', 'postcode']
const baseTerms = { peer: 'bravo', lens: 'persons', fields, max_set_size: 100, file: 'members.csv', they_learn: true }

function buildAgreement(more: Partial<ExchangeAgreement>): ExchangeAgreement {
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

function checkCoverage(
  standing: Record<string, unknown>,
  more: Partial<ExchangeAgreement>,
  part: 'asked' | 'linker' = 'asked',
) {
  const all = [standingAgreement.parse({ ...baseTerms, ...standing })]
  return findStandingAgreement(all, { agreement: buildAgreement(more), part }) !== undefined
}

test.each([
  ['all of the fields in any order', { fields: fields.toReversed() }, true],
  ['one of the fields: a key that is easy to guess', { fields: ['date_of_birth'] }, false],
  ['another field', { fields: ['surname', 'date_of_birth', 'town'] }, false],
  ['more records', { max_set_size: 101 }, false],
  ['another lens', { lens: 'others' }, false],
  ['another proposer', { parties: ['charlie', 'alpha'] as [string, string] }, false],
  ['another privacy mode', { privacy: 'none' as const }, false],
])('keys: %s', (_, more, isCovered) => {
  expect(checkCoverage({ privacy: ['psi'] }, more)).toBe(isCovered)
})

test('unencoded records may have fewer fields, which discloses less', () => {
  expect(checkCoverage({ privacy: ['none'] }, { privacy: 'none', fields: ['surname'] })).toBe(true)
})

test('only the named linker may compare vectors', () => {
  const standing = { privacy: ['clk'], linker: 'charlie' }
  const clk = { privacy: 'clk', linker: 'charlie' } as const
  expect(checkCoverage(standing, clk)).toBe(true)
  expect(checkCoverage(standing, { ...clk, linker: 'delta' })).toBe(false)
  expect(checkCoverage(standing, { ...clk, fields: ['surname'] })).toBe(false)
  expect(checkCoverage({ privacy: ['clk'] }, clk)).toBe(false)
})

test.each([
  ['the defaults', {}, true],
  ['longer vectors', { length: 2_048 }, false],
  ['vectors that are not folded', { fold: false }, false],
  ['more bits for a gram', { hashes: 16 }, false],
  ['longer grams', { q: 3 }, false],
  ['a field with a higher weight', { weights: { surname: 2 } }, false],
  ['a lower threshold', { threshold: 0.6 }, false],
  ['many matches of one record', { one_to_one: false }, false],
] as const)('vectors with parameters of the proposer: %s', (_, chosen, isCovered) => {
  const clk = clkParameters.parse(chosen)
  const more = { privacy: 'clk', linker: 'charlie' } as const
  expect(checkCoverage({ privacy: ['clk'], linker: 'charlie' }, { ...more, clk })).toBe(isCovered)
  expect(checkCoverage({ privacy: ['clk'], linker: 'charlie', clk: chosen }, { ...more, clk })).toBe(true)
  if (!isCovered) expect(checkCoverage({ privacy: ['clk'], linker: 'charlie', clk: chosen }, more)).toBe(false)
})

test('a named lens version and the limit of bytes must match', () => {
  expect(checkCoverage({ privacy: ['psi'], lens_version: '1.0.0' }, {})).toBe(true)
  expect(checkCoverage({ privacy: ['psi'], lens_version: '1.1.0' }, {})).toBe(false)
  expect(checkCoverage({ privacy: ['none'], max_set_bytes: 999_999 }, { privacy: 'none' })).toBe(false)
  expect(checkCoverage({ privacy: ['none'], max_set_bytes: 1_000_000 }, { privacy: 'none' })).toBe(true)
})

test('a standing agreement to compare for others needs `links` and no file', () => {
  const clk = { privacy: 'clk', linker: 'alpha', parties: ['bravo', 'delta'] as [string, string] } as const
  expect(checkCoverage({ privacy: ['clk'], links: true, file: undefined }, clk, 'linker')).toBe(true)
  expect(checkCoverage({ privacy: ['clk'], linker: 'alpha' }, clk, 'linker')).toBe(false)
})
