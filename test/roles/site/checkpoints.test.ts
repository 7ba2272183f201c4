// Records of the site role over HTTP: heads of audit chains that never go back, keys, and the check of crossing labels.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import { serve } from '../../../daemon/boot/serve.ts'
import { jws, publicKey } from '../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { checkpoints } from '../../../daemon/roles/site/checkpoint/model.ts'
import { checkpoint } from '../../../daemon/shared/audit-checkpoint/audit-checkpoint.ts'
import { expectProblem } from '../../support/every-operation/expect-problem.ts'
import { type SingleClusterSite, startSingleClusterSite } from '../../support/site/single-cluster-site.ts'

let site: SingleClusterSite
let admin: string
beforeAll(async () => {
  site = await startSingleClusterSite()
  admin = await site.token({ roles: ['admin'] })
})
afterAll(() => site?.close())

const buildHead = (seq: number, letter = 'a', writer = 'ingest@branch') => ({ writer, seq, hash: letter.repeat(64) })
const postToSite = (path: string, body: unknown, token = admin) =>
  site.request('site', { method: 'POST', path: `/api/v2/site/${path}`, token, body })
const getFromSite = (path: string) =>
  site.request('site', { method: 'GET', path: `/api/v2/site/${path}`, token: admin })

test('a head is anchored once, signed, and never lower than before', async () => {
  const first = await postToSite('checkpoint', buildHead(5))
  expect(first.status, first.text).toBe(201)
  const made = checkpoint.parse(first.json)
  const { id: _id, signature, ...signed } = made
  const keys = joseSignatures({ dir: site.folder.keys }).publicKeys()
  const verified = await joseSignatures({ dir: site.folder.keys }).verify('checkpoint', jws.parse(signature), keys)
  if (typeof verified === 'string') throw new Error(verified)
  expect(Buffer.from(verified.payload).toString()).toBe(canonicalJson(signed))

  expect(await postToSite('checkpoint', buildHead(5)).then(({ json }) => json)).toEqual(made)
  expect(expectProblem(await postToSite('checkpoint', buildHead(5, 'b')), [409]).detail).toMatch(/rewritten/)
  expect(expectProblem(await postToSite('checkpoint', buildHead(4)), [409]).detail).toMatch(/cut short/)
  expect((await postToSite('checkpoint', buildHead(6, 'c'))).status).toBe(201)
  expect((await postToSite('checkpoint', buildHead(1, 'a', 'other@branch'))).status).toBe(201)
  const { items } = (await getFromSite('checkpoint?writer=ingest@branch')).json as { items: { seq: number }[] }
  expect(items.map(({ seq }) => seq).sort()).toEqual([5, 6])
})

test('a chain of this site is anchored by its own role alone', async () => {
  const ahead = buildHead(9_999, 'f', 'consensus@alpha')
  const token = (sub: string, tenant_id = '*') => site.token({ sub, tenant_id, roles: ['service'] })
  expectProblem(await postToSite('checkpoint', ahead), [403])
  expectProblem(await postToSite('checkpoint', ahead, await token('role:site')), [403])
  expectProblem(await postToSite('checkpoint', ahead, await token('role:consensus', 'alpha')), [403])
  const { items } = (await getFromSite('checkpoint?writer=consensus@alpha')).json as { items: { seq: number }[] }
  expect(items.filter(({ seq }) => seq === 9_999)).toEqual([])
})

test('the keys are listed with fingerprints, by use, and never with a private half', async () => {
  const all = (await getFromSite('key')).json as { items: unknown[] }
  expect(all.items.map((item) => publicKey.parse(item).use).sort()).toEqual(['message', 'root', 'token'])
  const messages = (await getFromSite('key?use=message')).json as { items: { use: string }[] }
  expect(messages.items.map(({ use }) => use)).toEqual(['message'])
  expect(JSON.stringify(all)).not.toMatch(/"(d|priv|k)":/)
  expectProblem(await getFromSite('key?use=all'), [422])
})

test.each([
  [
    'below the ceiling and releasable',
    { level: 'SECRET', releasable_to: ['alpha', 'bravo'] },
    true,
    'within the ceiling',
  ],
  ['above the ceiling', { level: 'TOP_SECRET', releasable_to: ['bravo'] }, false, 'above the ceiling'],
  ['of the originator alone', { level: 'UNCLASSIFIED' }, false, 'not release the object'],
  [
    'of a category that does not cross',
    { level: 'SECRET', categories: ['X'], releasable_to: ['bravo'] },
    false,
    'above the ceiling',
  ],
  ['of another policy', { policy: 'FOREIGN', level: 'SECRET', releasable_to: ['bravo'] }, false, 'another policy'],
])('a label %s', async (_, name, allowed, reason) => {
  const label = { policy: 'SITE', originator: 'alpha', ...name }
  const { json } = await postToSite('peer/bravo/crossing', { label })
  expect(json).toEqual({ allowed, reason: expect.stringContaining(reason) })
})

test('nothing crosses to a peer that is not pinned', async () => {
  const label = { policy: 'SITE', originator: 'alpha', level: 'UNCLASSIFIED', releasable_to: ['bravo'] }
  expect((await postToSite('peer/nobody/crossing', { label })).json).toMatchObject({ allowed: false })
})

test('a role that starts again anchors its own chain', async () => {
  await site.running.stop()
  const again = await serve({ folder: site.folder, env: {} })
  try {
    const context = again.services.find(({ role }) => role.name === 'site')?.context
    const filter = { writer: 'site@alpha' }
    await expect.poll(() => context?.store.count(checkpoints, filter), { timeout: 60_000 }).toBe(1)
  } finally {
    await again.stop()
  }
})
