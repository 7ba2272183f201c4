// Runs a real Gitea against each requirement of DAG repositories.
import { afterAll, beforeAll, expect } from 'vitest'
import { GiteaHost } from '../../../adapters/dag-repository/host/gitea-host.ts'
import { HostedRepository } from '../../../adapters/dag-repository/host/hosted-repository.ts'
import type { DagCheck, DagProposal } from '../../../daemon/shared/dag-repository/dag-repository.ts'
import { type DagRepositoryWorld, dagRepositoryRequirements, testLayout } from '../../conformance/dag-repository.ts'
import { type Gitea, gitea, giteaRequirement } from '../../support/engines/gitea.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { waitUntil } from '../../support/site/test-site.ts'

const test = whenPresent(giteaRequirement)
const timeout = 120_000

let server: Gitea
const opened: HostedRepository[] = []
beforeAll(async () => {
  if (giteaRequirement.isPresent) server = await gitea()
}, 200_000)
afterAll(async () => {
  for (const repository of opened) repository.close()
  await server?.end()
})

function openHosted(
  more: { token?: string; project?: string; timeout_ms?: number; check?: string } = {},
): HostedRepository {
  const { url: base_url, token, project } = server
  const host = new GiteaHost({ base_url, ca: undefined, token, project, timeout_ms: 20_000, ...more })
  const repository = new HostedRepository(host, testLayout)
  opened.push(repository)
  return repository
}

const at = (rest: string) => `/repos/${server.project}/${rest}`

function openWorld(): DagRepositoryWorld {
  return {
    ...{ repository: openHosted(), other: openHosted() },
    async judge({ commit }: DagProposal, check: DagCheck) {
      const description = check.state === 'rejected' ? `${check.reason}, line ${check.line}` : 'all is well'
      const state = check.state === 'rejected' ? 'failure' : 'success'
      await server.request('POST', at(`statuses/${commit}`), { state, context: 'ci/dags', description })
    },
    async readLive(path) {
      const found = await server.request('GET', at(`contents/${path}?ref=main`)).catch(() => undefined)
      if (!found) return undefined
      return Buffer.from((found as { readonly content: string }).content, 'base64').toString()
    },
    countCommits: async () => ((await server.request('GET', at('commits?sha=main&limit=100'))) as unknown[]).length,
    async commitOutside(path, text) {
      const content = Buffer.from(text).toString('base64')
      const commit = async () => {
        await server.request('POST', at(`contents/${path}`), { branch: 'main', message: 'outside', content })
        return true
      }
      // A commit of the site may be first: a program commits again then.
      await waitUntil(() =>
        commit().catch((error: Error) => (/: (403|409|500) /.test(error.message) ? undefined : Promise.reject(error))),
      )
    },
  }
}

for (const { id, description, verify } of dagRepositoryRequirements)
  test(`gitea: ${description} (${id})`, async () => await verify(openWorld()), timeout)

const proposal = { uid: 'pl_1', name: 'daily.pl_1.json' }
const note = { summary: 'Deploy', author: 'olga', now_ms: 0 }

test(
  'a commit waits until a CI has reported, and while it runs',
  async () => {
    const repository = openHosted()
    const commit = await repository.propose({ ...proposal, text: '{}\n' }, note)
    const pending = async () => await repository.check({ ...proposal, commit })
    expect(await pending()).toEqual({ state: 'pending', reason: 'no CI has reported on the commit' })
    await server.request('POST', at(`statuses/${commit}`), { state: 'pending', context: 'ci/dags' })
    expect(await pending()).toMatchObject({ state: 'pending' })
    await server.request('POST', at(`statuses/${commit}`), { state: 'success', context: 'ci/lint' })
    expect(await pending()).toMatchObject({ state: 'pending' })
    // More than a page of statuses has: the newest come first.
    for (let part = 0; part < 60; part++)
      await server.request('POST', at(`statuses/${commit}`), { state: 'skipped', context: `ci/part-${part}` })
    expect(await pending()).toMatchObject({ state: 'pending', reason: 'the CI has not ended' })
    await server.request('POST', at(`statuses/${commit}`), { state: 'skipped', context: 'ci/dags' })
    expect(await pending()).toEqual({ state: 'passed' })
    await server.request('POST', at(`statuses/${commit}`), { state: 'skipped', context: 'ci/lint' })
    expect(await pending()).toMatchObject({ state: 'pending' })
    await server.request('POST', at(`statuses/${commit}`), { state: 'success', context: 'ci/dags' })
    expect(await pending()).toEqual({ state: 'passed' })
  },
  timeout,
)

test(
  'the status that the site names decides, whatever others report',
  async () => {
    const repository = openHosted({ check: 'ci/dags (push)' })
    const commit = await repository.propose({ ...proposal, uid: 'pl_named', text: '{}\n' }, note)
    const report = (context: string, state: string) =>
      server.request('POST', at(`statuses/${commit}`), { state, context, description: 'line 2' })
    const check = () => repository.check({ ...proposal, uid: 'pl_named', commit })
    await report('ci/lint', 'success')
    await report('ci/slow', 'pending')
    expect(await check()).toEqual({
      ...{ state: 'pending', reason: 'the check ci/dags (push) has not reported on the commit' },
    })
    await report('ci/dags (push)', 'success')
    expect(await check()).toEqual({ state: 'passed' })
    await report('ci/lint', 'failure')
    expect(await check()).toEqual({ state: 'passed' })
    await report('ci/dags (push)', 'failure')
    expect(await check()).toMatchObject({ state: 'rejected', line: 2 })
  },
  timeout,
)

test(
  'a wrong token, a project that is not there and a host that stands still are refused without the token',
  async () => {
    const token = 'f'.repeat(40)
    const wrong = openHosted({ token }).propose({ ...proposal, text: '{}' }, note)
    await expect(wrong).rejects.toMatchObject({ code: 'forbidden', message: expect.not.stringContaining(token) })
    await expect(openHosted({ project: 'owner/none' }).read('x.json')).rejects.toMatchObject({ code: 'wrong_state' })
    server.freeze()
    try {
      const late = openHosted({ timeout_ms: 300 }).read('x.json')
      await expect(late).rejects.toMatchObject({ code: 'unavailable' })
    } finally {
      server.thaw()
    }
  },
  timeout,
)
