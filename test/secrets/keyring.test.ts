// Data keys of a role over their life: created once, replaced, and never lost with a secret, by one process or two.
import { describe, expect, test } from 'vitest'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import {
  connections,
  createSecretFixture,
  type FaultPoint,
  ProcessKilled,
  type SecretFixture,
  type SecretProcess,
} from './secret-fixture.ts'

const tenant_id = 'tenant-a'

async function storedPassword({ store }: SecretFixture, id: string) {
  const password = (await store.get(connections, id))?.value.password
  if (typeof password !== 'object') throw new Error(`${id} has no sealed password`)
  return password
}

test('a secret opens in the next process, and its text is nowhere in the document', async () => {
  const fixture = await createSecretFixture()
  await fixture.start().write('con_1', 'hunter2')
  expect(JSON.stringify(await fixture.store.get(connections, 'con_1'))).not.toContain('hunter2')
  expect(await fixture.start().read('con_1')).toBe('hunter2')
})

test('many secrets at once share one key', async () => {
  const fixture = await createSecretFixture()
  const process = fixture.start()
  await Promise.all(Array.from({ length: 20 }, (_, n) => process.write(`con_${n}`, `p${n}`)))
  expect(await fixture.keyIds()).toHaveLength(1)
  expect(await process.read('con_19')).toBe('p19')
})

test('a secret copied into another document does not open there', async () => {
  const fixture = await createSecretFixture()
  const process = fixture.start()
  await process.write('con_1', 'hunter2')
  const password = await storedPassword(fixture, 'con_1')
  await fixture.store.create(connections, 'con_2', { tenant_id, name: 'thief', password })
  await expect(process.read('con_2')).rejects.toMatchObject({ code: 'internal' })
  await expect(
    process.keyring.open(process.source, connections, { id: 'con_1', tenant_id: 'tenant-b' }, 'password', password),
  ).rejects.toMatchObject({ code: 'internal' })
})

test.each<[string, (fixture: SecretFixture) => Promise<void>]>([
  ['after 90 days', async ({ advanceDays }) => advanceDays(90)],
  ['once the site has another wrapping key', ({ rotateWrappingKey }) => rotateWrappingKey()],
])('%s a new key encrypts new and old secrets', async (_, pass) => {
  const fixture = await createSecretFixture()
  const process = fixture.start()
  for (const n of [1, 2, 3]) await process.write(`con_${n}`, `p${n}`)
  const [old] = await fixture.keyIds()
  await process.renew()
  await pass(fixture)
  expect(await process.renew()).toEqual({ resealed: 3, lost: [] })
  await process.write('con_4', 'p4')
  for (const n of [1, 2, 3, 4]) {
    expect((await storedPassword(fixture, `con_${n}`)).key).not.toBe(old)
    expect(await process.read(`con_${n}`)).toBe(`p${n}`)
  }
})

test('a key that was replaced stays, so that a call under way may still store what it sealed', async () => {
  const fixture = await createSecretFixture()
  const first = fixture.start()
  await first.write('con_1', 'p1')
  const inFlight = await first.seal('con_2', 'p2')
  fixture.advanceDays(90)
  await first.renew()
  fixture.advanceDays(400)
  await fixture.start().renew()
  await fixture.store.create(connections, 'con_2', { tenant_id, name: 'late', password: inFlight })
  expect(await first.read('con_2')).toBe('p2')
  const next = fixture.start()
  expect(await next.renew()).toEqual({ resealed: 1, lost: [] })
  expect([await next.read('con_1'), await next.read('con_2')]).toEqual(['p1', 'p2'])
})

describe('of two processes of a role', () => {
  test('each follows a rotation of the other, and neither undoes it', async () => {
    const fixture = await createSecretFixture()
    const [first, second] = [fixture.start(), fixture.start()]
    await first.write('con_1', 'p1')
    await second.write('con_2', 'p2')
    fixture.advanceDays(91)
    expect((await first.renew()).resealed).toBe(2)
    expect((await second.renew()).resealed).toBe(0)
    expect((await first.renew()).resealed).toBe(0)
    await second.write('con_3', 'p3')
    const newest = (await fixture.keyIds()).at(-1)
    for (const id of ['con_1', 'con_2', 'con_3']) expect((await storedPassword(fixture, id)).key).toBe(newest)
  })

  test('one that runs on through rotations and restarts of the other loses nothing that it stores', async () => {
    const fixture = await createSecretFixture()
    const steady = fixture.start()
    await steady.write('con_0', 'p0')
    for (const n of [1, 2, 3]) {
      fixture.advanceDays(91)
      await fixture.start().renew()
      fixture.advanceDays(2)
      await fixture.start().renew()
      await steady.write(`con_${n}`, `p${n}`)
    }
    for (const process of [steady, fixture.start()])
      for (const n of [0, 1, 2, 3]) expect(await process.read(`con_${n}`)).toBe(`p${n}`)
  })

  test('both may store their first secret at the same moment, or rotate at the same moment', async () => {
    const fixture = await createSecretFixture()
    const processes = [fixture.start(), fixture.start()]
    const readAll = async () => {
      const ids = processes.map((_, n) => `con_${n}`)
      for (const reader of [...processes, fixture.start()])
        expect(await Promise.all(ids.map((id) => reader.read(id)))).toEqual(['p0', 'p1'])
    }
    await Promise.all(processes.map((process, n) => process.write(`con_${n}`, `p${n}`)))
    await readAll()
    fixture.advanceDays(91)
    await Promise.all(processes.map((process) => process.renew()))
    await readAll()
    for (const process of processes) await process.renew()
    const newest = (await fixture.keyIds()).at(-1)
    expect((await storedPassword(fixture, 'con_0')).key).toBe(newest)
    expect((await storedPassword(fixture, 'con_1')).key).toBe(newest)
    expect(await Promise.all(processes.map((process) => process.renew()))).toEqual([
      { resealed: 0, lost: [] },
      { resealed: 0, lost: [] },
    ])
    await readAll()
  })
})

