// The policy fips in exchanges of records.
import { expect, test } from 'vitest'
import { checkCryptographyPolicy } from './check-cryptography-policy.ts'

test('only the policy fips refuses an exchange, and only one that is protected by X25519', () => {
  const codes = (['any', 'fips'] as const).map((policy) =>
    (['none', 'psi', 'clk'] as const).map((privacy) => checkCryptographyPolicy({ policy }, { privacy })?.code),
  )
  expect(codes).toEqual([
    [undefined, undefined, undefined],
    [undefined, 'forbidden', 'forbidden'],
  ])
})
