// Brings the monitored site alpha into the conditions that the shipped alerts are about, where a test can make them.
import * as fs from 'node:fs'
import path from 'node:path'
import { foldersOf } from '../../../adapters/transport/filedrop/files/channel-folders.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { list } from '../../../daemon/roles/site/channel/list.ts'
import { waitUntil } from '../site/test-site.ts'
import {
  buildSession,
  createOperator,
  dropUnexpected,
  openConflict,
  repeatRequest,
  requestProxy,
} from './cause-events.ts'
import { failing_source, type MonitoredSites } from './monitored-sites.ts'

/** Alerts whose condition a test does not make at a site, with the reason; promtool tests each of them. */
export const unmadeAlerts: Readonly<Record<string, string>> = {
  PlatformRestarting: 'three new processes; the sites run in the process of the test',
  PlatformRequestsSlow: 'needs requests that take seconds',
  PlatformNearlyFull: 'needs 800 requests that do not end',
  PlatformEventLoopSlow: 'needs a saturated processor, under which other tests would be late',
  PlatformFilesNearlyUsedUp: 'needs a process with few files, in which the test would fail as well',
  PlatformDoorLosesRecords: 'needs a full disk',
  PlatformDoorRecordsWait: 'needs 100 MiB of records',
}

/**
 * Time passes until now: no message of bravo comes, none for it is taken, and no backup is made. Charlie's channel stops.
 * Counters that alerts follow have a first value, from which `causeRises` lets them rise.
 */
export async function causeConditions(sites: MonitoredSites): Promise<void> {
  const { alpha, clock } = sites
  const olga = await createOperator(alpha)
  await olga.ok(create, buildSession({ invite: ['bravo'] }))
  fs.rmSync(path.dirname(foldersOf(alpha.folder.filedrop, 'charlie').fresh), { recursive: true })
  clock.advance(Date.now() - clock.now())
  await waitUntil(async () => {
    const { items } = await olga.ok(list, {})
    const find = (peer: string, direction: string) =>
      items.find((each) => each.peer === peer && each.direction === direction)
    return find('bravo', 'in')?.stale && find('charlie', 'in')?.state === 'stopped'
  })
  await sites.upstream.close()
  await causeRises(sites, { few: 1, many: 1 })
}

/** After a scrape of what `causeConditions` left. */
export async function causeAlerts(sites: MonitoredSites): Promise<void> {
  await causeRises(sites, { few: 60, many: 3_200 })
  for (let done = 0; done < 12; done++) await openConflict(sites.alpha)
  dropUnexpected(sites.alpha, 501)
}

type RiseCounts = {
  /** Of what is rare on a sound site. */
  readonly few: number
  /** Of what a rate is measured by. */
  readonly many: number
}

/** Requests without a token, to a proxy without its destination, of what it denies, and to a source without its secret. */
async function causeRises(sites: MonitoredSites, { few, many }: RiseCounts): Promise<void> {
  const urlOf = (role: string) => `http://127.0.0.1:${sites.ports[role]}`
  await repeatRequest(`${urlOf('consensus')}/api/v2/consensus/session`, many)
  await requestProxy(sites, '/public-api/report/1', few)
  await requestProxy(sites, '/public-api/elsewhere', many)
  const headers = { 'content-type': 'application/json' }
  const delivery = { method: 'POST', headers, body: '{}' }
  await repeatRequest(`${urlOf('intelligence')}/api/v1/signal-intake/webhook/${failing_source}`, few, delivery)
}
