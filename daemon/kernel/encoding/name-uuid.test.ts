// Name-based UUIDs match the examples of the standard.
import { expect, test } from 'vitest'
import { nameUuid } from './name-uuid.ts'

test('a name has the UUID that RFC 9562 prints for it', () => {
  const dns = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'
  // RFC 9562, appendix A.4.
  expect(nameUuid(dns, 'www.example.com')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2')
  expect(nameUuid(dns, 'www.example.com')).not.toBe(nameUuid(dns, 'www.example.org'))
  expect(nameUuid(dns, 'Größe')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})
