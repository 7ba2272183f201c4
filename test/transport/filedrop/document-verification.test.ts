// Signed documents that are one file are verified offline by the rules of their readers.

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { importJwks } from '../../../adapters/keys/jose/jwks.ts'
import { signWithKeys, verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import { verifyFile } from '../../../adapters/transport/filedrop/inspection/verify-file.ts'
import type { PublicKey, SignatureType } from '../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { messageKinds } from '../../../daemon/message-kinds.ts'
import { type PinnedKeySet, pinKeySet } from '../../../daemon/shared/key-set/key-succession.ts'
import { buildNextKeySet, createUnstoredKey, signKeySet } from '../../keys/key-set-fixture.ts'
import { repositoryRoot } from '../../support/repository/source-tree.ts'

const dir = mkdtempSync(join(tmpdir(), 'platform-documents-'))
const signatures = { verify: verifyJws }
const at = '2026-01-01T12:00:00.000Z'
const [message, root, personal, second, stranger] = await Promise.all([
  createUnstoredKey(),
  createUnstoredKey('root'),
  createUnstoredKey('personal'),
  createUnstoredKey('personal'),
  createUnstoredKey(),
])
const keys = [message, root, personal, second].map(({ public_key }) => public_key)

async function verifyDocument(document: object, key_set?: PinnedKeySet) {
  const path = join(dir, 'document.json')
  writeFileSync(path, JSON.stringify(document))
  const { ok, checks } = await verifyFile(path, { kinds: messageKinds, signatures, keys, key_set })
  const [check] = checks
  expect(checks).toHaveLength(1)
  expect(ok).toBe(check?.outcome === 'passed')
  return ok ? [check?.check, 'holds'] : [check?.check, check?.reason, check?.code]
}

async function verifyFileBy(document: object, by: readonly PublicKey[]) {
  const path = join(dir, 'document.json')
  writeFileSync(path, JSON.stringify(document))
  const [check] = (await verifyFile(path, { kinds: messageKinds, signatures, keys: by })).checks
  return [check?.check, check?.reason, check?.code]
}

const sign = async (type: SignatureType, content: object, key = message) =>
  await signWithKeys([key], type, Buffer.from(canonicalJson(content)))

const receipt = {
  ...{ v: 1, type: 'platform.gap_receipt', channel: 'filedrop/bravo/alpha', src: 'alpha', dst: 'bravo', epoch: 1 },
  ...{ highest: 9, floor: 3, missing: [{ first: 4, last: 5 }], created: at, not_after: at },
}
const epoch = {
  ...{ v: 1, type: 'platform.epoch', channel: 'filedrop/alpha/bravo', src: 'alpha', dst: 'bravo', epoch: 2 },
  ...{ reason: 'restored', created: at },
}
const release = {
  ...{ v: 1, type: 'platform.release', step: 'request', site: 'alpha', item: 'bravo/1' },
  digests: ['a'.repeat(96), 'b'.repeat(96)],
  ...{ waiver: 'EXPIRED', reason: 'late', subject: 'ann', created: at },
}

test('a gap receipt', async () => {
  expect(await verifyDocument(await sign('gap-receipt', receipt))).toEqual(['receipt', 'holds'])
  const refused = (code: string) => ['receipt', 'REFUSED', code]
  expect(await verifyDocument(await sign('gap-receipt', receipt, stranger))).toEqual(refused('signature_invalid'))
  const about = async (change: object) => await verifyDocument(await sign('gap-receipt', { ...receipt, ...change }))
  expect(await about({ channel: 'filedrop/bravo/charlie' })).toEqual(refused('invalid'))
  expect(await about({ missing: [{ first: 5, last: 4 }] })).toEqual(refused('invalid'))
})

test('an epoch announcement', async () => {
  expect(await verifyDocument(await sign('epoch', epoch, root))).toEqual(['epoch', 'holds'])
  const disguised = { ...message, public_key: { ...message.public_key, use: 'root' as const } }
  expect(await verifyDocument(await sign('epoch', epoch, disguised))).toEqual(['epoch', 'REFUSED', 'signature_invalid'])
  const other = await sign('epoch', { ...epoch, channel: 'filedrop/alpha/charlie' }, root)
  expect(await verifyDocument(other)).toEqual(['epoch', 'REFUSED', 'invalid'])
})

test('a key set', async () => {
  const set = buildNextKeySet(undefined, [root, message])
  expect(await verifyDocument(await signKeySet(set, [root]))).toEqual(['keys', 'holds'])
  const other = await createUnstoredKey('root')
  const forged = await signKeySet(buildNextKeySet(undefined, [other, message]), [other])
  expect(await verifyDocument(forged)).toEqual(['keys', 'REFUSED', 'signature_invalid'])
})

test('a release', async () => {
  expect(await verifyDocument(await sign('release', release, personal))).toEqual(['release', 'holds'])
  const disguised = { ...message, public_key: { ...message.public_key, use: 'personal' as const } }
  const forged = await sign('release', release, disguised)
  expect(await verifyDocument(forged)).toEqual(['release', 'REFUSED', 'signature_invalid'])
})

test('a release by two keys, one that is not canonical, and one that no site can accept', async () => {
  const refused = (code: string) => ['release', 'REFUSED', code]
  const text = Buffer.from(canonicalJson(release))
  const two = await signWithKeys([personal, second], 'release', text)
  const first = await signWithKeys([personal], 'release', text)
  const repeated = { ...first, signatures: [...first.signatures, ...first.signatures] }
  expect(await verifyDocument(two)).toEqual(refused('signature_invalid'))
  expect(await verifyDocument(repeated)).toEqual(refused('signature_invalid'))
  const spaced = await signWithKeys([personal], 'release', Buffer.from(JSON.stringify(release, undefined, 1)))
  expect(await verifyDocument(spaced)).toEqual(refused('invalid'))
  const retired = { ...personal, public_key: { ...personal.public_key, status: 'retired' as const } }
  expect(await verifyFileBy(first, [retired.public_key])).toEqual(refused('signature_invalid'))
  const label = { policy: 'SITE', level: 'SECRET', categories: [], originator: 'b' }
  for (const change of [{ waiver: 'LABEL_MISSING' }, { label }, { digests: ['a'.repeat(96)] }]) {
    expect(await verifyDocument(await sign('release', { ...release, ...change }, personal))).toEqual(refused('invalid'))
  }
})

test('the key set of another site vouches for no document in the name of this one', async () => {
  const set = (site: string) => pinKeySet({ ...buildNextKeySet(undefined, [root, message]), site }, 'a'.repeat(96))
  const [own, other] = [set('alpha'), set('charlie')]
  const documents = [await sign('gap-receipt', receipt), await sign('epoch', epoch, root)]
  for (const document of documents) {
    expect((await verifyDocument(document, own))[1]).toBe('holds')
    expect((await verifyDocument(document, other)).slice(1)).toEqual(['REFUSED', 'invalid'])
  }
})

test.each(['env', 'body'])(
  'a document under the name of a message’s %s is half of a message, as for intake',
  async (part) => {
    const path = join(dir, `00000001-0000000000000001.${part}.json`)
    writeFileSync(path, JSON.stringify(await sign('epoch', epoch, root)))
    writeFileSync(path.replace('body', 'env'), JSON.stringify(await sign('epoch', epoch, root)))
    writeFileSync(path.replace('env', 'body'), JSON.stringify({}))
    const { ok, checks } = await verifyFile(path, { kinds: messageKinds, signatures, keys })
    expect([ok, checks.find(({ outcome }) => outcome === 'failed')]).toMatchObject([false, { reason: 'BAD_SIG' }])
  },
)

test('a courier’s manifest, with the files beside it', async () => {
  const vectors = join(repositoryRoot, 'docs', 'filedrop-vectors')
  const vectorKeys = importJwks(JSON.parse(readFileSync(join(vectors, 'keys', 'alpha.json'), 'utf8')))
  cpSync(vectors, join(dir, 'medium'), { recursive: true })
  const folder = readdirSync(join(dir, 'medium')).find((name) => name.includes('-to-')) ?? ''
  const medium = join(dir, 'medium', folder)
  const verify = async () =>
    await verifyFile(join(medium, 'MANIFEST.json'), { kinds: messageKinds, signatures, keys: vectorKeys })
  expect((await verify()).checks).toEqual([{ check: 'manifest', outcome: 'passed' }])
  const body = readdirSync(medium).find((name) => name.endsWith('.body.json')) ?? ''
  writeFileSync(join(medium, body), `${readFileSync(join(medium, body), 'utf8')} `)
  expect((await verify()).checks).toMatchObject([
    { outcome: 'failed', reason: 'REFUSED', code: 'invalid', detail: expect.stringContaining(body) },
  ])
})

test('a manifest that lists half of a message', async () => {
  const folder = join(dir, 'half')
  mkdirSync(folder)
  const name = '00000001-0000000000000001.env.json'
  writeFileSync(join(folder, name), '{}')
  const manifest = {
    ...{ v: 1, type: 'platform.manifest', src: 'alpha', dst: 'bravo', channel: 'filedrop/alpha/bravo', created: at },
    ...{ medium: '0'.repeat(16), files: [{ name, bytes: 2, sha384: sha384('{}') }] },
  }
  const path = join(folder, 'MANIFEST.json')
  writeFileSync(path, JSON.stringify(await sign('manifest', manifest)))
  const { checks } = await verifyFile(path, { kinds: messageKinds, signatures, keys })
  expect(checks).toMatchObject([{ outcome: 'failed', detail: expect.stringContaining('only this half') }])
})
