// The scanner of a landing zone: what it refuses is never read by a run, and what it cannot judge waits.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import { runs } from '../../../daemon/roles/ingest/datapipeline/runs.ts'
import { startTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'
import { waitUntilDeployed } from './ingest-site.ts'

let site: TestSite
beforeAll(async () => {
  site = await startTestSite({
    profile: {
      platform: { roles: ['site', 'ingest'] },
      ingest: {
        port: 0,
        landing_settle_s: 0,
        // Exit 1 for a body with the word, exit 2 while the scanner is broken.
        landing_scanner: {
          command: ['/bin/sh', '-c', 'grep -q broken "$1" && exit 2; ! grep -q virus "$1"', 'scan'],
          timeout_s: 20,
        },
      },
    },
  })
})
afterAll(() => site?.end())

test('a refused file goes to quarantine without a run, a clean one lands, and one that cannot be judged waits', async () => {
  const ann = await site.as()
  const content = JSON.stringify({
    ...{ format: 1, dag_id: 'scanned' },
    tasks: [{ name: 'land', operator: 'ingest_landing_zone' }],
  })
  const { uid } = await ann.ok(deploy, { dag_id: 'scanned', content })
  await waitUntilDeployed(ann, uid)
  const home = path.join(site.folder.data, 'ingest/landing', site.tenant, uid)
  const bring = (name: string, text: string) => fs.writeFileSync(path.join(home, 'new', name), text)
  const readZone = async () => {
    site.clock.advance(1_000)
    site.wakeWorker('ingest', 'landing-zones')
    site.wakeWorker('ingest', 'jobs')
    return (await ann.ok(get, { uid })).landing_zone
  }
  bring('bad.csv', 'a\nvirus\n')
  const refused = await waitUntil(async () => {
    const zone = await readZone()
    return zone?.quarantined === 1 && zone
  })
  expect(refused.last).toMatchObject({ file: 'bad.csv', reason: expect.stringContaining('SCANNER') })
  expect((await ann.ok(runs, { uid })).items).toEqual([])
  bring('good.csv', 'a\nfine\n')
  await waitUntil(async () => (await readZone())?.landed === 1)
  bring('odd.csv', 'a\nbroken\n')
  const delay = await waitUntil(async () => (await readZone())?.delay)
  expect(delay.failure.reason).toContain('exit code 2')
  expect(await readZone()).toMatchObject({ landed: 1, quarantined: 1, in_progress: { file: 'odd.csv' } })
  expect((await ann.ok(runs, { uid })).items).toHaveLength(1)
})
