// Runs each source of data keys against each requirement: the key folder, and role `site` over its local socket.
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { keyFolderDataKeys } from '../../adapters/keys/jose/data-keys.ts'
import { createWrappingKey } from '../../adapters/keys/jose/wrapping-keys.ts'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import { refusalFromProblem } from '../../daemon/kernel/error/problem.ts'
import type { RoleClients } from '../../daemon/kernel/operation/operation-contract.ts'
import { createDataKey, dataKeysOfSite } from '../../daemon/shared/data-key/data-key.ts'
import { startTestSite } from '../support/site/test-site.ts'
import { type DataKeysFixture, dataKeysRequirements } from './data-keys.ts'

type DisposableFixture = { readonly world: DataKeysFixture; end(): Promise<void> }

function hideFolder(keys: string, isHidden: boolean): void {
  const [folder, hidden] = [path.join(keys, 'secrets'), `${keys}-hidden`]
  if (isHidden) renameSync(folder, hidden)
  else renameSync(hidden, folder)
}

async function createFolderFixture(passphrase?: string): Promise<DisposableFixture> {
  const root = mkdtempSync(path.join(tmpdir(), 'data-keys-'))
  const dir = path.join(root, 'keys')
  let now = Date.parse('2026-01-01T12:00:00Z')
  const rotate = async () => {
    now += 1_000
    await createWrappingKey(dir, { now, passphrase })
  }
  await rotate()
  return {
    world: {
      keysOf: (role) => keyFolderDataKeys({ dir, site: 'alpha', passphrase: () => passphrase })(role),
      rotate,
      hideWrappingKeys: (isHidden) => hideFolder(dir, isHidden),
    },
    end: async () => rmSync(root, { recursive: true, force: true }),
  }
}

/** Each request goes over the local socket of the site with a token of the role. */
async function createSiteFixture(): Promise<DisposableFixture> {
  const site = await startTestSite({ profile: { platform: { roles: ['site'] } } })
  const clientsOf = (role: string): RoleClients => ({
    async request({ address, output }, input) {
      const at = address === createDataKey.address ? '/api/v2/site/data-key' : '/api/v2/site/data-key/open'
      const token = await site.token({ tenant: '*', subject: `role:${role}`, roles: ['service'] })
      const { status, json } = await site.call('site', 'POST', at, input, { token })
      if (status < 400) return output.parse(json)
      const refusal = refusalFromProblem(json, status)
      if (isRefusal(refusal) && !refusal.row.retryable) return refusal
      throw refusal
    },
  })
  return {
    world: {
      keysOf: (role) => dataKeysOfSite(clientsOf(role)),
      rotate: async () => void (await createWrappingKey(site.folder.keys, { now: site.clock.now() })),
      hideWrappingKeys: (isHidden) => hideFolder(site.folder.keys, isHidden),
    },
    end: () => site.end(),
  }
}

const variants: readonly (readonly [string, () => Promise<DisposableFixture>])[] = [
  ['a key folder', () => createFolderFixture()],
  ['a key folder under a passphrase', () => createFolderFixture('correct horse battery staple')],
  ['role site', createSiteFixture],
]

describe.each(variants)('%s', (_, open) => {
  let fixture: DisposableFixture
  beforeAll(async () => {
    fixture = await open()
  })
  afterAll(() => fixture?.end())

  test.each(dataKeysRequirements.map((each) => [`${each.id}: ${each.description}`, each] as const))(
    '%s',
    async (_name, { verify }) => {
      await verify(fixture.world)
    },
  )
})
