// A frozen channel from a peer is opened by a person's word alone: named, with a reason, and on record.
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { joseSignatures } from '../../adapters/keys/jose/signatures.ts'
import { canonicalJson, sha384 } from '../../daemon/kernel/encoding/canonical-json.ts'
import { createScratchFolder, runCommand, runJsonCommand, serveSite } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('unfreeze')
const at = (name: string) => path.join(dir, name)
const site = ['--site', at('alpha')]
let stop: () => Promise<unknown>

beforeAll(async () => {
  for (const name of ['alpha', 'bravo']) await runJsonCommand(['init', '--site', at(name), '--profile', 'demo'])
  await runCommand(['keys', 'export', '--site', at('bravo'), '--out', at('bravo.json')])
  const named = joseSignatures({ dir: at('bravo/keys') })
    .publicKeys()
    .filter(({ use }) => use !== 'token')
    .map(({ fingerprint }) => fingerprint)
  const words = ['peers', 'add', 'bravo', ...site, '--keys', at('bravo.json'), '--tenant', 'bravo']
  await runJsonCommand([...words, '--ceiling', 'RESTRICTED', '--fingerprint', named.join(',')])
  stop = (await serveSite(at('alpha'))).stop
})
afterAll(async () => {
  await stop?.()
  remove()
})

/** Number 1 from bravo, never twice the same. */
async function dropForgedMessage(): Promise<void> {
  const label = { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'bravo' }
  const body = canonicalJson({ label, schema: 'test/1', data: {} })
  const statement = {
    ...{
      v: 1,
      type: 'platform.message',
      channel: 'filedrop/bravo/alpha',
      src: 'bravo',
      dst: 'alpha',
      epoch: 1,
      seq: 1,
    },
    ...{ sender_tenant_id: 'bravo', receiver_tenant_id: 'alpha', prev: '0'.repeat(96), kind: 'signal', label },
    ...{ msg_id: `msg_${randomBytes(16).toString('hex')}`, created: new Date().toISOString() },
    not_after: new Date(Date.now() + 86_400_000).toISOString(),
    body: { sha384: sha384(body), length: Buffer.byteLength(body), schema: 'test/1' },
    ...{ parent_block_ids: [], max_hops: 1 },
  }
  const signed = await joseSignatures({ dir: at('bravo/keys') }).sign(
    'statement',
    Buffer.from(canonicalJson(statement)),
  )
  const stem = at('alpha/filedrop/bravo/in/new/00000001-0000000000000001')
  writeFileSync(`${stem}.body.json`, body)
  writeFileSync(`${stem}.env.json`, JSON.stringify(signed))
}

const readIncoming = async () => {
  const { items: channels } = (await runJsonCommand(['filedrop', 'status', ...site])) as {
    items: { direction: string; state: string }[]
  }
  return channels.find(({ direction }) => direction === 'in')
}
const runUnfreeze = (...more: string[]) => runCommand(['filedrop', 'unfreeze', 'bravo', ...site, ...more])

test('refuses to open a channel that is not frozen', async () => {
  const { exit, stderr } = await runUnfreeze('--reason', 'nothing', '--yes')
  expect(exit).not.toBe(0)
  expect(stderr).toContain('not frozen')
})

test('without a reason, and without a yes, nothing is opened; with both it is, and says why it was shut', async () => {
  await dropForgedMessage()
  await vi.waitFor(async () => expect(await readIncoming()).toMatchObject({ highest_seq: 1 }), { timeout: 60_000 })
  await dropForgedMessage()
  await vi.waitFor(async () => expect(await readIncoming()).toMatchObject({ state: 'frozen' }), { timeout: 60_000 })
  expect(await runUnfreeze('--yes')).toMatchObject({ exit: 2 })
  expect(await runUnfreeze('--reason', ' ', '--yes')).not.toMatchObject({ exit: 0 })
  const unasked = await runUnfreeze('--reason', 'settled by telephone')
  expect(unasked).toMatchObject({ exit: 3 })
  expect(unasked.stderr).toContain('--yes')
  expect(await readIncoming()).toMatchObject({ state: 'frozen' })

  const opened = await runUnfreeze('--reason', 'settled by telephone', '--yes')
  expect(opened.exit, opened.stderr).toBe(0)
  expect(opened.stdout).toContain('two different messages under one number')
  expect(await readIncoming()).toMatchObject({ state: 'open' })
  const trail = await runCommand([
    'audit',
    'list',
    ...site,
    '--role',
    'site',
    '--action',
    'site.channel.unfreeze',
    '--json',
  ])
  expect(trail.stdout, trail.stderr).toContain('settled by telephone')
  expect(trail.stdout).toContain('filedrop/bravo/alpha')
})
