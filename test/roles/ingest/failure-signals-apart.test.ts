// Failed runs where the role that raises signals runs in another process, is away, or is not on the site at all.
import { expect, test } from 'vitest'
import { remove as removeRun } from '../../../daemon/roles/ingest/dag-run/remove.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { dagRuns } from '../../../daemon/roles/ingest/runner/model.ts'
import { list as listSignals } from '../../../daemon/roles/intelligence/signal/list.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { type DividedSite, openDividedSite } from './divided-site.ts'
import { ingestContent, waitUntilDeployed, waitUntilRunOver } from './ingest-site.ts'

async function failOnce(site: DividedSite, dag_id: string): Promise<string> {
  const ann = await site.as()
  const content = ingestContent(dag_id, 'absent.csv', { retries: 0 })
  const { uid } = await ann.ok(deploy, { dag_id, content, run_on_deploy: true })
  await waitUntilDeployed(ann, uid)
  expect((await waitUntilRunOver(ann, dag_id, 'deploy__1')).state).toBe('failed')
  return uid
}

const isMarked = async (site: DividedSite, uid: string) =>
  (await site.store().get(dagRuns, `${uid}.deploy__1`))?.value.unsignalled === 1

test('while the role is away the mark stays, also over a crash, and no failed run is deleted; then one signal follows', async () => {
  const site = await openDividedSite(['ingest', 'intelligence'])
  await site.start('site', 'ingest')
  const uid = await failOnce(site, 'waiting')
  await waitUntil(() => site.warnings.some(([event]) => event === 'ingest.run.signal-delayed'))
  const ann = await site.as()
  expect(await ann.refusal(removeRun, { dag_id: 'waiting', dag_run_id: 'deploy__1' })).toBe('unavailable')
  await site.stop('site', 'ingest')
  await site.start('site', 'ingest')
  expect(await isMarked(site, uid)).toBe(true)
  await site.start('intelligence')
  site.wake('failure-signals')
  await waitUntil(async () => !(await isMarked(site, uid)))
  const again = await site.as()
  expect((await again.ok(listSignals, { subject_id: uid })).items).toHaveLength(1)
  await again.ok(removeRun, { dag_id: 'waiting', dag_run_id: 'deploy__1' })
  expect((await again.ok(listSignals, { subject_id: uid })).items).toHaveLength(1)
})

test('an answer without a decision on the signal keeps the mark, and holds up no other; then one signal follows', async () => {
  const site = await openDividedSite(['ingest', 'intelligence'])
  const endRefusals = await site.refuseFor('intelligence', 'internal', Number.POSITIVE_INFINITY)
  await site.start('site', 'ingest')
  const uid = await failOnce(site, 'faulty')
  const next = await failOnce(site, 'next')
  const failedFor = (id: string) =>
    site.warnings.some(([event, { run }]) => event === 'ingest.run.signal-failed' && run === `${id}.deploy__1`)
  // The first one holds up no other.
  await waitUntil(() => failedFor(uid) && failedFor(next))
  const ann = await site.as()
  expect(await ann.refusal(removeRun, { dag_id: 'faulty', dag_run_id: 'deploy__1' })).toBe('unavailable')
  expect(await isMarked(site, uid)).toBe(true)
  await endRefusals()
  await site.start('intelligence')
  site.wake('failure-signals')
  await waitUntil(async () => !(await isMarked(site, uid)) && !(await isMarked(site, next)))
  for (const subject_id of [uid, next])
    expect((await (await site.as()).ok(listSignals, { subject_id })).items).toHaveLength(1)
})

test('without the role in the profile no mark stays, and a line of the log names the run', async () => {
  const site = await openDividedSite(['ingest'])
  await site.start('site', 'ingest')
  const uid = await failOnce(site, 'alone')
  await waitUntil(async () => !(await isMarked(site, uid)))
  const lost = site.warnings.filter(([event]) => event === 'ingest.run.unsignalled')
  const reason = 'the profile has no role intelligence'
  expect(lost).toMatchObject([[expect.anything(), { run: `${uid}.deploy__1`, dag_id: 'alone', reason }]])
})
