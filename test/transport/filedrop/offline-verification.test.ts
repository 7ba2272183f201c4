// A message is verified on a machine that has nothing but its files and public keys.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import { inspectFile } from '../../../adapters/transport/filedrop/inspection/inspect-file.ts'
import { verifyFile } from '../../../adapters/transport/filedrop/inspection/verify-file.ts'
import type { PublicKey } from '../../../daemon/kernel/cryptography/signatures.ts'
import {
  createFiledropSites,
  type FiledropSites,
  formatReadyPath,
  listChannelFolders,
  sendFromAlpha,
  startReceiving,
} from './filedrop-sites.ts'
import { dropMessage, forgeMessage } from './forge-message.ts'

let world: FiledropSites
let keys: readonly PublicKey[]
const signatures = { verify: verifyJws }
beforeEach(async () => {
  world = await createFiledropSites()
  keys = world.alpha.signatures.publicKeys()
  await startReceiving(world.alpha)
})
afterEach(() => world.dispose())

const formatPublishedPath = (part: string) =>
  join(formatReadyPath(world.alpha, 'bravo'), `00000001-0000000000000001.${part}.json`)

test.each(['env', 'body'])(
  'a published message, named by its %s, passes all checks that need no site',
  async (part) => {
    await sendFromAlpha(world, 1)
    const report = await verifyFile(formatPublishedPath(part), { signatures, keys })
    expect(report).toMatchObject({ ok: true, signers: [keys[0]?.kid], statement: { src: 'alpha', seq: 1 } })
    expect(report.checks.filter(({ outcome }) => outcome === 'passed').map(({ check }) => check)).toEqual([
      ...['name', 'kind', 'size', 'json', 'signature', 'statement', 'digest', 'schema'],
    ])
    expect(report.checks.filter(({ outcome }) => outcome === 'not_made').map(({ check }) => check)).toEqual([
      ...['destination', 'channel', 'freshness', 'sequence', 'label'],
    ])
  },
)

test('a changed body, a missing half, another key and a threshold are told', async () => {
  await sendFromAlpha(world, 1)
  const failure = async (given: Parameters<typeof verifyFile>[1]) => {
    const { ok, checks } = await verifyFile(formatPublishedPath('env'), given)
    expect(ok).toBe(false)
    return checks.find(({ outcome }) => outcome === 'failed')
  }
  expect(await failure({ signatures, keys: world.bravo.signatures.publicKeys() })).toMatchObject({
    reason: 'UNKNOWN_KEY',
  })
  expect(await failure({ signatures, keys, threshold: 2 })).toMatchObject({ reason: 'THRESHOLD' })
  fs.appendFileSync(formatPublishedPath('body'), ' ')
  expect(await failure({ signatures, keys })).toMatchObject({ check: 'digest', reason: 'BODY_DIGEST' })
  fs.rmSync(formatPublishedPath('body'))
  expect(await failure({ signatures, keys })).toMatchObject({ check: 'kind', reason: 'TRUNCATED' })
})

test('a message can be verified where it lies in quarantine', async () => {
  await startReceiving(world.bravo)
  dropMessage(world, await forgeMessage(world, { statement: { dst: 'charlie' } }))
  await world.bravo.transport.rescan()
  const { quarantine } = listChannelFolders(world.bravo, 'alpha')
  const [env = ''] = fs.readdirSync(quarantine).filter((name) => name.endsWith('.env.json'))
  expect(await verifyFile(join(quarantine, env), { signatures, keys })).toMatchObject({ ok: true })
})

test('inspecting shows what the files claim, and what cannot be read', async () => {
  await sendFromAlpha(world, 1, { body: { text: 'hello' } })
  expect(inspectFile(formatPublishedPath('env'))).toMatchObject({
    unverified: { key_ids: [keys[0]?.kid], statement: { src: 'alpha' }, body: { data: { text: 'hello' } } },
    faults: [],
  })
  const sent = await world.alpha.journal.get('filedrop/alpha/bravo', 1, 1)
  expect(inspectFile(formatPublishedPath('env')).unverified).toHaveProperty('statement_digest', sent?.digest)
  fs.writeFileSync(formatPublishedPath('env'), '{"payload":"e30","payload":"e30"}')
  fs.rmSync(formatPublishedPath('body'))
  const { faults } = inspectFile(formatPublishedPath('env'))
  expect(faults.map(({ reason }) => reason)).toEqual(['DUP_KEY', 'TRUNCATED'])
})

test('any file gets an answer', async () => {
  for (const name of ['x', 'x.env.json', '00000001-0000000000000001.env.json', 'body.json']) {
    const path = join(world.dir, name)
    for (const content of ['', '{}', 'null', '[1,2]', '{"payload":5,"signatures":[null]}', '\u0000']) {
      fs.writeFileSync(path, content)
      expect((await verifyFile(path, { signatures, keys })).ok).toBe(false)
      expect(inspectFile(path).envelope).toContain(name)
    }
  }
})
