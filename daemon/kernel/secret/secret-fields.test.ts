// A secret field is found in every form in which a collection may declare it; one that is missed would never be renewed.
import { expect, test } from 'vitest'
import * as z from 'zod'
import { sealedSecret } from './sealed-secret.ts'
import { listSecretFields } from './secret-fields.ts'

const tenant_id = z.string()

test.each<[string, z.ZodType]>([
  ['as it is', sealedSecret],
  ['optional', sealedSecret.optional()],
  ['nullish', sealedSecret.nullish()],
  ['described', sealedSecret.describe('Password of the connection')],
  ['with metadata, optional', sealedSecret.meta({ title: 'Password' }).optional()],
  ['read-only', sealedSecret.readonly()],
  ['beside the text of an earlier release', z.union([sealedSecret, z.string()]).optional()],
  ['refined', sealedSecret.refine(() => true)],
  ['transformed', sealedSecret.transform((value) => value)],
  ['lazy', z.lazy(() => sealedSecret)],
])('a field %s', (_, password) => {
  expect(listSecretFields({ schema: z.strictObject({ tenant_id, password, name: z.string() }) })).toEqual(['password'])
})

test('the fields of each form of a document', () => {
  const kinds = [
    z.strictObject({ tenant_id, kind: z.literal('basic'), password: sealedSecret }),
    z.strictObject({ tenant_id, kind: z.literal('key'), private_key: sealedSecret, password: sealedSecret.optional() }),
  ] as const
  const schema = z.discriminatedUnion('kind', kinds)
  expect(listSecretFields({ schema })).toEqual(['password', 'private_key'])
  expect(listSecretFields({ schema: z.object({ tenant_id }).and(z.object({ token: sealedSecret })) })).toEqual([
    'token',
  ])
})

test('no other field', () => {
  const schema = z.strictObject({ tenant_id, key: z.object({ key: z.string(), sealed: z.string() }) })
  expect(listSecretFields({ schema })).toEqual([])
})
