// Runs the client of GitLab against each requirement of DAG repositories, at a server of its documented interface; not at a real one.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { HostCommit } from '../../adapters/dag-repository/host/git-host.ts'
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

type CommitHook = () => Promise<unknown>
const proceed: CommitHook = async () => undefined

/** The process stands still at its next commit, while others go on. */
class StalledHost extends GitlabHost {
  before = proceed
  after = proceed

  override async commit(commit: HostCommit) {
    const { before, after } = this
    this.before = proceed
    this.after = proceed
    await before()
    const answer = await super.commit(commit)
    await after()
    return answer
  }
}

function hostOptions() {
  return { base_url: server.url, ca: undefined, token: server.token, project: server.project, timeout_ms: 20_000 }
}

function openHosted(
  more: { readonly token?: string; readonly project?: string; readonly check?: string } = {},
): HostedRepository {
  return openAt(new GitlabHost({ ...hostOptions(), ...more }))
}

function openAt(host: GitlabHost): HostedRepository {
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

const note = { summary: 'Deploy', author: 'olga', now_ms: 0 }

test('a process that is late to publish makes no former content live', async () => {
  const host = new StalledHost(hostOptions())
  const [late, other] = [openAt(host), openHosted()]
  const file = { uid: 'pl_late', name: 'daily.pl_late.json' }
  const former = { ...file, commit: await late.propose({ ...file, text: '{"former": 1}\n' }, note) }
  host.before = async () => {
    const commit = await other.propose({ ...file, text: '{}\n' }, note)
    await other.publish({ ...file, commit }, 'one\n', note)
  }
  expect(await late.publish(former, 'one\n', note)).toBe('superseded')
  expect(server.readLive(`dags/${file.name}`)).toBe('{}\n')
})

test('a process that is late to remove the branch of what it published leaves a newer proposal there', async () => {
  const host = new StalledHost(hostOptions())
  const [late, other] = [openAt(host), openHosted()]
  const file = { uid: 'pl_newer', name: 'daily.pl_newer.json' }
  const former = { ...file, commit: await late.propose({ ...file, text: '{"former": 1}\n' }, note) }
  let commit = ''
  host.after = async () => {
    commit = await other.propose({ ...file, text: '{}\n' }, note)
  }
  expect(await late.publish(former, 'one\n', note)).toMatch(/^[0-9a-f]{40}$/)
  expect(await other.publish({ ...file, commit }, 'one\n', note)).toMatch(/^[0-9a-f]{40}$/)
  expect(server.readLive(`dags/${file.name}`)).toBe('{}\n')
})

test('every job counts but one that may fail, and a cancelled one rejects', async () => {
  const repository = openHosted()
  const file = { uid: 'pl_jobs', name: 'daily.pl_jobs.json', text: '{}\n' }
  const commit = await repository.propose(file, { summary: 'Propose', author: 'olga', now_ms: 0 })
  const check = () => repository.check({ ...file, commit })
  expect(await check()).toEqual({ state: 'pending', reason: 'no CI has reported on the commit' })
  server.setStatus(commit, 'lint', 'failed', { allow_failure: true })
  expect(await check()).toMatchObject({ state: 'pending' })
  server.setStatus(commit, 'lint', 'success', { allow_failure: true })
  server.setStatus(commit, 'dags', 'skipped')
  expect(await check()).toEqual({ state: 'pending', reason: 'the CI has reported no success on the commit' })
  server.setStatus(commit, 'dags', 'success')
  server.setStatus(commit, 'slow', 'running')
  expect(await check()).toEqual({ state: 'pending', reason: 'the CI has not ended' })
  server.setStatus(commit, 'slow', 'skipped')
  expect(await check()).toEqual({ state: 'passed' })
  for (let at = 0; at < 120; at++) server.setStatus(commit, `part ${at}`, 'success')
  server.setStatus(commit, 'last', 'running')
  expect(await check()).toMatchObject({ state: 'pending' })
  server.setStatus(commit, 'last', 'skipped')
  expect(await check()).toEqual({ state: 'passed' })
  server.setStatus(commit, 'slow', 'canceled')
  expect(await check()).toEqual({ state: 'rejected', reason: 'slow: canceled' })
})

test('the job that the site names decides, whatever others report', async () => {
  const repository = openHosted({ check: 'dags' })
  const file = { uid: 'pl_named', name: 'daily.pl_named.json', text: '{}\n' }
  const commit = await repository.propose(file, { summary: 'Propose', author: 'olga', now_ms: 0 })
  for (let at = 0; at < 120; at++) server.setStatus(commit, `part ${at}`, at % 2 ? 'success' : 'failed')
  const check = () => repository.check({ ...file, commit })
  expect(await check()).toEqual({ state: 'pending', reason: 'the check dags has not reported on the commit' })
  server.setStatus(commit, 'dags', 'running')
  expect(await check()).toEqual({ state: 'pending', reason: 'the CI has not ended' })
  server.setStatus(commit, 'dags', 'success')
  expect(await check()).toEqual({ state: 'passed' })
  server.setStatus(commit, 'dags', 'failed', { description: 'daily.json:4' })
  expect(await check()).toEqual({ state: 'rejected', reason: 'dags: daily.json:4', line: 4 })
})

test('an answer without bounds is refused', async () => {
  server.commitOutside('dags/endless.json', 'x'.repeat(2 * 1_048_576))
  await expect(openHosted().read('endless.json')).rejects.toMatchObject({ code: 'unavailable' })
})

test('a wrong token is refused without its text', async () => {
  const token = 'glpat-of-nobody'
  const refused = openHosted({ token }).read('x.json')
  await expect(refused).rejects.toMatchObject({ code: 'forbidden', message: expect.not.stringContaining(token) })
  await expect(openHosted({ project: 'group/none' }).read('x.json')).rejects.toMatchObject({ code: 'wrong_state' })
})
