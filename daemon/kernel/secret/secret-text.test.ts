// Secrets in memory: nothing that prints, digests or copies a value finds the text.
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { canonicalDigest } from '../encoding/canonical-json.ts'
import { parseWithSchema } from '../error/parsing.ts'
import { max_secret_bytes } from './sealed-secret.ts'
import { SecretText, secretText } from './secret-text.ts'

const canary = 'canary-3f9a'
const schema = z.strictObject({ name: z.string(), password: secretText(64) })

test('a parsed secret is revealed by name and printed by nothing', () => {
  const parsed = schema.parse({ name: 'db', password: canary })
  expect(parsed.password.reveal()).toBe(canary)
  const prints = [
    JSON.stringify(parsed),
    `${parsed.password}`,
    inspect(parsed, { depth: 9, showHidden: true }),
    JSON.stringify(structuredClone({ ...parsed.password })),
    Object.values(parsed.password).join(),
    JSON.stringify({ ...parsed.password }),
  ]
  for (const text of prints) expect(text).not.toContain(canary)
})

test('the digest of a request does not depend on a secret, so that no stored digest tests a guess', () => {
  const digestOf = (password: string) => canonicalDigest(schema.parse({ name: 'db', password }))
  expect(digestOf('one')).toBe(digestOf('two'))
  expect(canonicalDigest(schema.parse({ name: 'other', password: 'one' }))).not.toBe(digestOf('one'))
})

test('a refused secret is not quoted', () => {
  const refused = parseWithSchema(schema, { name: 'db', password: canary.repeat(20) })
  expect(refused.success).toBe(false)
  expect(JSON.stringify(refused)).not.toContain(canary)
})

test('a secret that could not be stored as it is is refused with the reason, and not quoted', () => {
  const key = z.strictObject({ key: secretText(max_secret_bytes) })
  const faultOf = (text: string) => {
    const parsed = parseWithSchema(key, { key: text })
    return parsed.success ? 'accepted' : parsed.errors.map(({ message }) => message).join()
  }
  expect(faultOf('\u{1F512}'.repeat(max_secret_bytes / 4))).toBe('accepted')
  expect(faultOf('€'.repeat(max_secret_bytes / 2))).toBe('must have at most 65536 bytes')
  expect(faultOf(`${canary}\ud800`)).toBe('must be valid Unicode')
})

test('JSON Schema shows the field as one that is written only', () => {
  const { properties } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  expect(properties?.password).toEqual({ type: 'string', maxLength: 64, format: 'password', writeOnly: true })
})

test('the class itself takes any text', () => {
  expect(new SecretText('').reveal()).toBe('')
})
