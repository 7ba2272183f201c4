// The secrets of stored exchanges in a running site: encrypted where an earlier release left text, renewed, and per process.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyFolderDataKeys } from '../../adapters/keys/jose/data-keys.ts'
import { createWrappingKey } from '../../adapters/keys/jose/wrapping-keys.ts'
import { type RunningSite, serve } from '../../daemon/boot/serve.ts'
import { SecretKeyring } from '../../daemon/kernel/secret/secret-keyring.ts'
import { listDataKeys } from '../../daemon/kernel/secret/stored-data-key.ts'
import type { Store } from '../../daemon/kernel/store/store.ts'
import { exchanges } from '../../daemon/roles/resolution/exchange/model.ts'
import { propose } from '../../daemon/roles/resolution/exchange/propose.ts'
import { sharedClassification } from '../roles/consensus/peer-site.ts'
import { type ExchangeFixture, startExchangeFixture } from '../roles/resolution/exchange-fixture.ts'
import { buildPeople } from '../roles/resolution/resolution-site.ts'
import { waitUntil } from '../support/site/test-site.ts'

let fixture: ExchangeFixture
beforeAll(async () => {
  fixture = await startExchangeFixture()
})
afterAll(async () => {
  await fixture?.end()
  // A message on its way to a peer may meet the stop of the site.
  const errors = fixture?.world.loggedErrors.filter(
    (each) => !/^(filedrop\.publish|site\.message\.send)\.failed/.test(each),
  )
  expect(errors ?? []).toEqual([])
})

async function proposeExchange(privacy: 'psi' | 'clk' | 'none' = 'psi'): Promise<string> {
  const { uid } = await (await fixture.ann()).ok(propose, {
    peer: 'bravo',
    lens_id: 'people',
    fields: ['given_name', 'surname'],
    privacy,
    learns: ['alpha'],
    max_set_size: 100,
    ...(privacy === 'clk' ? { linker: 'charlie' } : {}),
    classification: sharedClassification,
    data: buildPeople(0, 5),
  })
  return uid
}

async function openSecret(store: Store, id: string): Promise<string> {
  const value = (await store.get(exchanges, id))?.value
  if (typeof value?.secret !== 'object') throw new Error(`${id} has no sealed secret`)
  const { folder, clock, tenant } = fixture.world
  const source = keyFolderDataKeys({ dir: folder.keys, site: 'alpha', passphrase: () => undefined })('resolution')
  const keyring = new SecretKeyring({ store, tenant_id: tenant, now: clock.now, random: () => '' })
  return await keyring.open(source, exchanges, { id, tenant_id: value.tenant_id }, 'secret', value.secret)
}

const store = () => fixture.world.store('resolution')
const renew = () => fixture.world.wakeWorker('resolution', 'renew-secrets')
const wrappingKeys = async () =>
  (await listDataKeys(store(), exchanges.name)).map(({ value: { wrapping_key } }) => wrapping_key)

test.each(['psi', 'clk'] as const)('an exchange with %s has a secret of 32 bytes, sealed', async (privacy) => {
  expect(await openSecret(store(), await proposeExchange(privacy))).toMatch(/^[0-9a-f]{64}$/)
})

test('an exchange that protects nothing has none', async () => {
  expect(await fixture.stored(await proposeExchange('none'))).not.toHaveProperty('secret')
})

test('a text of an earlier release is encrypted at the next start, and its exchange goes on', async () => {
  const uid = await proposeExchange()
  const secret = '5a'.repeat(32)
  await store().update(exchanges, uid, ({ value }) => ({ next: { ...value, secret }, answer: undefined }))
  await fixture.world.restart()
  await waitUntil(async () => typeof (await fixture.stored(uid)).secret === 'object')
  expect(await openSecret(store(), uid)).toBe(secret)
})

test('after the wrapping key was rotated, secrets get a data key under the new one', async () => {
  const uid = await proposeExchange()
  const secret = await openSecret(store(), uid)
  const { kid } = await createWrappingKey(fixture.world.folder.keys, { now: fixture.world.clock.now() })
  renew()
  await waitUntil(async () => (await wrappingKeys()).includes(kid))
  const newest = (await listDataKeys(store(), exchanges.name)).at(-1)
  await waitUntil(async () => {
    const { secret: sealed } = await fixture.stored(uid)
    return typeof sealed === 'object' && sealed.key === newest?.id
  })
  expect(await openSecret(store(), uid)).toBe(secret)
})

test('a role in a process of its own gets its keys over the socket of role site', async () => {
  const { world } = fixture
  await world.stop()
  const { folder, clock } = world
  const errors: string[] = []
  const silent = () => undefined
  const log = { debug: silent, info: silent, warn: silent, error: (event: string) => void errors.push(event) }
  const running: RunningSite[] = []
  try {
    for (const role of ['site', 'resolution']) running.push(await serve({ folder, env: {}, clock, log, roles: [role] }))
    const context = running[1]?.services[0]?.context
    if (!context) throw new Error('resolution does not run')
    const created = await context.store.list(exchanges, { filter: { state: 'proposed' }, limit: 100 })
    const sealed = created.docs.filter(({ value }) => value.secret !== undefined)
    expect(sealed.length).toBeGreaterThan(2)
    for (const { id } of sealed) expect(await openSecret(context.store, id)).toMatch(/^[0-9a-f]{64}$/)
    const before = (await listDataKeys(context.store, exchanges.name)).length
    const { kid } = await createWrappingKey(folder.keys, { now: clock.now() })
    running[1]?.services[0]?.wake('renew-secrets')
    await waitUntil(async () => {
      const keys = await listDataKeys(context.store, exchanges.name)
      return keys.length === before + 1 && keys.at(-1)?.value.wrapping_key === kid
    })
    expect(errors).toEqual([])
  } finally {
    for (const each of running.reverse()) await each.stop()
    await world.start()
  }
})
