// Numbers, addresses and names that are written differently have one form.
import { expect, test } from 'vitest'
import { hasLegalForm, normaliseCompany, normalisePhone, normaliseUrl } from './normalise-identity.ts'

test('a phone number with and without country, trunk prefix, groups and extension', () => {
  for (const text of ['+44 1234 567890', '01234567890', '(01234) 567-890', '01234 567890 ext. 7', '0044 1234 567890'])
    expect(normalisePhone(text)).toBe('234567890')
  expect(normalisePhone('404/231-1368')).toBe('042311368')
  expect(normalisePhone('12 34')).toBe('')
})

test('an address of a site with and without scheme, www, query and closing slash', () => {
  for (const text of ['http://www.Nordic.example/', 'nordic.example', 'https://nordic.example/?from=list#top'])
    expect(normaliseUrl(text)).toBe('nordic.example')
  expect(normaliseUrl('https://nordic.example/shop/')).toBe('nordic.example/shop')
})

test('a company with and without its legal form', () => {
  for (const text of ['Nordic Foods Ltd.', 'NORDIC FOODS', 'Nordic Foods S.A.', 'Nordic Foods GmbH & Co. KG'])
    expect(normaliseCompany(text)).toBe('nordic foods')
  expect(normaliseCompany('AG')).toBe('ag')
  expect(hasLegalForm('Nordic Foods Inc')).toBe(true)
  expect(hasLegalForm('Nordic Foods')).toBe(false)
})

test.each([
  ['slashes', `nordic.example/${'/'.repeat(1_000_000)}a`],
  ['question marks', `nordic.example${'?'.repeat(1_000_000)}\n`],
  ['extensions', `${'x1 '.repeat(300_000)}a`],
])('a megabyte of %s takes no longer than any other text', (_, text) => {
  // Time with the square of the length would be minutes, which the time limit of a test ends.
  expect(normaliseUrl(text).length).toBeLessThanOrEqual(text.length)
  expect(normalisePhone(text).length).toBeLessThanOrEqual(9)
})
