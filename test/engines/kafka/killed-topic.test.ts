// A process that reads a topic of a real Kafka dies between any two steps of a run: no message lands twice, and none is lost.
import { afterAll, beforeAll, expect } from 'vitest'
import { create as createConnection } from '../../../daemon/roles/ingest/connection/create.ts'
import { list as listRuns } from '../../../daemon/roles/ingest/dag-run/list.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import { run as triggerRun } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { type IngestFaultPoint, queueFaultPoints } from '../../../daemon/roles/ingest/fault-points.ts'
import { type Kafka, type KafkaDriver, kafka, kafkaRequirement } from '../../support/engines/kafka.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../../support/engines/server-certificates.ts'
import { judgeSite } from '../../support/ingest/killed-pipelines.ts'
import { createKilledSite, type KilledSite } from '../../support/ingest/killed-site.ts'
import { connectToTopic, range } from '../../support/ingest/topic-reader.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { waitUntil } from '../../support/site/test-site.ts'

const where = whenPresent(kafkaRequirement)
const topic = 'entries'
const partitions = 2
let site: KilledSite
let certificates: ServerCertificateSet
let server: Kafka
let driver: KafkaDriver
let uid = ''
let published = 0

beforeAll(async () => {
  if (!kafkaRequirement.isPresent) return
  certificates = issueServerCertificates('server')
  server = await kafka(certificates.of('server'))
  await server.start()
  driver = server.drive()
  await driver.create(topic, partitions)
  site = await createKilledSite()
  const daemon = await site.start()
  const { config } = connectToTopic(server, topic, { group: 'site' })
  const connection = await site.olga.ok(createConnection, { name: topic, conn_type: 'kafka', config })
  const params = { connection_id: connection.uid, idle_s: 1 }
  const tasks = [{ name: 'read', operator: 'ingest_queue', params, retries: 0 }]
  const content = JSON.stringify({ format: 1, dag_id: topic, tasks })
  uid = (await site.olga.ok(deploy, { dag_id: topic, content, run_on_deploy: false })).uid
  await waitUntil(async () => (await site.olga.ok(get, { uid })).status !== 'pending_validation')
  await daemon.kill()
})
afterAll(async () => {
  await site?.end()
  await server?.end()
  certificates?.dispose()
})

async function publish(count: number): Promise<void> {
  const messages = range(published + 1, count).map((id) => ({ value: `{"id": ${id}}`, partition: id % partitions }))
  await driver.produce(topic, messages)
  published += count
}

async function trigger(name: string): Promise<void> {
  await site.olga.ok(triggerRun, { uid }, { 'idempotency-key': name }).catch((error) => {
    // No answer. A refusal is one.
    if (!(error instanceof TypeError)) throw error
  })
}

async function waitUntilQuiet(): Promise<void> {
  await waitUntil(async () => {
    const { items } = await site.olga.ok(listRuns, { dag_id: topic, limit: 500 })
    return items.every(({ state }) => state === 'success' || state === 'failed')
  })
}

const points: readonly IngestFaultPoint[] = ['ingest-landing-staged', 'ingest-landing-named', ...queueFaultPoints]

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
  expect(ids).toEqual(range(1, published))
  const committed = await driver.do({ do: 'group', group: 'site' })
  expect(committed).toEqual({ [`${topic}/0`]: published / partitions, [`${topic}/1`]: published / partitions })
  await next.kill()
})
