// Profiles that name Airflow and with which the role must not start: each fault is named with its setting.
import { expect, test } from 'vitest'
import { startTestSite } from '../support/site/test-site.ts'

const base = { workflow_base_url: 'http://127.0.0.1:1', workflow_dag_folder: '/srv/dags', worker_folder: '/srv/ingest' }
const audiences = { airflow: ['ingest'] }

async function startWith(ingest: object, identity: object = { audiences }, deployment_profile = 'single_cluster') {
  const roles = ['site', 'ingest']
  const profile = { platform: { roles, deployment_profile }, identity: { ...identity }, ingest: { port: 0, ...ingest } }
  const site = await startTestSite({ profile })
  await site.end()
}

test('folders and the audience are required', async () => {
  await startWith(base)
  await expect(startWith({ ...base, workflow_dag_folder: undefined })).rejects.toThrow('ingest.workflow_dag_folder')
  await expect(startWith({ ...base, worker_folder: undefined })).rejects.toThrow('ingest.worker_folder')
  await expect(startWith(base, {})).rejects.toThrow('identity.audiences.airflow: must list ingest')
  await expect(startWith({ ...base, workflow_verify: '/no/such.pem' })).rejects.toThrow('ingest.workflow_verify')
})

test('profile D refuses tokens without TLS beyond loopback, and certificates that nobody verifies', async () => {
  const strict = (more: object) => startWith({ ...base, ...more }, { audiences }, 'classified_airgapped')
  await expect(strict({ workflow_base_url: 'http://airflow.example' })).rejects.toThrow('ingest.workflow_base_url')
  await expect(strict({ workflow_verify: false })).rejects.toThrow('ingest.workflow_verify')
})

test('a base URL with credentials is refused', async () => {
  await expect(startWith({ ...base, workflow_base_url: 'https://a:b@airflow.example' })).rejects.toThrow(
    'must not contain credentials',
  )
})
