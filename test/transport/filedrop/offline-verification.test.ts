// A message is verified on a machine that has nothing but its files and public keys.

import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import { inspectFile } from '../../../adapters/transport/filedrop/inspection/inspect-file.ts'
import {
  type FileVerificationOptions,
  verifyFile,
} from '../../../adapters/transport/filedrop/inspection/verify-file.ts'
import type { PublicKey } from '../../../daemon/kernel/cryptography/signatures.ts'
import { messageKinds } from '../../../daemon/message-kinds.ts'
import type { PinnedKeySet } from '../../../daemon/shared/key-set/key-succession.ts'
import {
  type FiledropSites,
  formatReadyPath,
  listChannelFolders,
  sendFromAlpha,
  startReceiving,
} from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../support/filedrop/filedrop-test.ts'
import { dropMessage, forgeMessage } from '../../support/filedrop/forge-message.ts'

const test = filedropTest.extend({ options: { receiving: ['alpha'] } })
let keys: readonly PublicKey[]
const signatures = { verify: verifyJws }
test.beforeEach(async ({ sites }) => {
  keys = sites.alpha.signatures.publicKeys()
})

const formatPublishedPath = (sites: FiledropSites, part: string) =>
  join(formatReadyPath(sites.alpha, 'bravo'), `00000001-0000000000000001.${part}.json`)

test.for(['env', 'body'])(
  'a published message, named by its %s, passes all checks that need no site',
  async (part, { sites }) => {
    await sendFromAlpha(sites, 1)
    const report = await verifyFile(formatPublishedPath(sites, part), { kinds: messageKinds, signatures, keys })
    expect(report).toMatchObject({ ok: true, signers: [keys[0]?.kid], statement: { src: 'alpha', seq: 1 } })
    expect(report.checks.filter(({ outcome }) => outcome === 'passed').map(({ check }) => check)).toEqual([
      ...['name', 'kind', 'size', 'json', 'signature', 'statement', 'digest', 'schema'],
    ])
    expect(report.checks.filter(({ outcome }) => outcome === 'not_made').map(({ check }) => check)).toEqual([
      ...['destination', 'channel', 'freshness', 'sequence', 'label'],
    ])
  },
)

test('reports a changed body, a missing half, another key and a threshold', async ({ sites }) => {
  await sendFromAlpha(sites, 1)
  const failure = async (options: Omit<FileVerificationOptions, 'kinds'>) => {
    const { ok, checks } = await verifyFile(formatPublishedPath(sites, 'env'), { kinds: messageKinds, ...options })
    expect(ok).toBe(false)
    return checks.find(({ outcome }) => outcome === 'failed')
  }
  expect(await failure({ signatures, keys: sites.bravo.signatures.publicKeys() })).toMatchObject({
    reason: 'UNKNOWN_KEY',
  })
  expect(await failure({ signatures, keys, threshold: 2 })).toMatchObject({ reason: 'THRESHOLD' })
  fs.appendFileSync(formatPublishedPath(sites, 'body'), ' ')
  expect(await failure({ signatures, keys })).toMatchObject({ check: 'digest', reason: 'BODY_DIGEST' })
  fs.rmSync(formatPublishedPath(sites, 'body'))
  expect(await failure({ signatures, keys })).toMatchObject({ check: 'kind', reason: 'TRUNCATED' })
})

test('a message can be verified where it lies in quarantine', async ({ sites }) => {
  await startReceiving(sites.bravo)
  dropMessage(sites, await forgeMessage(sites, { statement: { receiver_tenant_id: 'tenant-x' } }))
  await sites.bravo.transport.rescan()
  const { quarantine } = listChannelFolders(sites.bravo, 'alpha')
  const [env = ''] = fs.readdirSync(quarantine).filter((name) => name.endsWith('.env.json'))
  expect(await verifyFile(join(quarantine, env), { kinds: messageKinds, signatures, keys })).toMatchObject({ ok: true })
})

test('a statement that contradicts itself or the key set of its sender is refused as by intake', async ({ sites }) => {
  const set = (site: string, tenant_id: string): PinnedKeySet => {
    return { site, tenant_id, version: 1, digest: 'a'.repeat(96), root_threshold: 1, keys, revoked: [] }
  }
  const verify = async (statement: Record<string, unknown>, key_set?: PinnedKeySet) => {
    const forged = await forgeMessage(sites, { statement })
    dropMessage(sites, forged)
    const path = join(listChannelFolders(sites.bravo, 'alpha').fresh, `${forged.stem}.env.json`)
    const { ok, checks } = await verifyFile(path, { kinds: messageKinds, signatures, keys, key_set })
    return ok || checks.find(({ outcome }) => outcome === 'failed')?.reason
  }
  expect(await verify({})).toBe(true)
  expect(await verify({}, set('alpha', sites.alpha.tenant_id))).toBe(true)
  expect(await verify({}, set('charlie', sites.alpha.tenant_id))).toBe('WRONG_CHANNEL')
  expect(await verify({}, set('alpha', 'tenant-x'))).toBe('WRONG_CHANNEL')
  expect(await verify({ channel: 'filedrop/alpha/charlie' })).toBe('WRONG_CHANNEL')
  expect(await verify({ prev: 'f'.repeat(96) })).toBe('CHAIN_BREAK')
})

test('inspecting shows what the files claim, and what cannot be read', async ({ sites }) => {
  await sendFromAlpha(sites, 1, { body: { text: 'hello' } })
  expect(inspectFile(formatPublishedPath(sites, 'env'))).toMatchObject({
    unverified: { key_ids: [keys[0]?.kid], statement: { src: 'alpha' }, body: { data: { text: 'hello' } } },
    faults: [],
  })
  const sent = await sites.alpha.journal.get('filedrop/alpha/bravo', 1, 1)
  expect(inspectFile(formatPublishedPath(sites, 'env')).unverified).toHaveProperty('statement_digest', sent?.digest)
  fs.writeFileSync(formatPublishedPath(sites, 'env'), '{"payload":"e30","payload":"e30"}')
  fs.rmSync(formatPublishedPath(sites, 'body'))
  const { faults } = inspectFile(formatPublishedPath(sites, 'env'))
  expect(faults.map(({ reason }) => reason)).toEqual(['DUP_KEY', 'TRUNCATED'])
})

test('any file gets an answer', async ({ sites }) => {
  for (const name of ['x', 'x.env.json', '00000001-0000000000000001.env.json', 'body.json']) {
    const path = join(sites.dir, name)
    for (const content of ['', '{}', 'null', '[1,2]', '{"payload":5,"signatures":[null]}', '\u0000']) {
      fs.writeFileSync(path, content)
      expect((await verifyFile(path, { kinds: messageKinds, signatures, keys })).ok).toBe(false)
      expect(inspectFile(path).envelope).toContain(name)
    }
  }
})
