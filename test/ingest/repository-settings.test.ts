// Profiles that name a git host and with which the role must not start: each fault is named with its setting.
import { expect, test } from 'vitest'
import { startTestSite } from '../support/site/test-site.ts'

const token = 'secret-of-the-git-host'
const base = { dag_repo_url: 'http://127.0.0.1:1', dag_repo_token: token, dag_repo_project: 'data/dags' }

async function startWith(ingest: object, deployment_profile = 'single_cluster') {
  const profile = { platform: { roles: ['site', 'ingest'], deployment_profile }, ingest: { port: 0, ...ingest } }
  const site = await startTestSite({ profile })
  await site.end()
}

test('token and project are required with a git host, and paths differ', async () => {
  await startWith(base)
  await expect(startWith({ ...base, dag_repo_token: undefined })).rejects.toThrow('ingest.dag_repo_token')
  await expect(startWith({ ...base, dag_repo_project: undefined })).rejects.toThrow('ingest.dag_repo_project')
  await expect(startWith({ dag_repo_project: 'data/dags' })).rejects.toThrow('ingest.dag_repo_url')
  await expect(startWith({ dag_repo_check: 'ci/dags' })).rejects.toThrow('ingest.dag_repo_url')
  await expect(startWith({ dag_repo_pending_path: 'dags' })).rejects.toThrow('ingest.dag_repo_dag_path')
  await expect(startWith({ ...base, dag_repo_ca_file: '/no/such.pem' })).rejects.toThrow('ingest.dag_repo_ca_file')
})

test.each([
  { dag_repo_branch: 'pending' },
  { dag_repo_branch: '-x' },
  { dag_repo_branch: 'a..b' },
  { dag_repo_dag_path: '../dags' },
  { dag_repo_dag_path: '/dags' },
  { dag_repo_catalog_path: '.git/config' },
  { dag_repo_project: 'dags' },
  { dag_repo_url: 'https://a:b@git.example' },
])('%j is refused', async (wrong) => {
  await expect(startWith({ ...base, ...wrong })).rejects.toThrow(`ingest.${Object.keys(wrong)[0]}`)
})

test('profile D refuses a token without TLS beyond loopback', async () => {
  await startWith(base, 'classified_airgapped')
  const open = startWith({ ...base, dag_repo_url: 'http://git.example' }, 'classified_airgapped')
  await expect(open).rejects.toThrow('ingest.dag_repo_url: must use TLS')
  await expect(open).rejects.toThrow(expect.not.objectContaining({ message: expect.stringContaining(token) }))
})