test('a clock that was set back does not make an older key the newest', async () => {
  const fixture = await createSecretFixture()
  const process = fixture.start()
  await process.write('con_1', 'p1')
  fixture.advanceDays(-400)
  await fixture.rotateWrappingKey()
  await process.renew()
  const again = fixture.start()
  expect(await again.renew()).toEqual({ resealed: 0, lost: [] })
  expect(await fixture.keyIds()).toHaveLength(2)
  expect(await again.read('con_1')).toBe('p1')
})

test('a text that an earlier release stored is encrypted by the first run', async () => {
  const fixture = await createSecretFixture()
  await fixture.store.create(connections, 'con_1', { tenant_id, name: 'old', password: 'hunter2' })
  await fixture.store.create(connections, 'con_2', { tenant_id, name: 'none' })
  const process = fixture.start()
  expect(await process.renew()).toEqual({ resealed: 1, lost: [] })
  expect(JSON.stringify(await fixture.store.get(connections, 'con_1'))).not.toContain('hunter2')
  expect(await process.read('con_1')).toBe('hunter2')
})

test('a lost wrapping key loses its secrets alone: they are named, and open again once it is back', async () => {
  const fixture = await createSecretFixture()
  await fixture.start().write('con_1', 'p1')
  const restore = fixture.loseWrappingKey()
  await fixture.rotateWrappingKey()
  const process = fixture.start()
  await process.write('con_2', 'p2')
  fixture.advanceDays(2)
  expect(await process.renew()).toEqual({ resealed: 0, lost: ['con_1'] })
  await expect(process.read('con_1')).rejects.toMatchObject({ code: 'internal' })
  expect(await process.read('con_2')).toBe('p2')
  expect(await fixture.start().renew()).toMatchObject({ lost: ['con_1'] })
  restore()
  // The run that named it looks for it again.
  expect((await process.renew()).lost).toEqual([])
  expect((await storedPassword(fixture, 'con_1')).key).toBe((await fixture.keyIds()).at(-1))
  expect(await fixture.start().read('con_1')).toBe('p1')
})

test('a secret that was altered is named, and the others are renewed', async () => {
  const fixture = await createSecretFixture()
  const process = fixture.start()
  for (const n of [1, 2]) await process.write(`con_${n}`, `p${n}`)
  const password = await storedPassword(fixture, 'con_1')
  const sealed = `${password.sealed.slice(0, -4)}AAAA`
  await fixture.store.update(connections, 'con_1', ({ value }) => ({
    next: { ...value, password: { ...password, sealed } },
    answer: undefined,
  }))
  fixture.advanceDays(90)
  expect(await process.renew()).toEqual({ resealed: 1, lost: ['con_1'] })
})

/** A renewal and a change of a secret; where the process is to be killed, another renewal. Whether the fault was met. */
async function liveThrough(process: SecretProcess, { step, kind }: FaultPoint): Promise<boolean> {
  try {
    await process.renew()
    await process.write('con_3', 'new')
    // A failure is not followed by another renewal, which would repair what it left.
    if (kind !== 'failed at') await process.renew()
  } catch (error) {
    if (error instanceof ProcessKilled || isRefusal(error)) return true
    throw error
  }
  return process.steps() >= step
}

test.each(['killed before', 'killed after', 'failed at'] as const)(
  '%s any step of a rotation, nothing is lost and the next run ends it',
  async (kind) => {
    let step = 0
    let wasMet = true
    while (wasMet) {
      step += 1
      const fixture = await createSecretFixture()
      const first = fixture.start()
      for (const n of [1, 2, 3]) await first.write(`con_${n}`, `p${n}`)
      await fixture.store.create(connections, 'con_4', { tenant_id, name: 'text', password: 'p4' })
      fixture.advanceDays(91)
      await fixture.rotateWrappingKey()
      wasMet = await liveThrough(fixture.start({ step, kind }), { step, kind })
      const next = fixture.start()
      expect(['p3', 'new']).toContain(await next.read('con_3'))
      expect((await next.renew()).lost).toEqual([])
      expect(await Promise.all(['con_1', 'con_2', 'con_4'].map((id) => next.read(id)))).toEqual(['p1', 'p2', 'p4'])
      fixture.advanceDays(2)
      const last = fixture.start()
      expect((await last.renew()).lost).toEqual([])
      const newest = (await fixture.keyIds()).at(-1)
      for (const id of ['con_1', 'con_2', 'con_3', 'con_4'])
        expect((await storedPassword(fixture, id)).key).toBe(newest)
      expect(await Promise.all(['con_1', 'con_2', 'con_4'].map((id) => last.read(id)))).toEqual(['p1', 'p2', 'p4'])
    }
    // Listing, creating, storing and opening keys, and a write for each document.
    expect(step).toBeGreaterThan(12)
  },
)

test('a key that could not be stored encrypts nothing', async () => {
  const fixture = await createSecretFixture()
  // Steps: list the keys, create one, store it.
  const process = fixture.start({ step: 3, kind: 'failed at' })
  await expect(process.write('con_1', 'p1')).rejects.toMatchObject({ code: 'unavailable' })
  await process.write('con_1', 'p1')
  expect(await fixture.keyIds()).toEqual([(await storedPassword(fixture, 'con_1')).key])
  expect(await fixture.start().read('con_1')).toBe('p1')
})
