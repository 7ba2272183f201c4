// A pipeline that reads files which are broken, or made to harm a reader: each is refused by its reason, and the service goes on.
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { errors } from '../../../daemon/roles/ingest/dag-run/errors.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { hostileFiles } from '../../support/ingest/hostile-files.ts'
import { runFolder, setUpIngestSite, waitUntilDeployed, waitUntilRunOver } from './ingest-site.ts'

const site = setUpIngestSite()

test('each file fails its task alone, and the service goes on', async () => {
  const ann = await site().as()
  for (const [, name, content] of hostileFiles) site().writeFile(name, content)
  site().writeFile('good.csv', 'id\n1\n')
  const names = ['good.csv', ...hostileFiles.map(([, name]) => name)]
  const tasks = names.map((file) => {
    const params = { file, ...(file.endsWith('.xml') ? { read_as: { pointer: '/x/y' } } : {}) }
    return { name: file.replace('.', '_'), operator: 'ingest_file', params, retries: 0 }
  })
  const content = JSON.stringify({ format: 1, dag_id: 'hostile', tasks })
  const { uid } = await ann.ok(deploy, { dag_id: 'hostile', content, run_on_deploy: true })
  await waitUntilDeployed(ann, uid)
  expect(await waitUntilRunOver(ann, 'hostile', 'deploy__1')).toMatchObject({ state: 'failed' })
  const { items } = await ann.ok(errors, { dag_id: 'hostile', dag_run_id: 'deploy__1' })
  const logs = new Map(items.map(({ task_id, log }) => [task_id, log]))
  expect(logs.size).toBe(hostileFiles.length)
  for (const [, name, , refusal] of hostileFiles) expect(logs.get(name.replace('.', '_'))).toMatch(refusal)
  expect(readdirSync(runFolder(site(), uid))).toEqual(['good_csv'])
})
