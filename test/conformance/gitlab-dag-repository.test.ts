// Runs the client of GitLab against each requirement of DAG repositories, at a server of its documented interface; not at a real one.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { GitlabHost } from '../../adapters/dag-repository/host/gitlab-host.ts'
import { HostedRepository } from '../../adapters/dag-repository/host/hosted-repository.ts'
import { GitlabServer } from '../support/ingest/gitlab-server.ts'
import { type DagRepositoryWorld, dagRepositoryRequirements, testLayout } from './dag-repository.ts'

const server = new GitlabServer()
const opened: HostedRepository[] = []
beforeAll(() => server.start())
afterAll(async () => {
  for (const repository of opened) repository.close()
  await server.end()
})

function openHosted({ token = server.token, project = server.project } = {}): HostedRepository {
  const host = new GitlabHost({ base_url: server.url, ca: undefined, token, project, timeout_ms: 20_000 })
  const repository = new HostedRepository(host, testLayout)
  opened.push(repository)
  return repository
}

function openWorld(): DagRepositoryWorld {
  return {
    ...{ repository: openHosted(), other: openHosted() },
    async judge({ commit }, check) {
      if (check.state === 'passed') server.setStatus(commit, 'dags', 'success')
      else server.setStatus(commit, 'dags', 'failed', { description: `${check.reason} in daily.json:${check.line}` })
    },
    readLive: async (path) => server.readLive(path),
    countCommits: async () => server.countCommits(),
    commitOutside: async (path, text) => server.commitOutside(path, text),
  }
}

for (const { id, description, verify } of dagRepositoryRequirements)
  test(`gitlab: ${description} (${id})`, async () => await verify(openWorld()))

test('every job counts but one that may fail, and a cancelled one rejects', async () => {
  const repository = openHosted()
  const file = { uid: 'pl_jobs', name: 'daily.pl_jobs.json', text: '{}\n' }
  const commit = await repository.propose(file, { summary: 'Propose', author: 'olga', now_ms: 0 })
  const check = () => repository.check({ ...file, commit })
  expect(await check()).toEqual({ state: 'pending', reason: 'no CI has reported on the commit' })
  server.setStatus(commit, 'lint', 'failed', { allow_failure: true })
  expect(await check()).toMatchObject({ state: 'pending' })
  server.setStatus(commit, 'dags', 'success')
  server.setStatus(commit, 'slow', 'running')
  expect(await check()).toEqual({ state: 'pending', reason: 'the CI has not ended' })
  server.setStatus(commit, 'slow', 'skipped')
  expect(await check()).toEqual({ state: 'passed' })
  server.setStatus(commit, 'slow', 'canceled')
  expect(await check()).toEqual({ state: 'rejected', reason: 'slow: canceled' })
})

test('a wrong token is refused without its text', async () => {
  const token = 'glpat-of-nobody'
  const refused = openHosted({ token }).read('x.json')
  await expect(refused).rejects.toMatchObject({ code: 'forbidden', message: expect.not.stringContaining(token) })
  await expect(openHosted({ project: 'group/none' }).read('x.json')).rejects.toMatchObject({ code: 'wrong_state' })
})
