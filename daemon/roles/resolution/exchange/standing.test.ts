// What a profile agrees to by itself: all that the proposal says must be covered.
import { expect, test } from 'vitest'
import type { Agreement } from './agreement.ts'
import { standingAgreement, standingFor } from './standing.ts'

const agreement: Agreement = {
  ...{ exchange_id: `xchg_${'a'.repeat(32)}`, lens: 'people', lens_version: '1.0.0', lens_digest: '0'.repeat(64) },
  ...{ parties: ['bravo', 'alpha'], fields: ['surname'], privacy: 'clk', learns: ['alpha'], linker: 'charlie' },
  ...{ max_set_size: 100, accept_dictionary_risk: false, seed: 1 },
}
const given = { peer: 'bravo', lens: 'people', fields: ['surname', 'town'], max_set_size: 100, file: 'people.csv' }
const covers = (more: object, proposal: Partial<Agreement> = {}) => {
  const standing = standingAgreement.parse({ ...given, privacy: ['clk', 'psi'], linker: 'charlie', ...more })
  return standingFor([standing], { agreement: { ...agreement, ...proposal }, part: 'asked' }) === standing
}

test('a proposal that is covered in everything is agreed to', () => {
  expect(covers({})).toBe(true)
  expect(covers({}, { privacy: 'psi', linker: undefined })).toBe(true)
  expect(covers({ they_learn: true }, { learns: ['alpha', 'bravo'] })).toBe(true)
})

test.each<[string, object, Partial<Agreement>]>([
  ['another peer', { peer: 'delta' }, {}],
  ['another lens', { lens: 'works' }, {}],
  ['a weaker privacy', {}, { privacy: 'none' }],
  ['a field more', {}, { fields: ['surname', 'born'] }],
  ['a larger set', {}, { max_set_size: 101 }],
  ['a peer that learns', {}, { learns: ['bravo'] }],
  ['another linker', {}, { linker: 'delta' }],
  ['the peer as its own linker', {}, { linker: 'bravo' }],
  ['a linker where none is named', { linker: undefined }, {}],
  ['a risk that nobody took', {}, { accept_dictionary_risk: true }],
  ['no data', { file: undefined }, {}],
])('%s waits for a person', (_, more, proposal) => {
  expect(covers(more, proposal)).toBe(false)
})

test('whoever compares for others says so', () => {
  const proposal = {
    agreement: { ...agreement, parties: ['bravo', 'delta'] as [string, string] },
    part: 'linker' as const,
  }
  const links = (given_links: boolean) => standingAgreement.parse({ ...given, privacy: ['clk'], links: given_links })
  expect(standingFor([links(false)], proposal)).toBeUndefined()
  expect(standingFor([links(true)], proposal)).toBeDefined()
})
