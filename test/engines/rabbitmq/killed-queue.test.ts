// A process that takes messages of a real RabbitMQ dies between any two steps of a run: no message lands twice, and none is lost.
import type { Channel, ChannelModel } from 'amqplib'
import { afterAll, beforeAll, expect } from 'vitest'
import { create as createConnection } from '../../../daemon/roles/ingest/connection/create.ts'
import { list as listRuns } from '../../../daemon/roles/ingest/dag-run/list.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import { run as triggerRun } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { type IngestFaultPoint, queueFaultPoints } from '../../../daemon/roles/ingest/fault-points.ts'
import { type Rabbitmq, rabbitmqRequirement } from '../../support/engines/rabbitmq.ts'
import { sharedRabbitmq } from '../../support/engines/shared-servers.ts'
import { judgeSite } from '../../support/ingest/killed-pipelines.ts'
import { createKilledSite, type KilledSite } from '../../support/ingest/killed-site.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { waitUntil } from '../../support/site/test-site.ts'

const where = whenPresent(rabbitmqRequirement)
const queue = 'entries'
let site: KilledSite
let server: Rabbitmq
let admin: { connection: ChannelModel; channel: Channel }
let uid = ''
let published = 0

beforeAll(async () => {
  if (!rabbitmqRequirement.isPresent) return
  server = sharedRabbitmq('killed-queue', { reader: { configure: '^$', write: '^$', read: '^entries$' } })
  await server.start()
  admin = await server.connect()
  await admin.channel.assertQueue(queue, { durable: true, arguments: { 'x-queue-type': 'quorum' } })
  site = await createKilledSite()
  const daemon = await site.start()
  const config = {
    host: '127.0.0.1',
    port: server.port,
    virtual_host: server.vhost,
    queue,
    username: 'reader',
    tls: 'off',
  }
  const secret = JSON.stringify({ password: server.password })
  const connection = await site.olga.ok(createConnection, { name: queue, conn_type: 'rabbitmq', config, secret })
  const params = { connection_id: connection.uid, idle_s: 1 }
  const tasks = [{ name: 'read', operator: 'ingest_queue', params, retries: 0 }]
  const content = JSON.stringify({ format: 1, dag_id: queue, tasks })
  uid = (await site.olga.ok(deploy, { dag_id: queue, content, run_on_deploy: false })).uid
  await waitUntil(async () => (await site.olga.ok(get, { uid })).status !== 'pending_validation')
  await daemon.kill()
})
afterAll(async () => {
  await admin?.connection.close().catch(() => undefined)
  await site?.end()
  await server?.end()
})

async function publish(count: number): Promise<void> {
  const channel = await admin.connection.createConfirmChannel()
  for (let left = count; left > 0; left--)
    channel.sendToQueue(queue, Buffer.from(`{"id": ${++published}}`), { persistent: true })
  await channel.waitForConfirms()
  await channel.close()
}

async function trigger(name: string): Promise<void> {
  await site.olga.ok(triggerRun, { uid }, { 'idempotency-key': name }).catch((error) => {
    // No answer. A refusal is one.
    if (!(error instanceof TypeError)) throw error
  })
}

async function waitUntilQuiet(): Promise<void> {
  await waitUntil(async () => {
    const { items } = await site.olga.ok(listRuns, { dag_id: queue, limit: 500 })
    return items.every(({ state }) => state === 'success' || state === 'failed')
  })
}

const points: readonly IngestFaultPoint[] = ['ingest-landing-named', ...queueFaultPoints]

/** Two runs that were requested at once: the process dies in one of them. */
where.each(points)('%s', async (point) => {
  await publish(40)
  const doomed = await site.start(point)
  for (const name of ['one', 'two']) await trigger(`${point}-${name}`)
  await waitUntil(() => doomed.hasEnded())
  expect(doomed.log().trimEnd().split('\n').at(-1)).toBe(`fault point ${point}`)
  const next = await site.start()
  await waitUntilQuiet()
  await trigger(`${point}-last`)
  await waitUntilQuiet()
  const datasets = await judgeSite(site)
  const ids = datasets.flatMap((each) => each.ids.map(Number)).toSorted((a, b) => a - b)
  expect(ids).toEqual(Array.from({ length: published }, (_, at) => at + 1))
  await expect.poll(async () => (await admin.channel.checkQueue(queue)).messageCount).toBe(0)
  await next.kill()
})
