// Tasks of a pipeline that take messages of a queue.
import { expect, test } from 'vitest'
import { create } from '../../../daemon/roles/ingest/connection/create.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { setUpIngestSite, waitUntilDeployed } from './ingest-site.ts'

const site = setUpIngestSite()

test('two tasks of one queue are refused: a message that comes again after a crash could land by both', async () => {
  const ann = await site().as({ roles: ['admin'] })
  const config = { host: '127.0.0.1', port: 1, virtual_host: '/', queue: 'q', username: 'ann', tls: 'off' }
  const { uid: connection_id } = await ann.ok(create, { name: 'q', conn_type: 'rabbitmq', config })
  const read = (name: string) => ({ name, operator: 'ingest_queue', params: { connection_id } })
  const deployed = async (dag_id: string, ...names: string[]) => {
    const content = JSON.stringify({ format: 1, dag_id, tasks: names.map(read) })
    const { uid } = await ann.ok(deploy, { dag_id, content, run_on_deploy: false })
    return await waitUntilDeployed(ann, uid)
  }
  expect(await deployed('two', 'one', 'other')).toMatchObject({
    status: 'rejected',
    fault: { reason: expect.stringMatching(/^the tasks one and other take messages of one queue/) },
  })
  expect(await deployed('single', 'one')).toMatchObject({ status: 'active' })
})
