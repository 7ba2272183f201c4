// A daemon dies when it has opened an epoch, and is started again: earlier messages arrive, and nothing twice.
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { signWithKeys } from '../../../adapters/keys/jose/signatures.ts'
import { canonicalJson } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { draft } from '../../../daemon/roles/site/epoch/draft.ts'
import { open } from '../../../daemon/roles/site/epoch/open.ts'
import { contributeOpinion, findChannel } from '../../support/site/packaged-site-pair.ts'
import { type FaultPointSites, startFaultPointSites } from './fault-point-sites.ts'

let sites: FaultPointSites
beforeAll(async () => {
  sites = await startFaultPointSites()
})
afterAll(() => sites?.end())

test('epoch-opened: the next message is of the new epoch, and those before it arrive too', async () => {
  const { alpha, bravo, atAlpha, atBravo } = sites.two
  const id = await sites.openSharedSession()
  const before = await sites.openSharedSession()
  await contributeOpinion(atBravo, before, 'bob', 0.92)
  const drafted = await atBravo.ok(draft, { peer: 'alpha' })
  const roots = readKeyFiles(path.join(bravo.dir, 'keys')).filter(({ public_key }) => public_key.use === 'root')
  const announcement = await signWithKeys(roots, 'epoch', Buffer.from(canonicalJson({ ...drafted, reason: 'other' })))
  await sites.dieAt(bravo, 'epoch-opened', () => atBravo.ok(open, { announcement }))
  expect(await atBravo.refusal(open, { announcement })).toBe('conflict')
  await contributeOpinion(atBravo, id, 'bob', 0.92)
  await sites.expectAppliedOnce(before)
  await sites.expectAppliedOnce(id)
  expect(await findChannel(atAlpha, 'bravo', 'in')).toMatchObject({ epoch: 2, gaps: 0, state: 'open' })
  for (const site of [alpha, bravo]) await sites.expectSoundRecord(site)
})
