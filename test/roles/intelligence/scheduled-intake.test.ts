// Polled sources with a schedule: polled at its times, by the clock of the site, and once for those that were missed.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { signalSources } from '../../../daemon/roles/intelligence/signal-source/model.ts'
import { startTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'
import { buildAlert, createTempFolder, sampleMapping } from './intake-sender.ts'

const hour_ms = 3_600_000
const files = createTempFolder()
const folder = path.join(files.dir, 'in')
fs.mkdirSync(folder)
let world: TestSite | undefined
afterAll(async () => {
  await world?.end()
  files.remove()
  expect(world?.loggedErrors ?? []).toEqual([])
})

function buildProfile(more: Readonly<Record<string, unknown>>) {
  const source = { kind: 'folder', name: 'nightly', path: folder, mapping: sampleMapping, ...more }
  return { platform: { roles: ['site', 'intelligence'] }, intelligence: { port: 0 }, intake: { sources: [source] } }
}

function writeAlert(id: number): void {
  fs.writeFileSync(path.join(folder, `${id}.draft`), `${JSON.stringify(buildAlert(id))}\n`)
  fs.renameSync(path.join(folder, `${id}.draft`), path.join(folder, `${id}.jsonl`))
}

/** Lets the worker look at the clock until it has stored so many items, of a poll that ended at the instant. */
async function waitForPoll(site: TestSite, taken: number, ended: string): Promise<void> {
  await waitUntil(async () => {
    site.wakeWorker('intelligence', 'intake')
    const stored = (await site.store('intelligence').get(signalSources, 'nightly'))?.value
    return stored?.taken === taken && stored.last_success_at === ended
  })
}

/** Advances the clock by hours until so many items are stored. An hour in which the worker only plans has no poll. */
async function pollHourly(site: TestSite, taken: number): Promise<void> {
  const readSource = async () => (await site.store('intelligence').get(signalSources, 'nightly'))?.value
  while ((await readSource())?.taken !== taken) {
    site.clock.advance(hour_ms)
    const now = new Date(site.clock.now()).toISOString()
    const isPolled = async () => {
      site.wakeWorker('intelligence', 'intake')
      expect((await readSource())?.last_success_at).toBe(now)
    }
    await vi.waitFor(isPolled, { timeout: 250, interval: 5 }).catch(() => undefined)
  }
}

test('a source is polled at its time in its zone, and once for the times that passed while the site was down', async () => {
  const site = await startTestSite({ profile: buildProfile({ cron: '0 8 * * *', time_zone: 'America/New_York' }) })
  world = site
  writeAlert(1)
  // The clock of the site begins at 12:00Z, 07:00 in New York.
  site.clock.advance(hour_ms - 1_000)
  site.wakeWorker('intelligence', 'intake')
  site.clock.advance(1_000)
  await waitForPoll(site, 1, '2026-03-02T13:00:00.000Z')
  await site.stop()
  site.clock.advance(50 * hour_ms)
  writeAlert(2)
  await site.start()
  await waitForPoll(site, 2, '2026-03-04T15:00:00.000Z')
})

test.each([{ cron: '0 * * * *', time_zone: 'UTC' }, { every_s: 3_600 }])(
  'a clock that ran ten years ahead stops no source with %j, in this process or the next one',
  async (when) => {
    await world?.end()
    const site = await startTestSite({ profile: buildProfile(when) })
    world = site
    const ten_years_ms = 87_660 * hour_ms
    site.clock.advance(ten_years_ms)
    writeAlert(11)
    await pollHourly(site, 1)
    site.clock.advance(-ten_years_ms)
    writeAlert(12)
    await pollHourly(site, 2)
    site.clock.advance(ten_years_ms)
    writeAlert(13)
    await pollHourly(site, 3)
    await site.stop()
    site.clock.advance(-ten_years_ms)
    writeAlert(14)
    await site.start()
    await pollHourly(site, 4)
  },
)

test.each([{ cron: 'every night' }, { cron: '0 0 31 6 *' }, { cron: '* * * * * * *' }])(
  'a site whose source has the schedule %j does not start',
  async ({ cron }) => {
    await expect(startTestSite({ profile: buildProfile({ cron }) })).rejects.toMatchObject({
      problems: [{ path: 'intake.sources.0.cron', message: expect.stringContaining('is not a schedule') }],
    })
  },
)

test('a site whose source has an unknown time zone does not start', async () => {
  const starting = startTestSite({ profile: buildProfile({ cron: '@daily', time_zone: 'Mars/Olympus' }) })
  await expect(starting).rejects.toThrow(/time zone of the IANA database/)
})
