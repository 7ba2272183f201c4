// Messages of a peer that wait, and a channel that two messages of one number have frozen: named on the command line, and cleared by a person.
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { joseSignatures } from '../../adapters/keys/jose/signatures.ts'
import { canonicalJson, sha384 } from '../../daemon/kernel/encoding/canonical-json.ts'
import { createScratchFolder, runCommand, runJsonCommand, serveSite } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('incoming')
const at = (name: string) => path.join(dir, name)
const site = ['--site', at('alpha')]
let stop: () => Promise<unknown>

beforeAll(async () => {
  // The roles of the profile, of which none takes signals.
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

async function dropMessage(seq: number, kind: string): Promise<void> {
  const label = { policy: 'DEMO', level: 'UNCLASSIFIED', categories: [], releasable_to: ['alpha'], originator: 'bravo' }
  const body = canonicalJson({ label, schema: 'test/1', data: {} })
  const ends = { src: 'bravo', dst: 'alpha', sender_tenant_id: 'bravo', receiver_tenant_id: 'alpha' }
  const statement = {
    ...{ v: 1, type: 'platform.message', channel: 'filedrop/bravo/alpha', epoch: 1, seq, kind, label, ...ends },
    ...{ prev: seq === 1 ? '0'.repeat(96) : 'f'.repeat(96), msg_id: `msg_${randomBytes(16).toString('hex')}` },
    created: new Date().toISOString(),
    not_after: new Date(Date.now() + 86_400_000).toISOString(),
    body: { sha384: sha384(body), length: Buffer.byteLength(body), schema: 'test/1' },
    ...{ parent_block_ids: [], max_hops: 1 },
  }
  const signatures = joseSignatures({ dir: at('bravo/keys') })
  const signed = await signatures.sign('statement', Buffer.from(canonicalJson(statement)))
  const stem = at(`alpha/filedrop/bravo/in/new/00000001-${String(seq).padStart(16, '0')}`)
  writeFileSync(`${stem}.body.json`, body)
  writeFileSync(`${stem}.env.json`, JSON.stringify(signed))
}

const readIncoming = async () => {
  const { items } = (await runJsonCommand(['filedrop', 'status', ...site])) as { items: { direction: string }[] }
  return items.find(({ direction }) => direction === 'in')
}
const waitForIncoming = (state: object) =>
  vi.waitFor(async () => expect(await readIncoming()).toMatchObject(state), { timeout: 60_000 })
const range = (first: number, last: number) => ['--first', String(first), '--last', String(last)]

test('a signal to a site without its role stops nothing: status, waiting and doctor name role and kind', async () => {
  await dropMessage(1, 'signal')
  await waitForIncoming({
    ...{ state: 'open', next_seq: 2, backlog: 0 },
    set_aside: [{ role: 'intelligence', kind: 'signal', messages: 1 }],
  })
  expect(await runJsonCommand(['filedrop', 'waiting', 'bravo', ...site])).toMatchObject({
    items: [{ seq: 1, kind: 'signal', waits_for: 'role', role: 'intelligence' }],
  })
  const status = await runCommand(['filedrop', 'status', ...site])
  expect(status.stderr).toContain('1 of kind signal wait for role intelligence, which this site does not run')
  const { stdout } = await runCommand(['doctor', ...site])
  expect(stdout).toContain('1 message of kind signal wait for role intelligence')
  expect(stdout).not.toContain('check the carrier')
})

test('before an inventory has arrived, what is missing is unknown', async () => {
  const { stdout, stderr } = await runCommand(['filedrop', 'gaps', 'bravo', ...site])
  expect(stdout).toContain('unknown')
  expect(stdout).not.toContain('nothing is missing')
  expect(stderr).toContain('Ask the operators of bravo')
})

test('skip and discard need a reason, end the wait, and are in the audit log', async () => {
  await dropMessage(3, 'result')
  await waitForIncoming({ held: 1, gaps: 1 })
  expect(await runCommand(['filedrop', 'skip', 'bravo', ...range(2, 2), '--yes', ...site])).toMatchObject({ exit: 2 })
  const reason = ['--reason', 'bravo has lost it', '--yes', ...site]
  expect(await runJsonCommand(['filedrop', 'skip', 'bravo', ...range(2, 2), ...reason])).toMatchObject({ numbers: 1 })
  expect(await runCommand(['filedrop', 'skip', 'bravo', ...range(2, 2), ...reason])).toMatchObject({ exit: 1 })
  await waitForIncoming({ held: 0, gaps: 0, next_seq: 4 })
  expect(await runJsonCommand(['filedrop', 'discard', 'bravo', ...range(1, 9), ...reason])).toMatchObject({
    numbers: 1,
  })
  expect(await readIncoming()).toMatchObject({ set_aside: [] })
  for (const action of ['site.gap.skip', 'site.message.discard']) {
    const { stdout } = await runCommand(['audit', 'list', '--role', 'site', '--action', action, ...site])
    expect(stdout).toContain(action)
  }
})

const runUnfreeze = (...more: string[]) => runCommand(['filedrop', 'unfreeze', 'bravo', ...site, ...more])

test('refuses to open a channel that is not frozen', async () => {
  const { exit, stderr } = await runUnfreeze('--reason', 'nothing', '--yes')
  expect(exit).not.toBe(0)
  expect(stderr).toContain('not frozen')
})

test('without a reason, and without a yes, nothing is opened; with both it is, and says why it was shut', async () => {
  await dropMessage(3, 'result')
  await waitForIncoming({ state: 'frozen' })
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
    '--role',
    'site',
    '--action',
    'site.channel.unfreeze',
    '--json',
    ...site,
  ])
  expect(trail.stdout, trail.stderr).toContain('settled by telephone')
  expect(trail.stdout).toContain('filedrop/bravo/alpha')
})
