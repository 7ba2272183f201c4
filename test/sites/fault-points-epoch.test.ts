// A daemon dies when it has opened an epoch, and is started again: what was said before is heard, and nothing twice.
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readKeyFiles } from '../../adapters/keys/jose/key-files.ts'
import { signWith } from '../../adapters/keys/jose/signatures.ts'
import { canonical } from '../../daemon/kernel/canonical.ts'
import { draft } from '../../daemon/roles/site/epoch/draft.ts'
import { open } from '../../daemon/roles/site/epoch/open.ts'
import { type Deaths, deaths } from './deaths.ts'
import { channelOf, say } from './question.ts'

let on: Deaths
beforeAll(async () => {
  on = await deaths()
})
afterAll(() => on?.end())

test('epoch-opened: the next message is of the new epoch, and those before it arrive too', async () => {
  const { alpha, bravo, atAlpha, atBravo } = on.two
  const id = await on.invited()
  const before = await on.invited()
  await say(atBravo, before, 'bob', 0.92)
  const drafted = await atBravo.ok(draft, { peer: 'alpha' })
  const roots = readKeyFiles(path.join(bravo.dir, 'keys')).filter(({ public_key }) => public_key.use === 'root')
  const announcement = await signWith(roots, 'epoch', Buffer.from(canonical({ ...drafted, reason: 'other' })))
  await on.diesAt(bravo, 'epoch-opened', () => atBravo.ok(open, { announcement }))
  expect(await atBravo.refusal(open, { announcement })).toBe('conflict')
  await say(atBravo, id, 'bob', 0.92)
  await on.happensOnce(before)
  await on.happensOnce(id)
  expect(await channelOf(atAlpha, 'bravo', 'in')).toMatchObject({ epoch: 2, gaps: 0, state: 'open' })
  for (const site of [alpha, bravo]) await on.soundRecord(site)
})
