// Failed runs where the role that raises signals runs in another process, is away, or is not on the site at all.
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type RunningSite, serve } from '../../../daemon/boot/serve.ts'
import { everyOperation } from '../../../daemon/every-role.ts'
import type { AnyOperation } from '../../../daemon/kernel/operation/operation.ts'
import { remove as removeRun } from '../../../daemon/roles/ingest/dag-run/remove.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { dagRuns } from '../../../daemon/roles/ingest/runner/model.ts'
import { list as listSignals } from '../../../daemon/roles/intelligence/signal/list.ts'
import { createCheckedClient } from '../../support/http/checked-client.ts'
import { sendHttpRequest } from '../../support/http/send-http-request.ts'
import { createTestSite, waitUntil } from '../../support/site/test-site.ts'
import { ingestContent, waitUntilDeployed, waitUntilRunOver } from './ingest-site.ts'

const roleOf = (operation: AnyOperation) => everyOperation.find((each) => each.operation === operation)?.role ?? ''

/** A site whose roles start and stop apart, as processes do. */
async function openDividedSite(roles: readonly string[]) {
  const profile = { platform: { roles: ['site', ...roles] }, ingest: { port: 0 }, intelligence: { port: 0 } }
  const world = await createTestSite({ profile })
  mkdirSync(path.join(world.folder.data, world.tenant), { recursive: true })
  const running = new Map<string, RunningSite>()
  onTestFinished(async () => {
    for (const process of [...running.values()].toReversed()) await process.stop()
    await world.end()
  })
  const warnings: [event: string, fields: Readonly<Record<string, unknown>>][] = []
  const warn = (event: string, fields: Readonly<Record<string, unknown>> = {}) => warnings.push([event, fields])
  const log = { debug: () => undefined, info: () => undefined, warn, error: warn }
  const serviceOf = (role: string) => {
    const found = [...running.values()].flatMap(({ services }) => services).find((each) => each.role.name === role)
    if (!found) throw new Error(`${role} does not run`)
    return found
  }
  const call: typeof world.call = async (role, method, at, body, sent) => {
    const url = serviceOf(role).urls.find((each) => each.startsWith('http')) ?? ''
    return await sendHttpRequest(url, method, at, body, sent)
  }
  return {
    warnings,
    store: () => serviceOf('ingest').context.store,
    wake: () => serviceOf('ingest').wake('failure-signals'),
    as: async () => createCheckedClient({ call }, await world.token(), roleOf),
    async start(...names: string[]) {
      const options = { folder: world.folder, env: {}, clock: world.clock, log }
      running.set(names.join(), await serve({ ...options, roles: names }))
    },
    async stop(...names: string[]) {
      await running.get(names.join())?.stop()
      running.delete(names.join())
    },
  }
}

type DividedSite = Awaited<ReturnType<typeof openDividedSite>>

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
  site.wake()
  await waitUntil(async () => !(await isMarked(site, uid)))
  const again = await site.as()
  expect((await again.ok(listSignals, { subject_id: uid })).items).toHaveLength(1)
  await again.ok(removeRun, { dag_id: 'waiting', dag_run_id: 'deploy__1' })
  expect((await again.ok(listSignals, { subject_id: uid })).items).toHaveLength(1)
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
