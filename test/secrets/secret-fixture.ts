// A role with a secret field on a real store, whose process may end at any step and begin again.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import * as z from 'zod'
import { keyFolderDataKeys } from '../../adapters/keys/jose/data-keys.ts'
import { createWrappingKey } from '../../adapters/keys/jose/wrapping-keys.ts'
import { refuse } from '../../daemon/kernel/error/errors.ts'
import type { DataKeys } from '../../daemon/kernel/secret/data-key.ts'
import { type SealedSecret, sealedSecret } from '../../daemon/kernel/secret/sealed-secret.ts'
import { SecretKeyring } from '../../daemon/kernel/secret/secret-keyring.ts'
import { SecretRenewal } from '../../daemon/kernel/secret/secret-renewal.ts'
import { dataKeys, listDataKeys } from '../../daemon/kernel/secret/stored-data-key.ts'
import { collection, type Store } from '../../daemon/kernel/store/store.ts'
import { openTemporaryStore } from '../support/store/open-temporary-store.ts'

/** As a role would declare it: the union is the form of an earlier release. */
export const connections = collection({
  name: 'connection',
  schema: z.strictObject({
    tenant_id: z.string(),
    name: z.string(),
    password: z.union([sealedSecret, z.string()]).optional(),
  }),
  indexes: ['name'],
})

const day_ms = 86_400_000

export class ProcessKilled extends Error {}

/** A fault at one step of a process: it ends before or after the step, or the step fails and the process lives on. */
export type FaultPoint = { readonly step: number; readonly kind: 'killed before' | 'killed after' | 'failed at' }

export type SecretFixture = {
  readonly store: Store
  advanceDays(days: number): void
  /** A new process of the role. `fault`: at a step of the store or of the data keys. */
  start(fault?: FaultPoint): SecretProcess
  rotateWrappingKey(): Promise<void>
  /** Takes the oldest wrapping key away; the returned function puts it back. */
  loseWrappingKey(): () => void
  keyIds(): Promise<string[]>
}

export type SecretProcess = {
  readonly keyring: SecretKeyring
  readonly source: DataKeys
  seal(id: string, text: string): Promise<SealedSecret>
  write(id: string, text: string): Promise<void>
  read(id: string): Promise<string>
  renew(): ReturnType<SecretRenewal['run']>
  /** Steps done so far. */
  steps(): number
}

const tenant_id = 'tenant-a'

export async function createSecretFixture(): Promise<SecretFixture> {
  const { store } = openTemporaryStore(connections, dataKeys)
  const root = mkdtempSync(path.join(tmpdir(), 'secrets-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const dir = path.join(root, 'keys')
  const clock = { ms: Date.parse('2026-01-01T12:00:00Z') }
  const rotateWrappingKey = async () => void (await createWrappingKey(dir, { now: clock.ms }))
  await rotateWrappingKey()
  return {
    store,
    advanceDays: (days) => {
      clock.ms += days * day_ms
    },
    rotateWrappingKey,
    loseWrappingKey() {
      const folder = path.join(dir, 'secrets')
      const [name = ''] = readdirSync(folder).filter((each) => each.endsWith('.json'))
      renameSync(path.join(folder, name), path.join(root, name))
      return () => renameSync(path.join(root, name), path.join(folder, name))
    },
    keyIds: async () => (await listDataKeys(store, connections.name)).map(({ id }) => id),
    start: (fault) => startProcess(store, dir, clock, fault),
  }
}

function startProcess(realStore: Store, dir: string, clock: { ms: number }, fault?: FaultPoint): SecretProcess {
  let steps = 0
  let isDead = false
  const step = async <T>(action: () => Promise<T>): Promise<T> => {
    steps += 1
    const kind = fault?.step === steps ? fault.kind : undefined
    if (kind === 'failed at') throw refuse('unavailable', 'the disk is full')
    if (isDead || kind === 'killed before') {
      isDead = true
      throw new ProcessKilled()
    }
    const result = await action()
    if (kind === undefined) return result
    isDead = true
    throw new ProcessKilled()
  }
  const store = stepwise(realStore, step)
  const source = stepwise(keyFolderDataKeys({ dir, site: 'alpha', passphrase: () => undefined })('ingest'), step)
  const random = (bytes: number) => randomBytes(bytes).toString('hex')
  const keyring = new SecretKeyring({ store, tenant_id, now: () => clock.ms, random })
  const renewal = new SecretRenewal(store, keyring, () => clock.ms)
  const seal = (id: string, text: string) => keyring.seal(source, connections, { id, tenant_id }, 'password', text)
  return {
    keyring,
    source,
    seal,
    steps: () => steps,
    async write(id, text) {
      const value = { tenant_id, name: id, password: await seal(id, text) }
      const created = await store.create(connections, id, value)
      if (created === 'exists') await store.update(connections, id, () => ({ next: value, answer: undefined }))
    },
    async read(id) {
      const password = (await store.get(connections, id))?.value.password
      if (typeof password !== 'object') throw new Error(`${id} has no sealed password`)
      return await keyring.open(source, connections, { id, tenant_id }, 'password', password)
    },
    renew: () => renewal.run(source, connections, new AbortController().signal),
  }
}

/** The same object, each asynchronous method of which is a step. */
function stepwise<T extends object>(real: T, step: <R>(action: () => Promise<R>) => Promise<R>): T {
  return new Proxy(real, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => step(() => member.apply(target, args) as Promise<unknown>)
    },
  })
}
