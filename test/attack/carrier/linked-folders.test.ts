// A carrier that puts a link where a folder of the channel was: the channel stops with an alarm, and nothing behind the
// link is read, moved or written.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { listChannelFolders, listNumbers } from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../support/filedrop/filedrop-test.ts'
import { startHostileCarrier } from './hostile-carrier.ts'

const test = filedropTest.extend({ options: { receiving: ['bravo'] } })

test.for(['fresh', 'work', 'done', 'quarantine', 'ready', 'sent', 'tmp'] as const)('%s', async (name, { sites }) => {
  const carrier = await startHostileCarrier(sites)
  const { [name]: path } = listChannelFolders(sites.bravo, 'alpha')
  const target = join(carrier.elsewhere, name)
  fs.renameSync(path, target)
  fs.writeFileSync(join(target, 'a stranger'), 'x')
  fs.symlinkSync(target, path)
  if (name !== 'fresh') carrier.deliver(carrier.parcels[0])
  const before = fs.readdirSync(target)
  await carrier.scan()
  expect(sites.bravo.received).toEqual([])
  expect(fs.readdirSync(target)).toEqual(before)
  expect((await sites.bravo.transport.status()).find(({ direction }) => direction === 'in')?.state).toBe('stopped')
  expect(sites.bravo.events.map(({ event }) => event)).toContain('filedrop.channel.stopped')

  fs.rmSync(path)
  fs.renameSync(target, path)
  fs.rmSync(join(path, 'a stranger'))
  for (const parcel of carrier.parcels) carrier.deliver(parcel)
  await carrier.scan()
  expect(listNumbers(sites.bravo.received)).toEqual([1, 2, 3])
})
