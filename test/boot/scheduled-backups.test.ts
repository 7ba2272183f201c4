// Backups of a whole site at the times of its schedule: made up for after a stop, once, and never twice for one time.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqliteScheduleRecord } from '../../adapters/store/sqlite/schedule/schedule-record.ts'
import { sqliteFile } from '../../adapters/store/sqlite/sqlite-file.ts'
import { roleDatabaseFile, roleRunFolder } from '../../daemon/boot/storage/site-folder.ts'
import { startConsensusSite } from '../roles/consensus/consensus-site.ts'
import { type TestSite, waitUntil } from '../support/site/test-site.ts'

const hour_ms = 3_600_000
const schedule = { backup_cron: '30 2 * * *', backup_time_zone: 'America/New_York' }
let world: TestSite
beforeAll(async () => {
  world = await startConsensusSite({ contributors: ['c1'], profile: { site: schedule } })
})
afterAll(async () => {
  await world?.end()
  expect(world?.loggedErrors ?? []).toEqual([])
})

function listBackups(): string[] {
  const dir = path.join(world.folder.data, 'backups')
  return fs.existsSync(dir) ? fs.readdirSync(dir).sort() : []
}

/** The clock at the last run, as it is on disk. */
async function readHandledUntil(): Promise<number | undefined> {
  const file = sqliteFile({
    file: roleDatabaseFile(world.folder, 'site'),
    addonDir: roleRunFolder(world.folder, 'site'),
  })
  try {
    const { backup_cron, backup_time_zone } = schedule
    return sqliteScheduleRecord(file).read('backup', `${backup_cron} in ${backup_time_zone}`)?.until
  } finally {
    await file.close()
  }
}

/** Stopped for so long by the clock of the site; negative: the clock is put back meanwhile. */
async function restartAfter(ms: number): Promise<void> {
  await world.stop()
  world.clock.advance(ms)
  await world.start()
}

const waitUntilHandled = () => waitUntil(async () => (await readHandledUntil()) === world.clock.now())

/** The names of so many backups, once none is being written. */
const waitUntilComplete = (count: number) =>
  waitUntil(() => {
    const names = listBackups()
    return names.length === count && names.every((name) => !name.startsWith('.')) ? names : undefined
  })

test('a site that was down for two nights makes one backup at its start, and none at the next ones', async () => {
  await waitUntilHandled()
  expect(listBackups()).toEqual([])
  await restartAfter(40 * hour_ms)
  await waitUntilHandled()
  const made = await waitUntilComplete(1)
  expect(made).toEqual([new Date(world.clock.now()).toISOString().replaceAll(/[:.]/g, '-')])
  await restartAfter(hour_ms)
  await restartAfter(-5 * hour_ms)
  await waitUntilHandled()
  await restartAfter(6 * hour_ms)
  expect(listBackups()).toEqual(made)
  await restartAfter(24 * hour_ms)
  await waitUntilHandled()
  await waitUntilComplete(2)
})
