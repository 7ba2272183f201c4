// The site signs documents of a role with its key for that role alone, and of no type that no role declares.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestSite, type TestSite } from '../../support/site/test-site.ts'

let world: TestSite
beforeAll(async () => {
  world = await startTestSite()
})
afterAll(() => world.end())

async function requestSignature(subject: string, type: string) {
  const token = await world.token(
    subject.startsWith('role:') ? { subject, tenant: '*', roles: ['service'] } : { subject, roles: [subject] },
  )
  const body = { type, payload: 'e30' }
  const { status, json } = await world.call('site', 'POST', '/api/v2/site/signature', body, { token })
  return [status, (json as { code?: string }).code]
}

test.each([
  ['role:consensus', 'evidence', 200, undefined],
  ['role:resolution', 'registry', 200, undefined],
  ['role:resolution', 'evidence', 403, 'forbidden'],
  ['role:consensus', 'registry', 403, 'forbidden'],
  ['role:intelligence', 'evidence', 403, 'forbidden'],
  ['role:consensus', 'dataset', 422, 'invalid'],
  ['role:consensus', 'statement', 422, 'invalid'],
  ['role:consensus', 'keyset', 422, 'invalid'],
  ['role:consensus', 'constructor', 422, 'invalid'],
  ['admin', 'evidence', 403, 'forbidden'],
  ['admin', 'statement', 403, 'forbidden'],
  ['operator', 'evidence', 403, 'forbidden'],
  ['service', 'evidence', 403, 'forbidden'],
  ['service', 'registry', 403, 'forbidden'],
])('%s requests a signature of type %s: %i', async (subject, type, status, code) => {
  expect(await requestSignature(subject, type)).toEqual([status, code])
})

test.each(['keyset', 'release', 'constructor', 'dataset'])(
  'no signature of type %s is verified for a role',
  async (type) => {
    const token = await world.token({ subject: 'role:consensus', tenant: '*', roles: ['service'] })
    const envelope = { payload: 'e30', signatures: [{ protected: 'e30', signature: 'e30' }] }
    const body = { peer: 'bravo', type, envelope }
    const { status, json } = await world.call('site', 'POST', '/api/v2/site/message/verify', body, { token })
    expect([status, (json as { code: string }).code]).toEqual([422, 'invalid'])
  },
)
